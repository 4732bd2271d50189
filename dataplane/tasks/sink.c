/* SPDX-License-Identifier: Apache-2.0 */
/* sink: receives what gen sent and says what became of it: loss, order, latency, jitter. How it
 * counts is told in docs/explanation/generator.md. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_malloc.h>

#include "core/arguments.h"
#include "core/config.h"
#include "core/export.h"
#include "core/task.h"
#include "core/telemetry.h"
#include "core/tsc.h"
#include "pktlib/histogram.h"
#include "pktlib/jitter.h"
#include "pktlib/schedule.h"
#include "pktlib/sequence.h"
#include "pktlib/verdict.h"
#include "sink_bng.h"
#include "sink_capture.h"
#include "sink_windows.h"

#define TRACKED_FLOWS_MAX (4u * FLOWS_MAX)
#define CAPTURE_DEFAULT 100
#define PREFETCH_AHEAD 4

struct sink_counts {
	uint64_t unstamped;
	uint64_t foreign;
	uint64_t stale;
	uint64_t corrupt;
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
	struct sink_bng bng; /* what is between is a gateway, and its content is checked */
};

static int
sink_init(struct task *task, const struct config_section *section)
{
	struct sink *sink = task->priv;
	uint16_t stream = 0;
	uint32_t capture_frames = CAPTURE_DEFAULT;
	int ret = 0;

	sink->rule.streams = 1;
	sink->rule.flows = 1;
	sink->stamped = true;
	ret |= config_u16(section, "stream", &stream, 0, UINT8_MAX);
	ret |= config_u16(section, "streams", &sink->rule.streams, 1, UINT8_MAX + 1);
	ret |= sink_bng_read(&sink->bng, section);
	sink->rule.flows = RTE_MAX(sink->bng.keys.spec.flows, 1u);
	ret |= config_u32(section, "flows", &sink->rule.flows, 1, FLOWS_MAX);
	ret |= config_bool(section, "stamp", &sink->stamped);
	ret |= config_u32(section, "capture_frames", &capture_frames, 1, SINK_CAPTURE_MAX);
	ret |= config_u32(section, "capture_every", &sink->capture_every, 1, UINT32_MAX);
	sink->capture_path = config_string(section, "capture");
	if (sink->capture_path != NULL || config_has(section, "capture_frames") ||
	    sink->capture_every != 0)
		sink->capture_frames = capture_frames;
	sink->rule.first_stream = (uint8_t)stream;
	if (ret == 0 && stream + sink->rule.streams > UINT8_MAX + 1) {
		config_fault(section, "streams",
			     "streams are numbered 0 to %d, and the first is %u", UINT8_MAX,
			     stream);
		return -EINVAL;
	}
	if (ret == 0 && (uint64_t)sink->rule.streams * sink->rule.flows > TRACKED_FLOWS_MAX) {
		config_fault(section, "flows", "makes more than %u flows over all streams",
			     TRACKED_FLOWS_MAX);
		return -EINVAL;
	}
	return ret;
}

/* Forget all figures. from_zero: flows begin at sequence number 0, not wherever they are. */
static void
forget(struct sink *sink, bool from_zero)
{
	memset(&sink->counts, 0, sizeof(sink->counts));
	memset(&sink->jitter, 0, sizeof(sink->jitter));
	sequence_reset(&sink->tracker, from_zero);
	histogram_reset(sink->histogram);
	sink_bng_reset(&sink->bng);
	sink->until_capture = sink->capture_every;
	sink_capture_reset(&sink->capture);
}

static int
sink_prepare(struct task *task)
{
	struct sink *sink = task->priv;
	uint32_t flows = sink->rule.streams * sink->rule.flows;
	void *state = rte_zmalloc_socket(task->name, sequence_state_bytes(flows),
					 RTE_CACHE_LINE_SIZE, task->socket_id);

	sink->histogram = rte_zmalloc_socket(task->name, sizeof(*sink->histogram),
					     RTE_CACHE_LINE_SIZE, task->socket_id);
	if (state == NULL || sink->histogram == NULL ||
	    sink_capture_open(&sink->capture, sink->capture_frames) != 0) {
		rte_free(state);
		rte_free(sink->histogram);
		sink->histogram = NULL;
		fprintf(stderr,
			"wsdp: [task.%s] no memory for %u flows (%zu octets), a histogram "
			"(%zu) and %u captured frames\n",
			task->name, flows, sequence_state_bytes(flows), sizeof(*sink->histogram),
			sink->capture_frames);
		return -ENOMEM;
	}
	sequence_init(&sink->tracker, flows, state);
	if (sink_bng_is_on(&sink->bng) && sink_bng_open(&sink->bng, task) != 0)
		return -ENOMEM;
	sink->clock = tsc_clock_of(tsc_hz());
	if (sink_windows_open(&sink->windows, task->name, &sink->clock) != 0)
		return -ENOMEM;
	forget(sink, true);
	return 0;
}

