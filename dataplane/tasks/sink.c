/* SPDX-License-Identifier: Apache-2.0 */
/* sink: receives what gen sent and says what became of it: loss, order, latency, jitter. How it
 * counts is described in docs/explanation/generator.md. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_malloc.h>

#include "core/arguments.h"
#include "core/config.h"
#include "core/number.h"
#include "core/tsc.h"
#include "pktlib/schedule.h"
#include "sink.h"

#define TRACKED_FLOWS_MAX (4u * FLOWS_MAX)
#define CAPTURE_DEFAULT 100
#define PREFETCH_AHEAD 4

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
	sink->content = content_of(section);
	if (sink->content != NULL)
		ret |= sink->content->sink.read(&sink->content_keys, &sink->rule.flows, section);
	ret |= config_u32(section, "flows", &sink->rule.flows, 1, FLOWS_MAX);
	ret |= config_bool(section, "stamp", &sink->stamped);
	ret |= config_u32(section, "capture_frames", &capture_frames, 1, SINK_CAPTURE_MAX);
	ret |= config_u32(section, "capture_every", &sink->capture_every, 1, UINT32_MAX);
	sink->capture_path = config_string(section, "capture");
	if (sink->capture_path != NULL || config_has(section, "capture_frames") ||
	    sink->capture_every != 0)
		sink->capture_frames = capture_frames;
	ret |= sink_gaps_read(sink, section);
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
	if (sink->content != NULL)
		sink->content->sink.reset(sink->content_state);
	flow_gaps_reset(&sink->gaps, from_zero);
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
	if (sink->content != NULL) {
		sink->content_state = sink->content->sink.open(&sink->content_keys, task);
		if (sink->content_state == NULL)
			return -ENOMEM;
	}
	sink->clock = tsc_clock_of(tsc_hz());
	if (sink_gaps_open(sink, task) != 0)
		return -ENOMEM;
	if (sink_windows_open(&sink->windows, task->name, &sink->clock) != 0)
		return -ENOMEM;
	forget(sink, true);
	return 0;
}

/* Sums of a burst before they are written to memory. A run is a number of frames with the same time
 * stamp, as those that gen hands over at once have: they share one latency. */
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
count_frame(struct sink *sink, struct burst *burst, const uint8_t *frame, uint32_t len,
	    const struct content_ops *content)
{
	enum sequence_result order;
	struct stamp stamp;
	int path = -1;

	switch (content != NULL
			? content->sink.judge(sink->content_state, &sink->rule, frame, len, &stamp)
			: verdict_of(&sink->rule, frame, len, &stamp)) {
	case VERDICT_OURS:
		if (unlikely(sink->gaps.flows != 0) &&
		    (path = flow_gaps_path(&sink->gaps, frame)) < 0)
			return false;
		order = sequence_add(&sink->tracker, stamp.flow, stamp.sequence);
		if (unlikely(order == SEQUENCE_DUPLICATE || order == SEQUENCE_TOO_LATE))
			return false;
		burst->in_order += order == SEQUENCE_NEXT;
		record_latency(sink, burst, stamp.tsc);
		if (unlikely(sink->gaps.flows != 0) && order != SEQUENCE_REORDERED)
			flow_gaps_add(&sink->gaps, &stamp, (uint8_t)path);
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
		sink->counts.misdirected++;
		return false;
	}
	return false;
}

/* Return whether it is this good frame's turn to be captured. */
static inline bool
is_sample(struct sink *sink)
{
	if (likely(sink->capture_every == 0) || --sink->until_capture != 0)
		return false;
	sink->until_capture = sink->capture_every;
	return true;
}

static __rte_always_inline void
handle_frame(struct sink *sink, struct burst *burst, const struct rte_mbuf *mbuf,
	     const struct content_ops *content)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint8_t headers[VERDICT_READS];

	/* In several segments, and the first does not reach as far as the headers may. */
	if (unlikely(mbuf->data_len < mbuf->pkt_len && mbuf->data_len < VERDICT_READS))
		frame = rte_pktmbuf_read(mbuf, 0, RTE_MIN(mbuf->pkt_len, (uint32_t)VERDICT_READS),
					 headers);
	if (unlikely(!count_frame(sink, burst, frame, mbuf->pkt_len, content) || is_sample(sink)))
		sink_capture_add(&sink->capture, mbuf, burst->now);
}

/* `content` is sink->content, a constant where there is none. */
static __rte_always_inline void
handle_frames(struct sink *sink, struct burst *burst, struct rte_mbuf **mbufs, uint16_t n,
	      const struct content_ops *content)
{
	for (uint16_t i = 0; i < PREFETCH_AHEAD && i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_AHEAD], void *));
		handle_frame(sink, burst, mbufs[i], content);
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
	if (sink->content == NULL)
		handle_frames(sink, &burst, mbufs, n, NULL);
	else
		handle_frames(sink, &burst, mbufs, n, sink->content);
	end_run(sink, &burst);
	sequence_count_in_order(&sink->tracker, burst.in_order);
	sink->jitter = burst.jitter;
	task_consume(task, mbufs, n);
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
			ret = number_u64(argument.value, &trial, 0, UINT8_MAX);
		else if (strcmp(argument.key, "duration_ns") == 0)
			ret = number_u64(argument.value, &duration_ns, 0, LOAD_DURATION_MAX_NS);
		else if (strcmp(argument.key, "after_ns") == 0)
			ret = number_u64(argument.value, &after_ns, 0, LOAD_AFTER_MAX_NS);
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
	if (strcmp(verb, "set") == 0)
		return sink_gaps_set(task->priv, args);
	return strcmp(verb, "stop") == 0 ? 0 : -ENOTSUP;
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
	if (sink->content_state != NULL)
		sink->content->sink.close(sink->content_state);
	rte_free(sink->tracker.state);
	sink_gaps_close(sink);
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
