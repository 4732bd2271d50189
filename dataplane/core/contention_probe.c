/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "contention_probe.h"
#include "cpu_thread.h"
#include "export.h"
#include "tsc.h"

#define ROUNDS 300      /* of 32 additions: about 0.7 us */
#define FIFO_PRIORITY 3 /* above pollers that run alone, and above who watches over them */

struct sample {
	uint64_t tsc;      /* begin of the work */
	uint64_t work_tsc; /* cycles the work took */
	uint64_t late_ns;  /* delay of the thread's wake-up */
};

struct probe {
	pthread_t thread;
	uint32_t cpu;
	uint64_t first_ns, end_ns, period_ns;
	uint64_t ran_ns; /* what all this has taken from the CPU */
	uint64_t count;
	struct sample
		*samples; /* pages appear as they are written: memory for what has been seen */
};

/* Held while these are set up and taken down, not while the probes run: that may be a day. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct probe probes[CONTENTION_CPUS_MAX];
static unsigned int nb_probes;
static bool awaited;         /* somebody waits for their end, or writes what they have sampled */
static atomic_bool given_up; /* one of the threads could not be started */

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
	struct probe *probe = arg;

	for (uint64_t due = probe->first_ns; due < probe->end_ns && !atomic_load(&given_up);
	     due += probe->period_ns) {
		struct sample *sample = &probe->samples[probe->count++];
		uint64_t one, other;

		sleep_until(due);
		sample->late_ns = now_ns(CLOCK_MONOTONIC) - due;
		work(); /* to have it in the cache */
		sample->tsc = rte_rdtsc();
		one = work();
		other = work();
		/* The lower: an interrupt is no slowness. */
		sample->work_tsc = RTE_MIN(one, other);
	}
	probe->ran_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	/* A thread that ends takes longer than a sample. */
	if (!atomic_load(&given_up))
		sleep_until(probe->end_ns + probe->period_ns);
	return NULL;
}

static int
start(struct probe *probe)
{
	uint64_t room = (probe->end_ns - probe->first_ns) / probe->period_ns + 1;
	int ret;

	probe->samples = calloc(room, sizeof(*probe->samples));
	if (probe->samples == NULL)
		return -ENOMEM;
	ret = cpu_thread_start(&probe->thread, probe->cpu, FIFO_PRIORITY, run, probe);
	if (ret != 0)
		free(probe->samples);
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

static void
await_all(void)
{
	for (unsigned int i = 0; i < nb_probes; i++)
		pthread_join(probes[i].thread, NULL);
}

static void
free_all(void)
{
	for (unsigned int i = 0; i < nb_probes; i++)
		free(probes[i].samples);
	nb_probes = 0;
}

static int
start_all(const uint32_t *cpus, unsigned int count, uint64_t first_ns, uint64_t duration_ns,
	  uint64_t period_ns)
{
	int ret = 0;

	if (nb_probes != 0 || awaited)
		return -EBUSY;
	atomic_store(&given_up, false);
	for (unsigned int i = 0; i < count && ret == 0; i++) {
		probes[i] = (struct probe){
			.cpu = cpus[i],
			.first_ns = first_ns,
			.end_ns = first_ns + duration_ns,
			.period_ns = period_ns,
		};
		ret = start(&probes[i]);
		nb_probes += ret == 0;
	}
	if (ret != 0) {
		atomic_store(&given_up, true);
		await_all();
		free_all();
	}
	return ret;
}

static void
write_probe(const struct probe *probe, FILE *file)
{
	fprintf(file, "\"%" PRIu32 "\": {\"ran_ns\": %" PRIu64 ", \"samples\": [", probe->cpu,
		probe->ran_ns);
	for (uint64_t i = 0; i < probe->count; i++)
		fprintf(file, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i == 0 ? "" : ",",
			probe->samples[i].tsc, probe->samples[i].work_tsc,
			probe->samples[i].late_ns);
	fputs("]}", file);
}

int
contention_probe_start(const uint32_t *cpus, unsigned int count, uint64_t after_ns,
		       uint64_t duration_ns, uint64_t period_ns)
{
	uint64_t first_ns = now_ns(CLOCK_MONOTONIC) + after_ns;
	int ret;

	if (count == 0 || count > CONTENTION_CPUS_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < count; i++)
		if (cpus[i] >= CPU_SETSIZE || is_twice(cpus, i))
			return -EINVAL;
	pthread_mutex_lock(&lock);
	ret = start_all(cpus, count, first_ns, duration_ns, period_ns);
	pthread_mutex_unlock(&lock);
	return ret;
}

static int
write_all(const char *path)
{
	FILE *file = export_open(path);

	if (file == NULL)
		return -errno;
	fprintf(file,
		"{\"format\": \"wirespeed-contention-1\", \"tsc_hz\": %" PRIu64 ", \"cpus\": {",
		tsc_hz());
	for (unsigned int i = 0; i < nb_probes; i++) {
		fputs(i == 0 ? "" : ", ", file);
		write_probe(&probes[i], file);
	}
	fputs("}}\n", file);
	return export_close(file);
}

int
contention_probe_finish(const char *path)
{
	bool first;
	int ret;

	pthread_mutex_lock(&lock);
	first = !awaited;
	awaited = true;
	pthread_mutex_unlock(&lock);
	if (!first)
		return -EBUSY;
	/* While somebody awaits them, none is started: they are this thread's. */
	await_all();
	ret = write_all(path);
	pthread_mutex_lock(&lock);
	free_all();
	awaited = false;
	pthread_mutex_unlock(&lock);
	return ret;
}