/* What a burst adds up before it is written to memory. A run is a number of frames that carry the
 * same time stamp, as those that gen hands over at once do: they have one latency. */
struct burst {
	uint64_t now;
	uint64_t in_order;
	uint64_t run_stamp;
	uint64_t run;
	struct jitter jitter;
};

static inline void
end_run(struct sink *sink, struct burst *burst)
{
	int64_t age = stamp_age(burst->now, burst->run_stamp);
	uint64_t latency_ns;

	if (burst->run == 0)
		return;
	if (unlikely(age < 0)) {
		sink->counts.clock_behind += burst->run;
		age = 0;
	}
	latency_ns = tsc_clock_ns(&sink->clock, (uint64_t)age);
	histogram_record(sink->histogram, latency_ns, burst->run);
	sink_windows_add(&sink->windows, burst->run_stamp, latency_ns, burst->run);
}

static inline void
record_latency(struct sink *sink, struct burst *burst, uint64_t stamp)
{
	if (stamp != burst->run_stamp) {
		end_run(sink, burst);
		burst->run_stamp = stamp;
		burst->run = 0;
	}
	burst->run++;
	jitter_add(&burst->jitter, stamp_age(burst->now, stamp));
}

/* Count a frame. Returns whether it is as it should be. */
static __rte_always_inline bool
count_frame(struct sink *sink, struct burst *burst, const uint8_t *frame, uint32_t len, bool bng)
{
	enum sequence_result order;
	struct stamp stamp;

	switch (bng ? sink_bng_verdict(&sink->bng, &sink->rule, frame, len, &stamp)
		    : verdict_of(&sink->rule, frame, len, &stamp)) {
	case VERDICT_OURS:
		order = sequence_add(&sink->tracker, stamp.flow, stamp.sequence);
		if (unlikely(order == SEQUENCE_DUPLICATE || order == SEQUENCE_TOO_LATE))
			return false;
		burst->in_order += order == SEQUENCE_NEXT;
		record_latency(sink, burst, stamp.tsc);
		return order != SEQUENCE_REORDERED;
	case VERDICT_UNSTAMPED:
		sink->counts.unstamped++;
		return true;
	case VERDICT_FOREIGN:
		sink->counts.foreign++;
		return false;
	case VERDICT_STALE:
		sink->counts.stale++;
		return false;
	case VERDICT_CORRUPT:
		sink->counts.corrupt++;
		return false;
	case VERDICT_MISDIRECTED:
		return false; /* counted by its cause */
	}
	return false;
}

/* Is it this good frame's turn to be captured? */
static inline bool
is_sample(struct sink *sink)
{
	if (likely(sink->capture_every == 0) || --sink->until_capture != 0)
		return false;
	sink->until_capture = sink->capture_every;
	return true;
}

static __rte_always_inline void
handle_frame(struct sink *sink, struct burst *burst, const struct rte_mbuf *mbuf, bool bng)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint8_t headers[VERDICT_READS];

	/* In several segments, and the first does not reach as far as the headers may. */
	if (unlikely(mbuf->data_len < mbuf->pkt_len && mbuf->data_len < VERDICT_READS))
		frame = rte_pktmbuf_read(mbuf, 0, RTE_MIN(mbuf->pkt_len, (uint32_t)VERDICT_READS),
					 headers);
	if (unlikely(!count_frame(sink, burst, frame, mbuf->pkt_len, bng) || is_sample(sink)))
		sink_capture_add(&sink->capture, mbuf, burst->now);
}

static __rte_always_inline void
handle_frames(struct sink *sink, struct burst *burst, struct rte_mbuf **mbufs, uint16_t n, bool bng)
{
	for (uint16_t i = 0; i < PREFETCH_AHEAD && i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_AHEAD], void *));
		handle_frame(sink, burst, mbufs[i], bng);
	}
}

