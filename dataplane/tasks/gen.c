/* SPDX-License-Identifier: Apache-2.0 */
/* gen: sends UDP frames, or a pcap file's, at an intended load. How it paces, stamps and counts is
 * described in docs/explanation/generator.md. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_cycles.h>

#include "core/config.h"
#include "core/export.h"
#include "core/pages.h"
#include "core/task.h"
#include "core/telemetry.h"
#include "core/tsc.h"
#include "gen_config.h"
#include "gen_load.h"
#include "gen_source.h"
#include "pktlib/window_log.h"

/* A ring gives back what an overload left in it, up to 4,096 frames in 0.6 ms, when it is next sent
 * to. So the first frame goes ahead by this much where the start leaves the time. */
#define AHEAD_NS 5000000

struct gen {
	/* Read or written for every burst. */
	bool running; /* started, even when the first frame is not due yet */
	bool sending; /* the first frame is due */
	bool ahead;   /* the first frame is to go ahead */
	uint8_t trial;
	struct schedule schedule;
	struct gen_source source;
	struct window_log windows;
	uint64_t handover_max; /* TSC: from a burst's time stamp to its acceptance */
	uint64_t pool_empty;   /* bursts put off because the pool had no mbufs */
	uint64_t stopped;      /* TSC at the end of the run */

	struct tsc_clock clock;
	uint64_t started;
	struct {
		uint64_t intended, offered, unsent;
	} before; /* in this run, before its rate was changed */
	struct gen_config config;
};

static int
gen_init(struct task *task, const struct config_section *section)
{
	struct gen *gen = task->priv;
	int ret = gen_config_read(&gen->config, section);

	task->frame_bytes_max = gen->config.largest_bytes;
	return ret;
}

static struct load
own_load(const struct gen *gen, const struct load *load)
{
	const struct gen_config *config = &gen->config;

	return config->rss_queues == 0 ? *load
				       : gen_load_share(*load, config->rss_queues,
							gen->source.flows, config->flows);
}

static bool
can_pace(const struct gen *gen, const struct load *load)
{
	return schedule_can_pace(own_load(gen, load).rate_ufps, gen->clock.hz);
}

static void
gen_end(struct gen *gen, uint64_t now)
{
	schedule_stop(&gen->schedule);
	gen->stopped = RTE_MAX(now, gen->started);
	gen->running = false;
	gen->sending = false;
}

static void
gen_start(struct gen *gen, const struct load *load, const struct gen_start *start)
{
	const struct load own = own_load(gen, load);
	uint64_t begin;

	window_log_start(&gen->windows, &gen->clock, rte_rdtsc(), start->duration_ns,
			 start->after_ns);
	/* Clearing the log took its time. */
	begin = rte_rdtsc() + tsc_clock_cycles(&gen->clock, start->after_ns);
	schedule_start(&gen->schedule, &own, &gen->clock, begin);
	gen_source_rewind(&gen->source);
	memset(&gen->before, 0, sizeof(gen->before));
	gen->handover_max = 0;
	gen->pool_empty = 0;
	gen->started = begin;
	gen->ahead = start->after_ns >= AHEAD_NS;
	gen->trial = (uint8_t)start->trial;
	gen->running = true;
	/* None of the flows is this sender's: it has nothing to send. */
	if (gen->source.flows == 0)
		gen_end(gen, begin);
}

static int
open_windows(struct gen *gen, const char *task_name)
{
	void *memory = pages_map(WINDOW_LOG_BYTES);

	if (memory == NULL) {
		fprintf(stderr, "wsdp: [task.%s] no memory for its log of windows (%zu octets)\n",
			task_name, WINDOW_LOG_BYTES);
		return -ENOMEM;
	}
	window_log_init(&gen->windows, memory, WINDOW_UNSENT);
	window_log_start(&gen->windows, &gen->clock, rte_rdtsc(), 0, 0);
	return 0;
}

