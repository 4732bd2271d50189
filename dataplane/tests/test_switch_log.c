/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches of a thread that knows when it slept, and of its CPU: in the TSC it reads, and in
 * the kernel's records. Skipped where the kernel does not let us watch. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <rte_cycles.h>

#include "core/switch_log.h"
#include "core/tsc.h"
#include "pktlib/check.h"

#define SLEEPS 50
#define SLEEP_NS 1000000
#define SKIPPED 77 /* as meson understands it */

struct stop {
	uint64_t begin, length, preempted, cpu;
};

/* A run of a thread on a CPU. */
struct run {
	uint64_t begin, length, tid;
};

static struct {
	sem_t ready, go;
	pid_t tid;
	uint64_t before[SLEEPS], after[SLEEPS];
} sleeper;

static void *
sleep_now_and_then(void *none)
{
	const struct timespec pause = {.tv_nsec = SLEEP_NS};

	sleeper.tid = gettid();
	sem_post(&sleeper.ready);
	sem_wait(&sleeper.go);
	prctl(PR_SET_NAME, "a \"sleeper\"\n");
	for (unsigned int i = 0; i < SLEEPS; i++) {
		sleeper.before[i] = rte_rdtsc();
		nanosleep(&pause, NULL);
		sleeper.after[i] = rte_rdtsc();
	}
	return none;
}

/* The text of a file; its stated error in cycles. Nothing may be lost in it. */
static const char *
read_file(const char *path, uint64_t *error)
{
	static char text[1 << 21];
	FILE *file = fopen(path, "r");
	uint64_t error_ns, lost = UINT64_MAX;
	const char *at;

	CHECK(file != NULL);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strstr(text, "\"clock_error_ns\": ");
	CHECK(at != NULL && sscanf(at + 18, "%" SCNu64, &error_ns) == 1);
	*error = ns_to_tsc(error_ns) + 1;
	at = strstr(text, "\"lost\": ");
	CHECK(at != NULL && sscanf(at + 8, "%" SCNu64, &lost) == 1);
	CHECK_EQ(lost, 0);
	return text;
}

/* The stops in a file of one thread; its stated error in cycles. */
static unsigned int
read_stops(const char *path, struct stop *stops, unsigned int room, uint64_t *error)
{
	const char *at = strstr(read_file(path, error), "\"stops\": [");
	unsigned int count = 0;
	int used;

	CHECK(at != NULL);
	for (at += 10; count < room; at += used + (at[used] == ',')) {
		struct stop *stop = &stops[count];

		if (sscanf(at, "[%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64 "]%n", &stop->begin,
			   &stop->length, &stop->preempted, &stop->cpu, &used) != 4)
			break;
		count++;
	}
	return count;
}

/* The runs of one thread in a file of one CPU. */
static unsigned int
read_runs(const char *path, pid_t tid, struct run *runs, unsigned int room, uint64_t *error)
{
	const char *at = strstr(read_file(path, error), "\"runs\": [");
	unsigned int count = 0;
	struct run run;
	int used;

	CHECK(at != NULL);
	for (at += 9; count < room; at += used + (at[used] == ',')) {
		if (sscanf(at, "[%" SCNu64 ",%" SCNu64 ",%" SCNu64 "]%n", &run.begin, &run.length,
			   &run.tid, &used) != 3)
			break;
		if (run.tid == (uint64_t)tid)
			runs[count++] = run;
	}
	return count;
}

/* Each sleep is a voluntary stop, in the time in which it was, to the stated error. */
static void
test_sleeps_are_stops(const char *path)
{
	static struct stop stops[4096];
	unsigned int count, found;
	uint64_t error;

	CHECK_EQ(switch_log_stop(path), 0);
	count = read_stops(path, stops, 4096, &error);
	CHECK(count >= SLEEPS);
	for (unsigned int i = 0; i < SLEEPS; i++) {
		found = 0;
		for (unsigned int k = 0; k < count; k++)
			found += stops[k].begin + error >= sleeper.before[i] &&
				 stops[k].begin + stops[k].length <= sleeper.after[i] + error &&
				 stops[k].preempted == 0 &&
				 stops[k].length + 2 * error >= ns_to_tsc(SLEEP_NS * 9 / 10);
		CHECK_EQ(found, 1);
	}
	for (unsigned int k = 1; k < count; k++)
		CHECK(stops[k].begin >= stops[k - 1].begin + stops[k - 1].length);
}

