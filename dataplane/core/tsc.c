/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <time.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "pktlib/tsc_clock.h"
#include "tsc.h"

#define MEASURED_NS 50000000
#define TRIES 32

static uint64_t hz;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * (uint64_t)NS_PER_S + (uint64_t)now.tv_nsec;
}

struct tsc_moment
tsc_read_both(void)
{
	struct tsc_moment best = {.bracket = UINT64_MAX};

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t before = rte_rdtsc_precise();
		uint64_t ns = clock_ns();
		uint64_t after = rte_rdtsc_precise();

		if (after - before < best.bracket)
			best = (struct tsc_moment){
				.ns = ns,
				.cycles = before + (after - before) / 2,
				.bracket = after - before,
			};
	}
	return best;
}

uint64_t
tsc_at(uint64_t ns, const struct tsc_moment *begin, const struct tsc_moment *end)
{
	double rate = (double)(end->cycles - begin->cycles) / (double)(end->ns - begin->ns);

	return begin->cycles + (uint64_t)(int64_t)((double)(int64_t)(ns - begin->ns) * rate);
}

uint64_t
tsc_at_error_ns(const struct tsc_moment *begin, const struct tsc_moment *end)
{
	/* The clock is read in whole ns. */
	return tsc_to_ns(RTE_MAX(begin->bracket, end->bracket) / 2) + 1;
}

static void
measure(void)
{
	const struct timespec pause = {.tv_nsec = MEASURED_NS};
	struct tsc_moment begin = tsc_read_both(), end;

	nanosleep(&pause, NULL);
	end = tsc_read_both();
	hz = (uint64_t)((double)(end.cycles - begin.cycles) * NS_PER_S /
			(double)(end.ns - begin.ns));
}

uint64_t
tsc_hz(void)
{
	pthread_once(&once, measure);
	return hz;
}

uint64_t
tsc_to_ns(uint64_t cycles)
{
	struct tsc_clock clock = tsc_clock_of(tsc_hz());

	return tsc_clock_ns(&clock, cycles);
}

uint64_t
ns_to_tsc(uint64_t ns)
{
	struct tsc_clock clock = tsc_clock_of(tsc_hz());

	return tsc_clock_cycles(&clock, ns);
}
