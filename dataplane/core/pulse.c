/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "cpu_thread.h"
#include "pktlib/histogram.h"
#include "pulse.h"
#include "tsc.h"

/* What a wake-up costs is mostly the timer, 20 us in a virtual machine: 0.5% of a CPU. Neighbours come
 * for tens of milliseconds. */
#define PERIOD_NS 4000000
#define ROUNDS 300      /* of 32 additions: about 0.7 us */
#define FIFO_PRIORITY 3 /* above pollers that run alone, and above who watches over them */
#define FAST_PER_MILLE 100
#define SLOW_PCT 104 /* work alone on a core varies by 1.5% */

struct beat {
	pthread_t thread;
	uint32_t cpu;
	uint64_t first_ns, end_ns;
	uint64_t ran_ns;
	struct histogram *work; /* in cycles of the TSC */
};

static struct beat beats[PULSE_CPUS_MAX];
static unsigned int nb_beats;

/* How fast a CPU was in the last watches, in cycles; 0: there were not so many. */
static struct memory {
	uint64_t fast[PULSE_REMEMBERS];
	unsigned int next;
} memories[CPU_SETSIZE];

/* Four chains of additions, as many as any core adds at once: whatever else runs on it takes some
 * of its slots. No memory, so that nothing depends on what is in the cache. */
static uint64_t
work(void)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, begin = rte_rdtsc();

	for (unsigned int i = 0; i < ROUNDS; i++)
		for (unsigned int k = 0; k < 8; k++) {
			a++, b++, c++, d++;
			/* The compiler may not add them up at once. */
			__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		}
	return rte_rdtsc() - begin;
}

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void
sleep_until(uint64_t ns)
{
	struct timespec when = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

static void *
run(void *arg)
{
	struct beat *beat = arg;
	uint64_t one, other;

	for (uint64_t due = beat->first_ns; due < beat->end_ns; due += PERIOD_NS) {
		sleep_until(due);
		work(); /* to have it in the cache */
		one = work();
		other = work();
		/* The lower: an interrupt is no slowness. */
		histogram_record(beat->work, RTE_MIN(one, other), 1);
	}
	beat->ran_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	/* A thread that ends takes longer than a beat. */
	sleep_until(beat->end_ns + PERIOD_NS);
	return NULL;
}

static int
start(struct beat *beat)
{
	int ret;

	beat->work = calloc(1, sizeof(*beat->work));
	if (beat->work == NULL)
		return -ENOMEM;
	histogram_reset(beat->work);
	ret = cpu_thread_start(&beat->thread, beat->cpu, FIFO_PRIORITY, run, beat);
	if (ret != 0)
		free(beat->work);
	return ret;
}

static bool
is_twice(const uint32_t *cpus, unsigned int i)
{
	for (unsigned int before = 0; before < i; before++)
		if (cpus[before] == cpus[i])
			return true;
	return false;
}

int
pulse_start(const uint32_t *cpus, unsigned int count, uint64_t after_ns, uint64_t duration_ns)
{
	struct pulse_figures ignored[PULSE_CPUS_MAX];
	uint64_t first_ns = now_ns(CLOCK_MONOTONIC) + after_ns;
	int ret = 0;

	if (nb_beats != 0)
		return -EBUSY;
	if (count == 0 || count > PULSE_CPUS_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < count; i++)
		if (cpus[i] >= CPU_SETSIZE || is_twice(cpus, i))
			return -EINVAL;
	for (unsigned int i = 0; i < count && ret == 0; i++) {
		beats[i] = (struct beat){
			.cpu = cpus[i],
			.first_ns = first_ns,
			.end_ns = first_ns + duration_ns,
		};
		ret = start(&beats[i]);
		nb_beats += ret == 0;
	}
	if (ret != 0)
		pulse_finish(ignored);
	return ret;
}

static uint64_t
slower_than(const struct histogram *histogram, uint64_t limit)
{
	uint64_t count = 0;

	for (unsigned int i = histogram_index(limit) + 1; i < HISTOGRAM_COUNTS; i++)
		count += histogram->counts[i];
	return count;
}

/* Take in how fast the CPU was in this watch; how fast it can be. */
static uint64_t
remember(struct memory *memory, uint64_t fast)
{
	memory->fast[memory->next] = fast;
	memory->next = (memory->next + 1) % PULSE_REMEMBERS;
	for (unsigned int i = 0; i < PULSE_REMEMBERS; i++)
		if (memory->fast[i] != 0)
			fast = RTE_MIN(fast, memory->fast[i]);
	return fast;
}

unsigned int
pulse_finish(struct pulse_figures figures[PULSE_CPUS_MAX])
{
	unsigned int count = nb_beats;

	for (unsigned int i = 0; i < count; i++) {
		struct beat *beat = &beats[i];
		uint64_t fast, undisturbed;

		pthread_join(beat->thread, NULL);
		fast = histogram_percentile(beat->work, FAST_PER_MILLE);
		undisturbed = remember(&memories[beat->cpu], fast);
		figures[i] = (struct pulse_figures){
			.cpu = beat->cpu,
			.beats = beat->work->count,
			.slow_beats = slower_than(beat->work, undisturbed * SLOW_PCT / 100),
			.work_ns = tsc_to_ns(fast),
			.ran_ns = beat->ran_ns,
		};
		free(beat->work);
	}
	nb_beats = 0;
	return count;
}