/* The thread runs between two sleeps, and in none of them. Its name is that of its latest change. */
static void
test_runs_lie_between_sleeps(const char *path)
{
	static struct run runs[4096];
	char name[64];
	unsigned int count, found;
	uint64_t error;

	CHECK_EQ(switch_log_stop(path), 0);
	count = read_runs(path, sleeper.tid, runs, 4096, &error);
	CHECK(count >= SLEEPS);
	for (unsigned int i = 0; i + 1 < SLEEPS; i++) {
		found = 0;
		for (unsigned int k = 0; k < count; k++)
			found += runs[k].begin <= sleeper.after[i] + error &&
				 runs[k].begin + runs[k].length + error >= sleeper.before[i + 1];
		CHECK_EQ(found, 1);
	}
	for (unsigned int k = 1; k < count; k++)
		CHECK(runs[k].begin >= runs[k - 1].begin + runs[k - 1].length);
	snprintf(name, sizeof(name), "\"%d\": \"a ?sleeper??\"", (int)sleeper.tid);
	CHECK(strstr(read_file(path, &error), name) != NULL);
}

static void
test_refusals(const char *path)
{
	struct switch_log_target targets[SWITCH_LOG_WATCHED_MAX + 1] = {
		{false, (uint32_t)gettid()},
		{false, (uint32_t)gettid()},
	};
	const struct switch_log_target *failed;

	CHECK_EQ(-switch_log_stop(path), ENODATA);
	CHECK_EQ(-switch_log_start(targets, 0, &failed), EINVAL);
	CHECK_EQ(-switch_log_start(targets, SWITCH_LOG_WATCHED_MAX + 1, &failed), EINVAL);
	CHECK(failed == NULL);
	CHECK_EQ(-switch_log_start(targets, 2, &failed), EINVAL);
	CHECK(failed == &targets[1]);
	targets[1].number = INT32_MAX;
	CHECK_EQ(-switch_log_start(targets, 2, &failed), ESRCH);
	CHECK(failed == &targets[1]);
	CHECK_EQ(switch_log_start(targets, 1, &failed), 0);
	CHECK_EQ(-switch_log_start(targets, 1, &failed), EBUSY);
	CHECK_EQ(-switch_log_stop("/no/such/file"), ENOENT);
	/* It has ended all the same. */
	CHECK_EQ(-switch_log_stop(path), ENODATA);
	CHECK_EQ(switch_log_start(targets, 1, &failed), 0);
	switch_log_abandon();
	CHECK_EQ(-switch_log_stop(path), ENODATA);
}

/* Let the sleeper sleep while it is watched, or its CPU. Returns what the start returned. */
static int
watch_sleeper(bool by_cpu)
{
	const struct switch_log_target *failed;
	struct switch_log_target target;
	pthread_t thread;
	cpu_set_t here;
	int ret;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sem_init(&sleeper.ready, 0, 0);
	sem_init(&sleeper.go, 0, 0);
	CHECK_EQ(pthread_create(&thread, NULL, sleep_now_and_then, NULL), 0);
	CHECK_EQ(pthread_setaffinity_np(thread, sizeof(here), &here), 0);
	sem_wait(&sleeper.ready);
	target = (struct switch_log_target){by_cpu, (uint32_t)sleeper.tid};
	for (uint32_t cpu = 0; by_cpu && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &here))
			target.number = cpu;
	ret = switch_log_start(&target, 1, &failed);
	sem_post(&sleeper.go);
	pthread_join(thread, NULL);
	return ret;
}

static bool
is_refusal(int ret)
{
	return ret == -EACCES || ret == -EPERM || ret == -ENOSYS || ret == -ENOENT;
}

int
main(void)
{
	char path[] = "/tmp/wsdp-switches-XXXXXX";
	int fd = mkstemp(path), of_thread, of_cpu;

	CHECK(fd >= 0);
	close(fd);
	of_thread = watch_sleeper(false);
	if (of_thread == 0) {
		test_sleeps_are_stops(path);
		test_refusals(path);
	} else {
		CHECK(is_refusal(of_thread));
	}
	of_cpu = watch_sleeper(true);
	if (of_cpu == 0)
		test_runs_lie_between_sleeps(path);
	else
		CHECK(is_refusal(of_cpu));
	unlink(path);
	return of_thread == 0 && of_cpu == 0 ? 0 : SKIPPED;
}
