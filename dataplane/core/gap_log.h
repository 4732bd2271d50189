/* SPDX-License-Identifier: Apache-2.0 */
/* Record when a polling thread did not poll, and for how long.
 *
 * The duration of a stretch of rounds is explained by its idle rounds and the frames it moved. In
 * the remaining time the thread did not work. An excess over a limit is recorded with its time.
 *
 * A gap log belongs to its lcore. Others may read it meanwhile: records below `count` are complete
 * and do not change until the next reset.
 */
#ifndef WSDP_GAP_LOG_H
#define WSDP_GAP_LOG_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <rte_branch_prediction.h>

#define GAP_LOG_RECORDS 16384
#define GAP_LIMIT_NS_MAX 1000000000

struct gap {
	uint64_t begin_tsc;  /* end of the stretch before */
	uint64_t excess_tsc; /* what cannot be explained by the thread's own work */
	uint64_t frames;     /* moved in the stretch that took too long */
};

struct gap_log {
	uint64_t limit_tsc;
	/* Cost of the last million frames or so: their work, and their number. */
	uint64_t work_tsc;
	uint64_t frames;
	_Atomic uint32_t count;
	uint64_t overflowed; /* gaps without a record: the log was full */
	struct gap *gaps;    /* GAP_LOG_RECORDS of them */
};

/* Returns 0 or -ENOMEM. */
int gap_log_open(struct gap_log *log, uint64_t limit_tsc);
void gap_log_close(struct gap_log *log);
/* Forget the gaps; what frames cost stays known. */
void gap_log_reset(struct gap_log *log);

/* Record a stretch longer than the limit as a gap, unless its work explains the time. */
void gap_log_judge(struct gap_log *log, uint64_t begin_tsc, uint64_t work_tsc, uint64_t frames);

/* Learn the cost of frames from an ordinary stretch. */
static inline void
gap_log_learn(struct gap_log *log, uint64_t work_tsc, uint64_t frames)
{
	log->work_tsc += work_tsc;
	log->frames += frames;
	/* Slowly moving: what is older counts half. */
	if (unlikely(log->frames >> 20 != 0)) {
		log->work_tsc /= 2;
		log->frames /= 2;
	}
}

/* Note a stretch: when it began, and what it took without its idle rounds. */
static inline void
gap_log_stretch(struct gap_log *log, uint64_t begin_tsc, uint64_t work_tsc, uint64_t frames)
{
	if (unlikely(work_tsc > log->limit_tsc))
		gap_log_judge(log, begin_tsc, work_tsc, frames);
	else if (frames != 0)
		gap_log_learn(log, work_tsc, frames);
}

/* The log as JSON: "overflowed": N, "gaps": [[begin_tsc, excess_tsc, frames], ...]. */
void gap_log_write(const struct gap_log *log, FILE *file);

#endif