static void
sink_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct sink *sink = task->priv;
	struct burst burst = {.now = rte_rdtsc(), .jitter = sink->jitter};

	if (!sink->stamped) {
		sink->counts.unstamped += n;
		task_consume(task, mbufs, n);
		return;
	}
	if (sink_bng_is_on(&sink->bng))
		handle_frames(sink, &burst, mbufs, n, true);
	else
		handle_frames(sink, &burst, mbufs, n, false);
	end_run(sink, &burst);
	sequence_count_in_order(&sink->tracker, burst.in_order);
	sink->jitter = burst.jitter;
	task_consume(task, mbufs, n);
}

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

static void
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
	telemetry_u64(out, "misdirected", sink_bng_misdirected(&sink->bng));
	telemetry_u64(out, "unstamped", sink->counts.unstamped);
	telemetry_u64(out, "clock_behind", sink->counts.clock_behind);
	telemetry_u64(out, "captured", atomic_load(&sink->capture.count));
	latency_stats(sink, out);
	if (sink_bng_is_on(&sink->bng))
		sink_bng_stats(&sink->bng, out);
}

static void
sink_reset(struct task *task)
{
	struct sink *sink = task->priv;

	forget(sink, false);
	sink_windows_reset(&sink->windows);
}

/* A start names the trial: from here on its frames count, and all flows begin at 0. */
static int
sink_start(struct sink *sink, const char *args)
{
	uint64_t trial = 0, duration_ns = 0, after_ns = 0;
	struct argument argument;
	int ret;

	while ((ret = arguments_next(&args, &argument)) > 0) {
		if (strcmp(argument.key, "trial") == 0)
			ret = argument_u64(&argument, &trial, 0, UINT8_MAX);
		else if (strcmp(argument.key, "duration_ns") == 0)
			ret = argument_u64(&argument, &duration_ns, 0, LOAD_DURATION_MAX_NS);
		else if (strcmp(argument.key, "after_ns") == 0)
			ret = argument_u64(&argument, &after_ns, 0, LOAD_AFTER_MAX_NS);
		/* The others are the generators'. */
		if (ret < 0)
			return ret;
	}
	if (ret < 0)
		return ret;
	sink->rule.trial = (uint8_t)trial;
	sink_windows_start(&sink->windows, &sink->clock, duration_ns, after_ns);
	forget(sink, true);
	return 0;
}

static int
sink_control(struct task *task, const char *verb, const char *args)
{
	if (strcmp(verb, "start") == 0)
		return sink_start(task->priv, args);
	return strcmp(verb, "stop") == 0 ? 0 : -ENOTSUP;
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

static int
write_json(const struct sink *sink, void (*write)(const struct sink *sink, FILE *file),
	   const char *path)
{
	FILE *file = fopen(path, "w");

	if (file == NULL)
		return -errno;
	write(sink, file);
	return export_close(file);
}

static int
sink_export(const struct task *task, const char *what, const char *path)
{
	const struct sink *sink = task->priv;

	if (strcmp(what, "histogram") == 0)
		return write_json(sink, write_histogram, path);
	if (strcmp(what, "windows") == 0)
		return write_json(sink, write_windows, path);
	if (strcmp(what, "latency_rows") == 0)
		return write_json(sink, write_latency_rows, path);
	if (strcmp(what, "capture") != 0 || sink->capture.room == 0)
		return -ENOTSUP;
	if (path[0] == '\0' && sink->capture_path != NULL)
		path = sink->capture_path;
	return sink_capture_write(&sink->capture, &sink->clock, path);
}

static void
sink_close(struct task *task)
{
	struct sink *sink = task->priv;
	int ret = 0;

	if (sink->capture_path != NULL && sink->capture.room != 0)
		ret = sink_capture_write(&sink->capture, &sink->clock, sink->capture_path);
	if (ret != 0)
		fprintf(stderr, "wsdp: [task.%s] capture = %s: %s\n", task->name,
			sink->capture_path, strerror(-ret));
	sink_capture_close(&sink->capture);
	sink_bng_close(&sink->bng);
	rte_free(sink->tracker.state);
	rte_free(sink->histogram);
	sink_windows_close(&sink->windows);
}

static const struct task_ops sink = {
	.name = "sink",
	.private_size = sizeof(struct sink),
	.takes_input = true,
	.init = sink_init,
	.prepare = sink_prepare,
	.handle = sink_handle,
	.stats = sink_stats,
	.reset = sink_reset,
	.control = sink_control,
	.export = sink_export,
	.close = sink_close,
};

TASK_REGISTER(sink)
