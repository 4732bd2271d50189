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

#include "cpu_placement.h"
#include "cpu_thread.h"
#include "tsc.h"

#define BATCHES 32
#define ROUNDS 64  /* of ping-pong, a batch: far longer than reading the clock takes */
#define WORK 32768 /* turns of the loop, a batch: some 30 us */
#define GIVE_UP_S 1
#define LOOKS_PER_CLOCK 1024
#define FIFO_PRIORITY 2 /* above pollers that run alone */

/* Phases of B; A sets them, once B has begun with the second. */
enum {
	ARRIVE, /* it does not run yet */
	PAUSE,  /* leave a core that they share to A */
	ANSWER, /* A writes odd numbers, B answers each with the next even one */
	LOAD,   /* keep its CPU busy */
	END,
};

struct pair {
	_Alignas(2 * RTE_CACHE_LINE_SIZE) atomic_uint number;
	_Alignas(2 * RTE_CACHE_LINE_SIZE) atomic_uint phase;
	uint64_t deadline;
	/* A's batches, in cycles; 0: it did not get so far. */
	uint64_t alone[BATCHES], rounds[BATCHES], together[BATCHES];
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
late(const struct pair *pair, unsigned int looks)
{
	return looks % LOOKS_PER_CLOCK == 0 && rte_rdtsc() > pair->deadline;
}

static unsigned int
phase_of(struct pair *pair)
{
	return atomic_load_explicit(&pair->phase, memory_order_relaxed);
}

/* Chains that keep a core's units busy, as two polling threads would. */
static uint64_t
work(void)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, begin = rte_rdtsc();

	for (unsigned int i = 0; i < WORK; i++) {
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
ping_pong(struct pair *pair)
{
	unsigned int number = 0;

	for (unsigned int batch = 0; batch < BATCHES; batch++) {
		uint64_t begin = rte_rdtsc();

		for (unsigned int i = 0; i < ROUNDS; i++) {
			unsigned int looks = 0;

			atomic_store_explicit(&pair->number, ++number, memory_order_release);
			number++;
			while (atomic_load_explicit(&pair->number, memory_order_acquire) != number)
				if (late(pair, ++looks))
					return;
		}
		pair->rounds[batch] = rte_rdtsc() - begin;
	}
}

static void *
run_a(void *arg)
{
	struct pair *pair = arg;
	unsigned int looks = 0;

	while (phase_of(pair) == ARRIVE && !late(pair, ++looks))
		rte_pause();
	if (phase_of(pair) == PAUSE) {
		measure_work(pair->alone);
		atomic_store(&pair->phase, ANSWER);
		ping_pong(pair);
		atomic_store(&pair->phase, LOAD);
		measure_work(pair->together);
	}
	return NULL;
}

static void *
run_b(void *arg)
{
	struct pair *pair = arg;
	unsigned int number, before = ARRIVE;

	/* Unless A has given up. */
	atomic_compare_exchange_strong(&pair->phase, &before, PAUSE);
	while (phase_of(pair) == PAUSE)
		rte_pause();
	while (phase_of(pair) == ANSWER) {
		number = atomic_load_explicit(&pair->number, memory_order_acquire);
		if (number % 2 == 1)
			atomic_store_explicit(&pair->number, number + 1, memory_order_release);
	}
	while (phase_of(pair) == LOAD)
		work();
	return NULL;
}

/* Before all others there if that may be asked for. */
static int
start_on(uint32_t cpu, void *(*run)(void *), struct pair *pair, pthread_t *thread)
{
	int ret = cpu_thread_start(thread, cpu, FIFO_PRIORITY, run, pair);

	return ret == -EPERM ? cpu_thread_start(thread, cpu, CPU_THREAD_INHERIT, run, pair) : ret;
}

static int
measure(uint32_t a, uint32_t b, struct pair *pair)
{
	pthread_t one, other;
	int ret = start_on(b, run_b, pair, &other);

	if (ret != 0)
		return ret;
	ret = start_on(a, run_a, pair, &one);
	if (ret == 0)
		pthread_join(one, NULL);
	atomic_store(&pair->phase, END);
	pthread_join(other, NULL);
	return ret;
}

int
cpu_placement_measure(uint32_t a, uint32_t b, struct cpu_placement *placement)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	struct pair pair = {0};
	int ret;

	if (a == b || a >= CPU_SETSIZE || b >= CPU_SETSIZE)
		return -EINVAL;
	pthread_mutex_lock(&one_at_a_time);
	pair.deadline = rte_rdtsc() + GIVE_UP_S * tsc_hz();
	ret = measure(a, b, &pair);
	pthread_mutex_unlock(&one_at_a_time);
	if (ret != 0)
		return ret;
	/* The last batch of each is 0 where a CPU was not to be had in time. */
	if (pair.rounds[BATCHES - 1] == 0 || pair.together[BATCHES - 1] == 0)
		return -ETIMEDOUT;
	placement->core_to_core_ns = (uint64_t)((double)median(pair.rounds) * NS_PER_S /
						(double)tsc_hz() / (2 * ROUNDS));
	placement->slowdown_pct = median(pair.together) * 100 / median(pair.alone);
	return 0;
}
