/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <rte_common.h>

#include "switch_records.h"

/* TASK_COMM_LEN of the kernel, its NUL included. */
#define NAME_OCTETS 16

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

/* Of a CPU: the thread of the sample leaves it or comes to it. */
struct cpu_switch_record {
	struct perf_event_header header;
	uint32_t other_pid, other_tid;
	struct sample_id id;
};

struct name_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[NAME_OCTETS];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
	struct sample_id sample_id;
};

union record {
	struct perf_event_header header;
	struct switch_record thread;
	struct cpu_switch_record cpu;
	struct name_record name;
	struct lost_record lost;
};

/* Copy a record out of the ring, where it may wrap. */
static void
copy(void *to, size_t size, const uint8_t *records, uint64_t at)
{
	size_t first = RTE_MIN(size, (size_t)(SWITCH_RING_BYTES - at % SWITCH_RING_BYTES));

	memcpy(to, records + at % SWITCH_RING_BYTES, first);
	memcpy((uint8_t *)to + first, records, size - first);
}

/* Copy the next record and move on behind it. Returns false at the end. */
static bool
next_record(const struct switch_watched *watched, uint64_t *at, union record *record)
{
	const uint8_t *records = (const uint8_t *)watched->ring + watched->ring->data_offset;
	uint64_t head = __atomic_load_n(&watched->ring->data_head, __ATOMIC_ACQUIRE);

	if (*at >= head)
		return false;
	memset(record, 0, sizeof(*record));
	copy(&record->header, sizeof(record->header), records, *at);
	copy(record, RTE_MIN(sizeof(*record), (size_t)record->header.size), records, *at);
	*at += record->header.size;
	return true;
}

/* Nothing was taken out meanwhile, so a full ring cannot even tell of a loss. */
static uint64_t
lost_at_end(const struct switch_watched *watched, size_t record_size)
{
	return watched->ring->data_head + record_size > SWITCH_RING_BYTES;
}

static void
write_stop(const struct switch_record *out, uint64_t in_ns, const struct switch_span *span,
	   FILE *file)
{
	uint64_t begin = tsc_at(out->id.time_ns, &span->started, &span->stopped);

	fprintf(file, "[%" PRIu64 ",%" PRIu64 ",%u,%" PRIu32 "]", begin,
		tsc_at(in_ns, &span->started, &span->stopped) - begin,
		(out->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0, out->id.cpu);
}

/* A stop goes from a switch out to the next switch in. */
void
switch_records_write_stops(const struct switch_watched *thread, const struct switch_span *span,
			   FILE *file)
{
	struct switch_record out = {0};
	const char *separator = "";
	union record record;
	uint64_t at = 0, lost = 0;

	fputs("\"stops\": [", file);
	while (next_record(thread, &at, &record)) {
		if (record.header.type == PERF_RECORD_LOST) {
			lost += record.lost.lost;
			out.header.type = 0;
		}
		if (record.header.type != PERF_RECORD_SWITCH)
			continue;
		if (record.header.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			out = record.thread;
		} else if (out.header.type != 0) {
			fputs(separator, file);
			write_stop(&out, record.thread.id.time_ns, span, file);
			separator = ",";
			out.header.type = 0;
		}
	}
	lost += lost_at_end(thread, sizeof(struct switch_record));
	fprintf(file, "], \"lost\": %" PRIu64, lost);
}

/* A thread on a CPU. */
struct run {
	uint32_t tid;
	uint64_t in_ns;
	bool known; /* when it came is known */
};

static void
write_run(const struct run *run, uint64_t out_ns, const struct switch_span *span,
	  const char **separator, FILE *file)
{
	uint64_t begin, end;

	/* Thread 0 is the idle task of the CPU, or one of another PID namespace. */
	if (!run->known || run->tid == 0 || out_ns < run->in_ns)
		return;
	begin = tsc_at(run->in_ns, &span->started, &span->stopped);
	end = tsc_at(out_ns, &span->started, &span->stopped);
	fprintf(file, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu32 "]", *separator, begin, end - begin,
		run->tid);
	*separator = ",";
}

/* A thread leaves for another one, which then comes: two records of one switch. Some threads (of
 * PID 1 on Linux 6.18) have no records of their own, so each record counts for both threads. */
static uint64_t
write_runs(const struct switch_watched *cpu, const struct switch_span *span, FILE *file)
{
	struct run run = {.in_ns = span->started.ns};
	const char *separator = "";
	union record record;
	uint64_t at = 0, lost = 0;
	bool first = true;

	while (next_record(cpu, &at, &record)) {
		uint32_t gone, come;

		if (record.header.type == PERF_RECORD_LOST) {
			lost += record.lost.lost;
			run.known = false;
		}
		if (record.header.type != PERF_RECORD_SWITCH_CPU_WIDE)
			continue;
		if (record.header.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			gone = record.cpu.id.tid;
			come = record.cpu.other_tid;
		} else {
			gone = record.cpu.other_tid;
			come = record.cpu.id.tid;
		}
		/* The first one to leave was there from the start. */
		if (first)
			run = (struct run){gone, span->started.ns, true};
		first = false;
		if (run.known && run.tid == come)
			continue;
		write_run(&run, record.cpu.id.time_ns, span, &separator, file);
		run = (struct run){come, record.cpu.id.time_ns, true};
	}
	write_run(&run, span->stopped.ns, span, &separator, file);
	return lost + lost_at_end(cpu, sizeof(struct cpu_switch_record));
}

/* A name may hold any octet: those that JSON or a terminal may not have become '?'. */
static void
write_name(const struct name_record *record, const char **separator, FILE *file)
{
	fprintf(file, "%s\"%" PRIu32 "\": \"", *separator, record->tid);
	for (size_t i = 0; i < NAME_OCTETS - 1 && record->name[i] != '\0'; i++) {
		char c = record->name[i];

		fputc(c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c, file);
	}
	fputc('"', file);
	*separator = ",";
}

void
switch_records_write_runs(const struct switch_watched *cpu, const struct switch_span *span,
			  FILE *file)
{
	const char *separator = "";
	union record record;
	uint64_t at = 0, lost;

	fputs("\"runs\": [", file);
	lost = write_runs(cpu, span, file);
	fputs("], \"names\": {", file);
	while (next_record(cpu, &at, &record))
		if (record.header.type == PERF_RECORD_COMM)
			write_name(&record.name, &separator, file);
	fprintf(file, "}, \"lost\": %" PRIu64, lost);
}