static int
gen_prepare(struct task *task)
{
	struct gen *gen = task->priv;
	const struct gen_start at_once = {0};
	uint32_t room = rte_pktmbuf_data_room_size(task->pool) - RTE_PKTMBUF_HEADROOM;
	/* Short frames are written in whole blocks. */
	uint32_t needed = RTE_MAX(gen->config.largest_bytes, 2u * FRAME_BLOCK);
	int ret;

	gen->clock = tsc_clock_of(tsc_hz());
	if (needed > room) {
		fprintf(stderr,
			"wsdp: [task.%s] its frames need %u octets of an mbuf; [pool] "
			"data_bytes leaves %u. Raise it to %u.\n",
			task->name, needed, room, needed + RTE_PKTMBUF_HEADROOM);
		return -EINVAL;
	}
	ret = open_windows(gen, task->name);
	if (ret == 0)
		ret = gen_source_open(&gen->source, &gen->config, task);
	if (ret == 0 && !can_pace(gen, &gen->config.load)) {
		fprintf(stderr, "wsdp: [task.%s] the rate reaches one frame a TSC cycle (%lu Hz)\n",
			task->name, (unsigned long)gen->clock.hz);
		return -EINVAL;
	}
	if (ret == 0 && gen->config.autostart)
		gen_start(gen, &gen->config.load, &at_once);
	return ret;
}

static void
hand_over(struct task *task, uint16_t n, uint64_t now)
{
	struct gen *gen = task->priv;
	struct rte_mbuf *mbufs[TASK_BURST];
	struct gen_filled filled;
	uint64_t taken;

	if (unlikely(rte_mempool_get_bulk(task->pool, (void **)mbufs, n) != 0)) {
		/* The frames stay due: sent as soon as there are mbufs, or given up as unsent. */
		gen->pool_empty++;
		return;
	}
	filled = gen->source.fill(&gen->source, mbufs, n, stamp_moment(gen->trial, now));
	task->stats.rx += n;
	task->stats.rx_bytes += filled.octets;
	task_send_octets(task, 0, mbufs, n, filled.octets);
	window_log_add(&gen->windows, window_log_bin(&gen->windows, now), filled.stamped, 0);
	schedule_offered(&gen->schedule, n);
	taken = rte_rdtsc();
	if (unlikely(taken - now > gen->handover_max))
		gen->handover_max = taken - now;
}

/* Before the start. Nothing counts yet but the frame itself. */
static void
send_ahead(struct task *task, uint64_t now)
{
	struct gen *gen = task->priv;

	if (!gen->ahead || now + tsc_clock_cycles(&gen->clock, AHEAD_NS) < gen->started)
		return;
	gen->ahead = false;
	if (gen->schedule.intended > 1)
		hand_over(task, 1, now);
	gen->handover_max = 0;
}

static void
gen_handle(struct task *task, struct rte_mbuf **none __rte_unused, uint16_t no_input __rte_unused)
{
	struct gen *gen = task->priv;
	uint64_t now, unsent;
	uint16_t n;

	if (!gen->running)
		return;
	now = rte_rdtsc();
	if (unlikely(!gen->sending)) {
		if (now < gen->started) {
			send_ahead(task, now);
			return;
		}
		gen->sending = true;
	}
	unsent = gen->schedule.unsent;
	n = schedule_next(&gen->schedule, now);
	unsent = gen->schedule.unsent - unsent;
	if (unlikely(unsent != 0))
		window_log_add(&gen->windows, window_log_bin(&gen->windows, now), 0, unsent);
	if (n != 0)
		hand_over(task, n, now);
	else if (schedule_done(&gen->schedule, now))
		gen_end(gen, now);
}

