/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a sink. Its lcore counts in sink.c; sink_report.c reports them. */
#ifndef TASKS_SINK_H
#define TASKS_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "content.h"
#include "core/task.h"
#include "pktlib/flow_gaps.h"
#include "pktlib/histogram.h"
#include "pktlib/jitter.h"
#include "pktlib/sequence.h"
#include "pktlib/tsc_clock.h"
#include "pktlib/verdict.h"
#include "sink_capture.h"
#include "sink_windows.h"

struct sink_counts {
	uint64_t unstamped;
	uint64_t foreign;
	uint64_t stale;
	uint64_t corrupt;
	uint64_t misdirected;
	uint64_t clock_behind; /* stamps from the future: the CPUs' clocks disagree */
};

struct sink {
	struct verdict_rule rule;
	bool stamped;
	struct sink_counts counts;
	struct sequence_tracker tracker;
	struct jitter jitter;
	struct histogram *histogram;
	struct sink_windows windows;
	struct tsc_clock clock;
	struct sink_capture capture;
	const char *capture_path;
	uint32_t capture_frames;
	uint32_t capture_every; /* of the frames that are as they should be, too; 0: none */
	uint32_t until_capture;
	const struct content_ops *content; /* NULL: only stamps are looked at */
	struct content_keys content_keys;
	void *content_state;
	struct flow_gaps gaps;
	uint32_t tracked_flows; /* their gaps are recorded */
};

/* Gaps of flows: keys, memory, and changes while frames arrive. Functions that return an int return 0
 * or a negative errno. */
int sink_gaps_read(struct sink *sink, const struct config_section *section);
int sink_gaps_open(struct sink *sink, const struct task *task);
void sink_gaps_close(struct sink *sink);
int sink_gaps_set(struct sink *sink, const char *args);

/* Members of task_ops: the counters, and the files. */
void sink_stats(const struct task *task, struct telemetry_out *out);
int sink_export(const struct task *task, const char *what, const char *path);

#endif
