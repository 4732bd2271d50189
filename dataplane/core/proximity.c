/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#include "cpu_thread.h"
#include "proximity.h"
#include "tsc.h"

#define BATCHES 32
#define TRIPS 64     /* there and back, a batch: far longer than reading the clock takes */
#define ROUNDS 32768 /* rounds of work, a batch: some 30 us */
#define GIVE_UP_S 1
#define LOOKS_PER_CLOCK 1024
#define FIFO_PRIORITY 2 /* above pollers that run alone */

/* What B does; A says so, once B has begun with the second. */
enum {
	ARRIVE, /* it does not run yet */
	PAUSE,  /* leave a core that they share to A */
	ANSWER, /* throw the ball back: A throws odd numbers, B the even ones */
	WORK,
	GO,
};

struct match {
	_Alignas(2 * RTE_CACHE_LINE_SIZE) atomic_uint ball;
	_Alignas(2 * RTE_CACHE_LINE_SIZE) atomic_uint phase;
	uint64_t deadline;
	/* A's batches, in cycles; 0: it did not get so far. */
	uint64_t alone[BATCHES], trips[BATCHES], together[BATCHES];
};

static int
compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Neither the batches that were interrupted nor those in which the other CPU was. */
static uint64_t
median(uint64_t batches[BATCHES])
{
	qsort(batches, BATCHES, sizeof(*batches), compare);
	return batches[BATCHES / 2];
}

static bool
late(const struct match *match, unsigned int looks)
{
	return looks % LOOKS_PER_CLOCK == 0 && rte_rdtsc() > match->deadline;
}

static unsigned int
phase_of(struct match *match)
{
	return atomic_load_explicit(&match->phase, memory_order_relaxed);
}

/* Chains that keep a core's units busy, as two polling threads would. */
static uint64_t
work(void)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, begin = rte_rdtsc();

	for (unsigned int i = 0; i < ROUNDS; i++) {
		a = a * 3 + 1;
		b = (b << 1) ^ i;
		c += d >> 3;
		d ^= a;
		a += c;
		b += d;
		c ^= b;
		/* The compiler may not see through it. */
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	}
	return rte_rdtsc() - begin;
}

static void
measure_work(uint64_t batches[BATCHES])
{
	for (unsigned int i = 0; i < BATCHES; i++)
		batches[i] = work();
}

static void
measure_trips(struct match *match)
{
	unsigned int number = 0;

	for (unsigned int batch = 0; batch < BATCHES; batch++) {
		uint64_t begin = rte_rdtsc();

		for (unsigned int i = 0; i < TRIPS; i++) {
			unsigned int looks = 0;

			atomic_store_explicit(&match->ball, ++number, memory_order_release);
			number++;
			while (atomic_load_explicit(&match->ball, memory_order_acquire) != number)
				if (late(match, ++looks))
					return;
		}
		match->trips[batch] = rte_rdtsc() - begin;
	}
}

static void *
run_a(void *arg)
{
	struct match *match = arg;
	unsigned int looks = 0;

	while (phase_of(match) == ARRIVE && !late(match, ++looks))
		rte_pause();
	if (phase_of(match) == PAUSE) {
		measure_work(match->alone);
		atomic_store(&match->phase, ANSWER);
		measure_trips(match);
		atomic_store(&match->phase, WORK);
		measure_work(match->together);
	}
	return NULL;
}

static void *
run_b(void *arg)
{
	struct match *match = arg;
	unsigned int ball, before = ARRIVE;

	/* Unless A has given up. */
	atomic_compare_exchange_strong(&match->phase, &before, PAUSE);
	while (phase_of(match) == PAUSE)
		rte_pause();
	while (phase_of(match) == ANSWER) {
		ball = atomic_load_explicit(&match->ball, memory_order_acquire);
		if (ball % 2 == 1)
			atomic_store_explicit(&match->ball, ball + 1, memory_order_release);
	}
	while (phase_of(match) == WORK)
		work();
	return NULL;
}

/* Before all others there if that may be asked for. */
static int
start_on(uint32_t cpu, void *(*run)(void *), struct match *match, pthread_t *thread)
{
	int ret = cpu_thread_start(thread, cpu, FIFO_PRIORITY, run, match);

	return ret == -EPERM ? cpu_thread_start(thread, cpu, CPU_THREAD_INHERIT, run, match) : ret;
}

static int
play(uint32_t a, uint32_t b, struct match *match)
{
	pthread_t one, other;
	int ret = start_on(b, run_b, match, &other);

	if (ret != 0)
		return ret;
	ret = start_on(a, run_a, match, &one);
	if (ret == 0)
		pthread_join(one, NULL);
	atomic_store(&match->phase, GO);
	pthread_join(other, NULL);
	return ret;
}

int
proximity_measure(uint32_t a, uint32_t b, struct proximity *proximity)
{
	struct match match = {.deadline = rte_rdtsc() + GIVE_UP_S * tsc_hz()};
	int ret;

	if (a == b || a >= CPU_SETSIZE || b >= CPU_SETSIZE)
		return -EINVAL;
	ret = play(a, b, &match);
	if (ret != 0)
		return ret;
	if (match.together[BATCHES - 1] == 0)
		return -ETIMEDOUT;
	proximity->core_to_core_ns =
		(uint64_t)((double)median(match.trips) * NS_PER_S / (double)tsc_hz() / (2 * TRIPS));
	proximity->slowdown_pct = median(match.together) * 100 / median(match.alone);
	return 0;
}
