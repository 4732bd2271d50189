/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/export.h"
#include "core/telemetry.h"
#include "sink.h"

static void
latency_stats(const struct sink *sink, struct telemetry_out *out)
{
	const struct histogram *histogram = sink->histogram;
	uint64_t count = histogram->count;

	telemetry_u64(out, "latency_count", count);
	telemetry_u64(out, "latency_min_ns", count != 0 ? histogram->min : 0);
	telemetry_u64(out, "latency_avg_ns", count != 0 ? histogram->sum / count : 0);
	telemetry_u64(out, "latency_p50_ns", histogram_percentile(histogram, 500));
	telemetry_u64(out, "latency_p90_ns", histogram_percentile(histogram, 900));
	telemetry_u64(out, "latency_p99_ns", histogram_percentile(histogram, 990));
	telemetry_u64(out, "latency_p999_ns", histogram_percentile(histogram, 999));
	telemetry_u64(out, "latency_max_ns", histogram->max);
	telemetry_u64(out, "jitter_ns", tsc_clock_ns(&sink->clock, jitter_cycles(&sink->jitter)));
}

void
sink_stats(const struct task *task, struct telemetry_out *out)
{
	const struct sink *sink = task->priv;
	const struct sequence_counts *sequences = &sink->tracker.counts;

	telemetry_u64(out, "trial", sink->rule.trial);
	telemetry_u64(out, "received", sequences->received + sink->counts.unstamped);
	telemetry_u64(out, "lost", sequence_lost(sequences));
	telemetry_u64(out, "duplicated", sequences->duplicated);
	telemetry_u64(out, "reordered", sequences->reordered);
	telemetry_u64(out, "too_late", sequences->too_late);
	telemetry_u64(out, "foreign", sink->counts.foreign);
	telemetry_u64(out, "stale", sink->counts.stale);
	telemetry_u64(out, "corrupt", sink->counts.corrupt);
	telemetry_u64(out, "misdirected", sink->counts.misdirected);
	telemetry_u64(out, "unstamped", sink->counts.unstamped);
	telemetry_u64(out, "clock_behind", sink->counts.clock_behind);
	telemetry_u64(out, "captured", atomic_load(&sink->capture.count));
	latency_stats(sink, out);
	if (sink->gaps.flows != 0) {
		telemetry_u64(out, "misrouted", sink->gaps.misrouted);
		telemetry_u64(out, "unheard", sink->gaps.unheard);
		telemetry_u64(out, "looped", sink->gaps.looped);
	}
	if (sink->content != NULL)
		sink->content->sink.stats(sink->content_state, out);
}

static void
write_histogram(const struct sink *sink, FILE *file)
{
	histogram_write(sink->histogram, file);
}

static void
write_windows(const struct sink *sink, FILE *file)
{
	window_log_write(&sink->windows.log, file);
}

static void
write_latency_rows(const struct sink *sink, FILE *file)
{
	latency_rows_write(sink->windows.rows, &sink->windows.log, file);
}

static void
write_gaps(const struct sink *sink, FILE *file)
{
	flow_gaps_write(&sink->gaps, sink->windows.log.tsc_hz, file);
}

static const struct {
	const char *what;
	void (*write)(const struct sink *sink, FILE *file);
} files[] = {
	{"histogram", write_histogram},
	{"windows", write_windows},
	{"latency_rows", write_latency_rows},
	{"flow_gaps", write_gaps},
};

static int
write_json(const struct sink *sink, void (*write)(const struct sink *sink, FILE *file),
	   const char *path)
{
	FILE *file = export_open(path);

	if (file == NULL)
		return -errno;
	write(sink, file);
	return export_close(file);
}

int
sink_export(const struct task *task, const char *what, const char *path)
{
	const struct sink *sink = task->priv;

	for (size_t i = 0; i < RTE_DIM(files); i++)
		if (strcmp(what, files[i].what) == 0)
			return write_json(sink, files[i].write, path);
	if (strcmp(what, "capture") != 0 || sink->capture.room == 0)
		return -ENOTSUP;
	if (path[0] == '\0' && sink->capture_path != NULL)
		path = sink->capture_path;
	return sink_capture_write(&sink->capture, &sink->clock, path);
}