static void
gen_stats(const struct task *task, struct telemetry_out *out)
{
	const struct gen *gen = task->priv;
	const struct schedule *schedule = &gen->schedule;
	uint64_t now = RTE_MAX(rte_rdtsc(), gen->started);
	uint64_t intended = schedule->intended;

	/* A run without an end so far intended what was due so far. */
	if (intended == UINT64_MAX)
		intended = schedule->paced ? schedule_due(schedule, now)
					   : schedule->offered + schedule->unsent;
	telemetry_u64(out, "running", gen->running);
	telemetry_u64(out, "trial", gen->trial);
	telemetry_u64(out, "flows_own", gen->source.flows);
	telemetry_u64(out, "started_tsc", gen->started);
	telemetry_u64(out, "intended", gen->before.intended + intended);
	telemetry_u64(out, "offered", gen->before.offered + schedule->offered);
	telemetry_u64(out, "unsent", gen->before.unsent + schedule->unsent);
	telemetry_u64(out, "elapsed_ns",
		      tsc_clock_ns(&gen->clock,
				   (gen->running ? now : gen->stopped) - gen->started));
	telemetry_u64(out, "handover_max_ns", tsc_clock_ns(&gen->clock, gen->handover_max));
	telemetry_u64(out, "pool_empty", gen->pool_empty);
}

/* Go on at another load for what is left of the run; flows and sequence numbers go on, too. */
static void
change_load(struct gen *gen, struct load load)
{
	uint64_t now = RTE_MAX(rte_rdtsc(), gen->started);
	uint64_t end = gen->schedule.end;

	schedule_stop(&gen->schedule);
	gen->before.intended += gen->schedule.intended;
	gen->before.offered += gen->schedule.offered;
	gen->before.unsent += gen->schedule.unsent;
	load = own_load(gen, &load);
	load.duration_ns = 0;
	if (end != UINT64_MAX)
		load.duration_ns = end > now ? tsc_clock_ns(&gen->clock, end - now) + 1 : 1;
	schedule_start(&gen->schedule, &load, &gen->clock, now);
}

static int
read_request(const struct gen *gen, const char *args, struct load *load, struct gen_start *start)
{
	int ret = gen_load_request(args, load, start);

	return ret != 0 || can_pace(gen, load) ? ret : -ERANGE;
}

static int
gen_control(struct task *task, const char *verb, const char *args)
{
	struct gen *gen = task->priv;
	struct load load = gen->config.load;
	struct gen_start start = {0};
	int ret;

	if (strcmp(verb, "stop") == 0) {
		if (gen->running)
			gen_end(gen, rte_rdtsc());
		return 0;
	}
	if (strcmp(verb, "start") == 0) {
		if (gen->running)
			return -EBUSY;
		ret = read_request(gen, args, &load, &start);
		if (ret == 0)
			gen_start(gen, &load, &start);
		return ret;
	}
	if (strcmp(verb, "set") == 0) {
		ret = read_request(gen, args, &load, NULL);
		if (ret != 0)
			return ret;
		gen->config.load = load;
		if (gen->running)
			change_load(gen, load);
		return 0;
	}
	return -ENOTSUP;
}

static void
gen_reset(struct task *task)
{
	struct gen *gen = task->priv;

	gen->handover_max = 0;
	gen->pool_empty = 0;
}

static int
gen_export(const struct task *task, const char *what, const char *path)
{
	const struct gen *gen = task->priv;
	FILE *file;

	if (strcmp(what, "windows") != 0)
		return -ENOTSUP;
	file = export_open(path);
	if (file == NULL)
		return -errno;
	window_log_write(&gen->windows, file);
	return export_close(file);
}

static void
gen_close(struct task *task)
{
	struct gen *gen = task->priv;

	if (gen->running)
		gen_end(gen, rte_rdtsc());
	gen_source_close(&gen->source);
	pages_unmap(gen->windows.bins, WINDOW_LOG_BYTES);
}

static const struct task_ops gen = {
	.name = "gen",
	.private_size = sizeof(struct gen),
	.generates = true,
	.max_out = 1,
	.init = gen_init,
	.prepare = gen_prepare,
	.handle = gen_handle,
	.stats = gen_stats,
	.reset = gen_reset,
	.control = gen_control,
	.export = gen_export,
	.close = gen_close,
};

TASK_REGISTER(gen)
