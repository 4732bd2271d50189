/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches of a thread that knows when it slept: in the TSC it reads, and in the kernel's
 * records. Skipped where the kernel does not let us watch. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
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
	for (unsigned int i = 0; i < SLEEPS; i++) {
		sleeper.before[i] = rte_rdtsc();
		nanosleep(&pause, NULL);
		sleeper.after[i] = rte_rdtsc();
	}
	return none;
}

/* The stops in a file of one thread; its stated error in cycles. */
static unsigned int
read_stops(const char *path, struct stop *stops, unsigned int room, uint64_t *error)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	const char *at;
	uint64_t error_ns, lost = UINT64_MAX;
	unsigned int count = 0;
	int used;

	CHECK(file != NULL);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strstr(text, "\"clock_error_ns\": ");
	CHECK(at != NULL && sscanf(at + 18, "%" SCNu64, &error_ns) == 1);
	*error = ns_to_tsc(error_ns) + 1;
	at = strstr(text, "\"lost\": ");
	CHECK(at != NULL && sscanf(at + 8, "%" SCNu64, &lost) == 1);
	CHECK_EQ(lost, 0);
	at = strstr(text, "\"stops\": [");
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

static void
test_refusals(const char *path)
{
	pid_t tids[SWITCH_LOG_THREADS_MAX + 1] = {gettid(), gettid()}, failed;

	CHECK_EQ(-switch_log_stop(path), ENODATA);
	CHECK_EQ(-switch_log_start(tids, 0, &failed), EINVAL);
	CHECK_EQ(-switch_log_start(tids, SWITCH_LOG_THREADS_MAX + 1, &failed), EINVAL);
	CHECK_EQ(failed, 0);
	CHECK_EQ(-switch_log_start(tids, 2, &failed), EINVAL);
	CHECK_EQ(failed, gettid());
	tids[1] = INT32_MAX;
	CHECK_EQ(-switch_log_start(tids, 2, &failed), ESRCH);
	CHECK_EQ(failed, INT32_MAX);
	CHECK_EQ(switch_log_start(tids, 1, &failed), 0);
	CHECK_EQ(-switch_log_start(tids, 1, &failed), EBUSY);
	CHECK_EQ(-switch_log_stop("/no/such/file"), ENOENT);
	/* It has ended all the same. */
	CHECK_EQ(-switch_log_stop(path), ENODATA);
	CHECK_EQ(switch_log_start(tids, 1, &failed), 0);
	switch_log_abandon();
	CHECK_EQ(-switch_log_stop(path), ENODATA);
}

int
main(void)
{
	char path[] = "/tmp/wsdp-switches-XXXXXX";
	int fd = mkstemp(path), ret;
	pthread_t thread;
	pid_t failed;

	CHECK(fd >= 0);
	close(fd);
	sem_init(&sleeper.ready, 0, 0);
	sem_init(&sleeper.go, 0, 0);
	CHECK_EQ(pthread_create(&thread, NULL, sleep_now_and_then, NULL), 0);
	sem_wait(&sleeper.ready);
	ret = switch_log_start(&sleeper.tid, 1, &failed);
	sem_post(&sleeper.go);
	pthread_join(thread, NULL);
	if (ret == 0) {
		test_sleeps_are_stops(path);
		test_refusals(path);
	} else {
		CHECK(ret == -EACCES || ret == -EPERM || ret == -ENOSYS || ret == -ENOENT);
	}
	unlink(path);
	return ret == 0 ? 0 : SKIPPED;
}
