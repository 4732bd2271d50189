/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "export.h"
#include "switch_log.h"
#include "switch_records.h"
#include "tsc.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct switch_watched watched[SWITCH_LOG_WATCHED_MAX];
static unsigned int nb_watched;
static struct tsc_moment started;

static size_t
mapped_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) + SWITCH_RING_BYTES;
}

static void
unwatch(struct switch_watched *each)
{
	munmap(each->ring, mapped_bytes());
	close(each->fd);
}

static void
unwatch_all(void)
{
	while (nb_watched > 0)
		unwatch(&watched[--nb_watched]);
}

static int
watch(struct switch_watched *each, const struct switch_log_target *target)
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
		.comm = target->is_cpu, /* the threads there are not known before */
		.clockid = CLOCK_MONOTONIC,
	};

	each->tid = target->is_cpu ? -1 : (pid_t)target->number;
	each->cpu = target->is_cpu ? (int)target->number : -1;
	each->fd = (int)syscall(SYS_perf_event_open, &attr, each->tid, each->cpu, -1,
				PERF_FLAG_FD_CLOEXEC);
	if (each->fd < 0)
		return -errno;
	each->ring = mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, each->fd, 0);
	if (each->ring == MAP_FAILED) {
		int ret = -errno;

		close(each->fd);
		return ret;
	}
	return 0;
}

static bool
is_twice(const struct switch_log_target *targets, unsigned int i)
{
	for (unsigned int before = 0; before < i; before++)
		if (targets[before].is_cpu == targets[i].is_cpu &&
		    targets[before].number == targets[i].number)
			return true;
	return false;
}

static int
watch_all(const struct switch_log_target *targets, unsigned int count,
	  const struct switch_log_target **failed)
{
	if (nb_watched != 0)
		return -EBUSY;
	if (count == 0 || count > SWITCH_LOG_WATCHED_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < count; i++) {
		int ret = is_twice(targets, i) ? -EINVAL : watch(&watched[i], &targets[i]);

		if (ret != 0) {
			*failed = &targets[i];
			unwatch_all();
			return ret;
		}
		nb_watched++;
	}
	started = tsc_read_both();
	for (unsigned int i = 0; i < nb_watched; i++)
		ioctl(watched[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

int
switch_log_start(const struct switch_log_target *targets, unsigned int count,
		 const struct switch_log_target **failed)
{
	int ret;

	*failed = NULL;
	pthread_mutex_lock(&lock);
	ret = watch_all(targets, count, failed);
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Write the threads, or the CPUs, as members of one object. */
static void
write_some(bool cpus, const struct switch_span *span, FILE *file)
{
	const char *separator = "";

	for (unsigned int i = 0; i < nb_watched; i++) {
		const struct switch_watched *each = &watched[i];

		if ((each->cpu >= 0) != cpus)
			continue;
		fprintf(file, "%s\"%d\": {", separator, cpus ? each->cpu : (int)each->tid);
		if (cpus)
			switch_records_write_runs(each, span, file);
		else
			switch_records_write_stops(each, span, file);
		fputc('}', file);
		separator = ", ";
	}
}

static void
write_all(const struct switch_span *span, FILE *file)
{
	fprintf(file,
		"{\"format\": \"wirespeed-switches-1\", \"tsc_hz\": %" PRIu64
		", \"clock_error_ns\": %" PRIu64 ", \"threads\": {",
		tsc_hz(), tsc_at_error_ns(&span->started, &span->stopped));
	write_some(false, span, file);
	fputs("}, \"cpus\": {", file);
	write_some(true, span, file);
	fputs("}}\n", file);
}

static int
stop_all(const char *path)
{
	struct switch_span span = {.started = started};
	FILE *file;
	int ret;

	if (nb_watched == 0)
		return -ENODATA;
	for (unsigned int i = 0; i < nb_watched; i++)
		ioctl(watched[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	span.stopped = tsc_read_both();
	file = export_open(path);
	ret = file == NULL ? -errno : 0;
	if (file != NULL) {
		write_all(&span, file);
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
