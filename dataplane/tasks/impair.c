/* SPDX-License-Identifier: Apache-2.0 */
/* impair: a reference SUT whose rate, delay and loss are known exactly, to test the tester with. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_malloc.h>

#include "core/arguments.h"
#include "core/config.h"
#include "core/number.h"
#include "core/task.h"
#include "core/telemetry.h"
#include "core/tsc.h"
#include "impair_line.h"

#define DELAY_NS_MAX 1000000000
#define STALL_EVERY_NS_MAX 3600000000000
#define QUEUE_DEFAULT_DIVISOR 500 /* 2 ms at the rate: what a generator may have to catch up */
#define QUEUE_DEFAULT_MIN 64
#define QUEUE_ROOM 65536 /* slots for queues that a later "set" may ask for */
#define QUEUE_BY_RATE UINT64_MAX
#define DEPARTURES_PER_POLL 4 /* bursts; more than can arrive, so that a backlog drains */

struct settings {
	uint64_t rate_fps;
	uint64_t bucket_frames;
	uint64_t delay_ns;
	uint64_t loss_every;
	uint64_t stall_every_ns;
	uint64_t stall_ns;
	uint64_t queue_frames; /* QUEUE_BY_RATE: as many as the rate asks for */
};

struct impair {
	struct impair_line line;
	uint64_t lost;
	uint64_t queue_full;
	uint64_t delay_full;
	struct settings settings;
	uint64_t delay_frames;
	uint64_t queue_max; /* what the slots allow `set` */
};

/* The keys of the INI section and of "set", with what they allow. */
static const struct {
	const char *key;
	size_t offset;
	uint64_t min, max;
} keys[] = {
	{"rate_fps", offsetof(struct settings, rate_fps), 0, 1000000000},
	{"bucket_frames", offsetof(struct settings, bucket_frames), 1, 65536},
	{"delay_ns", offsetof(struct settings, delay_ns), 0, DELAY_NS_MAX},
	{"loss_every", offsetof(struct settings, loss_every), 0, UINT64_MAX},
	{"stall_every_ns", offsetof(struct settings, stall_every_ns), 0, STALL_EVERY_NS_MAX},
	{"stall_ns", offsetof(struct settings, stall_ns), 0, STALL_EVERY_NS_MAX},
	{"queue_frames", offsetof(struct settings, queue_frames), 0, IMPAIR_QUEUE_MAX},
};

static uint64_t *
field(struct settings *settings, size_t key)
{
	return (uint64_t *)((char *)settings + keys[key].offset);
}

/* A line that always stalls serves nothing. */
static bool
stalls_all_the_time(const struct settings *settings)
{
	return settings->stall_every_ns != 0 && settings->stall_ns >= settings->stall_every_ns;
}

static int
impair_init(struct task *task, const struct config_section *section)
{
	struct impair *impair = task->priv;
	struct settings *settings = &impair->settings;
	int ret = 0;

	settings->bucket_frames = 32;
	settings->queue_frames = QUEUE_BY_RATE;
	impair->delay_frames = 16384;
	for (size_t i = 0; i < RTE_DIM(keys); i++)
		ret |= config_u64(section, keys[i].key, field(settings, i), keys[i].min,
				  keys[i].max);
	ret |= config_u64(section, "delay_frames", &impair->delay_frames, 1, IMPAIR_DELAYED_MAX);
	impair->queue_max = QUEUE_ROOM;
	if (config_has(section, "queue_frames"))
		impair->queue_max = RTE_MAX(impair->queue_max, settings->queue_frames);
	task->wants_idle = true;
	if (ret == 0 && stalls_all_the_time(settings)) {
		config_fault(section, "stall_ns", "must be less than stall_every_ns = %" PRIu64,
			     settings->stall_every_ns);
		return -EINVAL;
	}
	return ret;
}

static uint64_t
queue_by_rate(const struct impair *impair)
{
	uint64_t frames = impair->settings.rate_fps / QUEUE_DEFAULT_DIVISOR;

	if (frames < QUEUE_DEFAULT_MIN)
		return QUEUE_DEFAULT_MIN;
	return RTE_MIN(frames, impair->queue_max);
}

static void
apply(struct impair *impair)
{
	const struct settings *settings = &impair->settings;
	struct impair_line *line = &impair->line;
	uint64_t now = rte_rdtsc();

	token_bucket_change(&line->bucket, settings->rate_fps, settings->bucket_frames, now);
	line->delay_tsc = ns_to_tsc(settings->delay_ns);
	line->loss_every = settings->loss_every;
	line->stall_from = now;
	line->stall_period = settings->stall_ns != 0 ? ns_to_tsc(settings->stall_every_ns) : 0;
	line->stall_tsc = ns_to_tsc(settings->stall_ns);
	line->queue_frames = settings->queue_frames == QUEUE_BY_RATE ? queue_by_rate(impair)
								     : settings->queue_frames;
}

