/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <rte_common.h>

#include "export.h"
#include "switch_log.h"
#include "tsc.h"

/* Room for 32,768 stops of a thread between start and stop: the contention probe alone stops it 250
 * times a second. 512 pages, a power of two as the kernel wants it. */
#define RING_BYTES (UINT64_C(512) * 4096)

struct watched {
	pid_t tid;
	int fd;
	struct perf_event_mmap_page *ring; /* and behind this page RING_BYTES of records */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched threads[SWITCH_LOG_THREADS_MAX];
static unsigned int nb_threads;
static struct tsc_moment started;

/* Fields that PERF_SAMPLE_TID | TIME | CPU add to every record. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct switch_record {
	struct perf_event_header header;
	struct sample_id id;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
	struct sample_id sample_id;
};

static size_t
mapped_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES;
}

static void
unwatch(struct watched *thread)
{
	munmap(thread->ring, mapped_bytes());
	close(thread->fd);
}

static void
unwatch_all(void)
{
	while (nb_threads > 0)
		unwatch(&threads[--nb_threads]);
}

static int
watch(struct watched *thread, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.disabled = 1,
		.exclude_kernel = 1, /* asks for fewer rights, and hides no switch */
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.context_switch = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	thread->tid = tid;
	thread->fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (thread->fd < 0)
		return -errno;
	thread->ring =
		mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, thread->fd, 0);
	if (thread->ring == MAP_FAILED) {
		int ret = -errno;

		close(thread->fd);
		return ret;
	}
	return 0;
}

static bool
is_twice(const pid_t *tids, unsigned int i)
{
	for (unsigned int before = 0; before < i; before++)
		if (tids[before] == tids[i])
			return true;
	return false;
}

static int
watch_all(const pid_t *tids, unsigned int count, pid_t *failed)
{
	if (nb_threads != 0)
		return -EBUSY;
	if (count == 0 || count > SWITCH_LOG_THREADS_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < count; i++) {
		int ret = is_twice(tids, i) ? -EINVAL : watch(&threads[i], tids[i]);

		if (ret != 0) {
			*failed = tids[i];
			unwatch_all();
			return ret;
		}
		nb_threads++;
	}
	started = tsc_read_both();
	for (unsigned int i = 0; i < nb_threads; i++)
		ioctl(threads[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

int
switch_log_start(const pid_t *tids, unsigned int count, pid_t *failed)
{
	int ret;

	*failed = 0;
	pthread_mutex_lock(&lock);
	ret = watch_all(tids, count, failed);
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Copy a record out of the ring, where it may wrap. */
static void
copy(void *to, size_t size, const uint8_t *records, uint64_t at)
{
	size_t first = RTE_MIN(size, (size_t)(RING_BYTES - at % RING_BYTES));

	memcpy(to, records + at % RING_BYTES, first);
	memcpy((uint8_t *)to + first, records, size - first);
}

static void
write_stop(const struct switch_record *out, uint64_t in_ns, const struct tsc_moment *stopped,
	   FILE *file)
{
	uint64_t begin = tsc_at(out->id.time_ns, &started, stopped);

	fprintf(file, "[%" PRIu64 ",%" PRIu64 ",%u,%" PRIu32 "]", begin,
		tsc_at(in_ns, &started, stopped) - begin,
		(out->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0, out->id.cpu);
}

/* A stop goes from a switch out to the next switch in. Returns how many records were lost. */
static uint64_t
write_stops(const struct watched *thread, const struct tsc_moment *stopped, FILE *file)
{
	const uint8_t *records = (const uint8_t *)thread->ring + thread->ring->data_offset;
	uint64_t head = __atomic_load_n(&thread->ring->data_head, __ATOMIC_ACQUIRE), lost = 0;
	struct switch_record record, out = {0};
	const char *separator = "";

	for (uint64_t at = 0; at < head; at += record.header.size) {
		copy(&record.header, sizeof(record.header), records, at);
		if (record.header.type == PERF_RECORD_LOST) {
			struct lost_record lost_record;

			copy(&lost_record, sizeof(lost_record), records, at);
			lost += lost_record.lost;
			out.header.type = 0;
		}
		if (record.header.type != PERF_RECORD_SWITCH)
			continue;
		copy(&record, sizeof(record), records, at);
		if (record.header.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			out = record;
		} else if (out.header.type != 0) {
			fputs(separator, file);
			write_stop(&out, record.id.time_ns, stopped, file);
			separator = ",";
			out.header.type = 0;
		}
	}
	/* Nothing was taken out meanwhile, so a full ring cannot even tell of a loss. */
	if (head + sizeof(struct switch_record) > RING_BYTES)
		lost++;
	return lost;
}

static void
write_all(const struct tsc_moment *stopped, FILE *file)
{
	fprintf(file,
		"{\"format\": \"wirespeed-switches-1\", \"tsc_hz\": %" PRIu64
		", \"clock_error_ns\": %" PRIu64 ", \"threads\": {",
		tsc_hz(), tsc_at_error_ns(&started, stopped));
	for (unsigned int i = 0; i < nb_threads; i++) {
		uint64_t lost;

		fprintf(file, "%s\"%d\": {\"stops\": [", i == 0 ? "" : ", ", (int)threads[i].tid);
		lost = write_stops(&threads[i], stopped, file);
		fprintf(file, "], \"lost\": %" PRIu64 "}", lost);
	}
	fputs("}}\n", file);
}

static int
stop_all(const char *path)
{
	struct tsc_moment stopped;
	FILE *file;
	int ret;

	if (nb_threads == 0)
		return -ENODATA;
	for (unsigned int i = 0; i < nb_threads; i++)
		ioctl(threads[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	stopped = tsc_read_both();
	file = export_open(path);
	ret = file == NULL ? -errno : 0;
	if (file != NULL) {
		write_all(&stopped, file);
		ret = export_close(file);
	}
	unwatch_all();
	return ret;
}

int
switch_log_stop(const char *path)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = stop_all(path);
	pthread_mutex_unlock(&lock);
	return ret;
}

void
switch_log_abandon(void)
{
	pthread_mutex_lock(&lock);
	unwatch_all();
	pthread_mutex_unlock(&lock);
}
