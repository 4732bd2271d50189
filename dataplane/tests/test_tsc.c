/* SPDX-License-Identifier: Apache-2.0 */
/* The TSC: its rate, and the moment of it that is a time of the system's clock. */
#include <time.h>
#include <unistd.h>
#include <rte_cycles.h>

#include "core/tsc.h"
#include "pktlib/check.h"

/* The system's clock and the TSC at one moment: of many readings the least interrupted. */
static void
both_clocks(uint64_t *ns, uint64_t *cycles)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < 100; i++) {
		struct timespec now;
		uint64_t before = rte_rdtsc();

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (rte_rdtsc() - before >= least)
			continue;
		least = rte_rdtsc() - before;
		*ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
		*cycles = before;
	}
}

/* DPDK's own figure may be 0.2% off. */
static void
test_tsc_hz(void)
{
	uint64_t ns[2], cycles[2];
	double found_ns, error;

	both_clocks(&ns[0], &cycles[0]);
	usleep(100000);
	both_clocks(&ns[1], &cycles[1]);
	found_ns = (double)(cycles[1] - cycles[0]) * NS_PER_S / (double)tsc_hz();
	error = found_ns / (double)(ns[1] - ns[0]) - 1;
	CHECK(error > -1e-4 && error < 1e-4);
}

/* A time of the clock is mapped to the TSC as exactly as is said, wherever it is between two moments. */
static void
test_tsc_at(void)
{
	enum { READINGS = 1000 };
	static uint64_t before[READINGS], ns[READINGS], after[READINGS];
	struct tsc_moment begin = tsc_read_both(), end;
	uint64_t error;

	for (unsigned int i = 0; i < READINGS; i++) {
		struct timespec now;

		before[i] = rte_rdtsc_precise();
		clock_gettime(CLOCK_MONOTONIC, &now);
		after[i] = rte_rdtsc_precise();
		ns[i] = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
		usleep(20);
	}
	end = tsc_read_both();
	error = ns_to_tsc(tsc_at_error_ns(&begin, &end));
	CHECK(error < ns_to_tsc(100000));
	for (unsigned int i = 0; i < READINGS; i++) {
		uint64_t mapped = tsc_at(ns[i], &begin, &end);

		CHECK(mapped + error >= before[i] && mapped <= after[i] + error);
	}
}

int
main(void)
{
	test_tsc_hz();
	test_tsc_at();
	return 0;
}