static int
impair_prepare(struct task *task)
{
	struct impair *impair = task->priv;
	uint64_t nb_slots = impair_line_slots(impair->queue_max, impair->delay_frames);
	struct impair_slot *slots = rte_zmalloc_socket(task->name, nb_slots * sizeof(*slots),
						       RTE_CACHE_LINE_SIZE, task->socket_id);

	if (slots == NULL)
		return -ENOMEM;
	impair_line_init(&impair->line, slots, nb_slots);
	token_bucket_init(&impair->line.bucket, tsc_hz(), impair->settings.rate_fps,
			  impair->settings.bucket_frames, rte_rdtsc());
	apply(impair);
	return 0;
}

static void
arrive(struct task *task, struct rte_mbuf **mbufs, uint16_t n, uint64_t now)
{
	struct impair *impair = task->priv;
	struct rte_mbuf *dropped[TASK_BURST];
	uint16_t nb_dropped = 0;

	for (uint16_t i = 0; i < n; i++) {
		enum impair_verdict verdict = impair_line_arrive(&impair->line, mbufs[i], now);

		if (verdict == IMPAIR_TAKEN)
			continue;
		dropped[nb_dropped++] = mbufs[i];
		impair->lost += verdict == IMPAIR_LOST;
		impair->queue_full += verdict == IMPAIR_QUEUE_FULL;
		impair->delay_full += verdict == IMPAIR_DELAY_FULL;
	}
	if (nb_dropped > 0)
		task_discard(task, dropped, nb_dropped);
}

static void
impair_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct impair *impair = task->priv;
	struct rte_mbuf *leaving[TASK_BURST];
	uint64_t now;

	if (n == 0 && impair_line_held(&impair->line) == 0)
		return;
	now = rte_rdtsc();
	arrive(task, mbufs, n, now);
	for (unsigned int burst = 0; burst < DEPARTURES_PER_POLL; burst++) {
		uint16_t count =
			impair_line_depart(&impair->line, (void **)leaving, TASK_BURST, now);

		if (count == 0)
			break;
		task_send(task, 0, leaving, count);
	}
	task->stats.held = impair_line_held(&impair->line);
}

static void
impair_stats(const struct task *task, struct telemetry_out *out)
{
	const struct impair *impair = task->priv;

	telemetry_u64(out, "lost", impair->lost);
	telemetry_u64(out, "queue_full", impair->queue_full);
	telemetry_u64(out, "delay_full", impair->delay_full);
	telemetry_u64(out, "rate_fps", impair->settings.rate_fps);
	telemetry_u64(out, "bucket_frames", impair->settings.bucket_frames);
	telemetry_u64(out, "delay_ns", impair->settings.delay_ns);
	telemetry_u64(out, "loss_every", impair->settings.loss_every);
	telemetry_u64(out, "stall_every_ns", impair->settings.stall_every_ns);
	telemetry_u64(out, "stall_ns", impair->settings.stall_ns);
	telemetry_u64(out, "queue_frames", impair->line.queue_frames);
}

/* Also starts counting to the Nth anew, so that every trial loses the same frames. */
static void
impair_reset(struct task *task)
{
	struct impair *impair = task->priv;

	impair->lost = impair->queue_full = impair->delay_full = 0;
	impair->line.since_loss = 0;
}

static int
set_one(struct impair *impair, struct settings *settings, const struct argument *argument)
{
	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		uint64_t max = keys[i].max;

		if (strcmp(argument->key, keys[i].key) != 0)
			continue;
		if (keys[i].offset == offsetof(struct settings, queue_frames))
			max = impair->queue_max;
		return number_u64(argument->value, field(settings, i), keys[i].min, max);
	}
	return -EINVAL;
}

/* "set,key=value,...": all of it or, on a fault, nothing. Holds for frames that arrive from now. */
static int
impair_control(struct task *task, const char *verb, const char *args)
{
	struct impair *impair = task->priv;
	struct settings changed = impair->settings;
	struct argument argument;
	int ret;

	if (strcmp(verb, "set") != 0)
		return 0;
	while ((ret = arguments_next(&args, &argument)) == 1) {
		ret = set_one(impair, &changed, &argument);
		if (ret != 0)
			break;
	}
	if (ret == 0 && stalls_all_the_time(&changed))
		ret = -ERANGE;
	if (ret != 0)
		return ret;
	impair->settings = changed;
	apply(impair);
	return 0;
}

static void
impair_close(struct task *task)
{
	struct impair *impair = task->priv;
	void *frame;

	while (impair_line_depart(&impair->line, &frame, 1, UINT64_MAX) == 1)
		rte_pktmbuf_free(frame);
	rte_free(impair->line.slots);
}

static const struct task_ops impair = {
	.name = "impair",
	.private_size = sizeof(struct impair),
	.takes_input = true,
	.max_out = 1,
	.init = impair_init,
	.prepare = impair_prepare,
	.handle = impair_handle,
	.stats = impair_stats,
	.reset = impair_reset,
	.control = impair_control,
	.close = impair_close,
};

TASK_REGISTER(impair)
