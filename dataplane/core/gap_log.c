/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "gap_log.h"
#include "pages.h"

#define BYTES (GAP_LOG_RECORDS * sizeof(struct gap))

int
gap_log_open(struct gap_log *log, uint64_t limit_tsc)
{
	*log = (struct gap_log){.limit_tsc = limit_tsc, .gaps = pages_map(BYTES)};
	return log->gaps != NULL ? 0 : -ENOMEM;
}

void
gap_log_close(struct gap_log *log)
{
	pages_unmap(log->gaps, BYTES);
	log->gaps = NULL;
}

void
gap_log_reset(struct gap_log *log)
{
	atomic_store_explicit(&log->count, 0, memory_order_release);
	log->overflowed = 0;
}

static void
add(struct gap_log *log, uint64_t begin_tsc, uint64_t excess_tsc, uint64_t frames)
{
	uint32_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

	if (count == GAP_LOG_RECORDS) {
		log->overflowed++;
		return;
	}
	log->gaps[count] = (struct gap){begin_tsc, excess_tsc, frames};
	atomic_store_explicit(&log->count, count + 1, memory_order_release);
}

void
gap_log_judge(struct gap_log *log, uint64_t begin_tsc, uint64_t work_tsc, uint64_t frames)
{
	double expected = 0;

	/* The first frames ever: what they take is what frames take. */
	if (log->frames == 0 && frames != 0) {
		gap_log_learn(log, work_tsc, frames);
		return;
	}
	if (frames != 0)
		expected = (double)log->work_tsc * (double)frames / (double)log->frames;
	if ((double)work_tsc - expected > (double)log->limit_tsc)
		add(log, begin_tsc, work_tsc - (uint64_t)expected, frames);
	else
		gap_log_learn(log, work_tsc, frames);
}

void
gap_log_write(const struct gap_log *log, FILE *file)
{
	uint32_t count = atomic_load_explicit(&log->count, memory_order_acquire);

	fprintf(file, "\"overflowed\": %" PRIu64 ", \"gaps\": [", log->overflowed);
	for (uint32_t i = 0; i < count; i++)
		fprintf(file, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", i == 0 ? "" : ", ",
			log->gaps[i].begin_tsc, log->gaps[i].excess_tsc, log->gaps[i].frames);
	fputc(']', file);
}
