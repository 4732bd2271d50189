/* SPDX-License-Identifier: Apache-2.0 */
/* A content of the test's own, in this one file: gen and sink use it without knowing it. Its frames
 * have a colour, the octet behind the stamp, and a sink accepts one colour only. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/telemetry.h"
#include "figures.h"
#include "pktlib/frame.h"
#include "tasks/content.h"
#include "tasks/gen_config.h"
#include "tasks/gen_head.h"

#define BYTES 128
#define STAMP_AT 42 /* IPv4 without tags */
#define COLOUR_AT (STAMP_AT + STAMP_BYTES)

struct keys {
	uint16_t colour;
};

struct painter {
	struct frame_template t;
	uint8_t octets[FRAME_ROOM(BYTES)] __attribute__((aligned(64)));
	uint16_t colour;
	unsigned int rewound;
};

struct viewer {
	uint16_t colour;
	uint64_t wrong;
};

static unsigned int opened; /* painters and viewers that have not been closed */

static int
read_colour(struct content_keys *keys, const struct config_section *section)
{
	struct keys *own = (void *)keys;

	return config_u16(section, "colour", &own->colour, 0, UINT8_MAX);
}

static int
painter_read(struct gen_config *config, const struct config_section *section)
{
	config->flows = 4;
	config->largest_bytes = BYTES;
	return read_colour(&config->content_keys, section);
}

static struct gen_filled
painter_fill(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	const struct painter *painter = source->content_state;
	const struct gen_head head = gen_head_for(painter->t.len);

	for (uint16_t i = 0; i < n; i++) {
		uint8_t *frame = (uint8_t *)mbufs[i]->buf_addr + RTE_PKTMBUF_HEADROOM;
		struct gen_turn *turn = &source->stamped;

		memcpy(&mbufs[i]->rearm_data, &head, sizeof(head));
		frame_write(frame, &painter->t, CHECKSUM_FIXED, turn->flow,
			    stamp_identity(source->stream, turn->flow, turn->sequence), moment);
		frame[COLOUR_AT] = (uint8_t)painter->colour;
		gen_next_turn(turn, source->flows);
	}
	return (struct gen_filled){.octets = (uint64_t)n * BYTES, .stamped = n};
}

static int
painter_open(struct gen_source *source, const struct gen_config *config,
	     const struct task *task __rte_unused)
{
	struct painter *painter = aligned_alloc(64, sizeof(*painter));
	struct fault why;

	CHECK(painter != NULL);
	memset(painter, 0, sizeof(*painter));
	painter->colour = ((const struct keys *)(const void *)&config->content_keys)->colour;
	CHECK_EQ(frame_template_build(&painter->t, &config->frame, FLOW_DST_PORT, BYTES,
				      painter->octets, &why),
		 0);
	source->content_state = painter;
	source->flows = config->flows;
	source->fill = painter_fill;
	opened++;
	return 0;
}

static void
painter_rewind(struct gen_source *source)
{
	struct painter *painter = source->content_state;

	painter->rewound++;
}

static void
painter_close(struct gen_source *source)
{
	const struct painter *painter = source->content_state;

	/* Once when it was opened, once at the start. */
	CHECK_EQ(painter->rewound, 2);
	free(source->content_state);
	opened--;
}

static int
viewer_read(struct content_keys *keys, uint32_t *flows, const struct config_section *section)
{
	*flows = 4;
	return read_colour(keys, section);
}

static void *
viewer_open(const struct content_keys *keys, const struct task *task __rte_unused)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));

	CHECK(viewer != NULL);
	viewer->colour = ((const struct keys *)(const void *)keys)->colour;
	opened++;
	return viewer;
}

static enum verdict
viewer_judge(void *state, const struct verdict_rule *rule, const uint8_t *frame, uint32_t len,
	     struct stamp *stamp)
{
	struct viewer *viewer = state;
	enum verdict verdict = verdict_of(rule, frame, len, stamp);

	if (verdict != VERDICT_OURS || frame[COLOUR_AT] == viewer->colour)
		return verdict;
	viewer->wrong++;
	return VERDICT_MISDIRECTED;
}

static void
viewer_stats(const void *state, struct telemetry_out *out)
{
	telemetry_u64(out, "wrong_colour", ((const struct viewer *)state)->wrong);
}

static void
viewer_reset(void *state)
{
	((struct viewer *)state)->wrong = 0;
}

static void
viewer_close(void *state)
{
	free(state);
	opened--;
}

static const struct content_ops colour = {
	.name = "colour",
	.gen = {painter_read, painter_open, painter_rewind, painter_close},
	.sink = {viewer_read, viewer_open, viewer_judge, viewer_stats, viewer_reset, viewer_close},
};

CONTENT_REGISTER(colour)

/* 1,600 frames of one colour to a sink that waits for one. */
static struct bench
run(unsigned int sent, unsigned int expected)
{
	char ini[512];
	struct bench bench;
	struct task *gen, *sink;

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 4096\n[ring.a]\nsize = 1024\n"
		 "[task.gen]\ntype = gen\nlcore = 1\ntx = ring:a\ncolour = %u\n"
		 "[task.sink]\ntype = sink\nlcore = 1\nrx = ring:a\ncolour = %u\n",
		 sent, expected);
	bench = bench_up(ini);
	gen = bench_task(&bench, "gen");
	sink = bench_task(&bench, "sink");
	CHECK_EQ(sink->ops->control(sink, "start", "trial=1"), 0);
	CHECK_EQ(gen->ops->control(gen, "start", "trial=1"), 0);
	bench_poll(&bench, 50);
	CHECK_EQ(gen->ops->control(gen, "stop", ""), 0);
	bench_poll(&bench, 2);
	CHECK_EQ(gen->stats.tx, 1600);
	CHECK_EQ(sink->stats.handled, 1600);
	return bench;
}

static void
test_right_content_is_received(void)
{
	struct bench bench = run(7, 7);

	CHECK_EQ(figure(&bench, "sink", "received"), 1600);
	CHECK_EQ(figure(&bench, "sink", "lost"), 0);
	CHECK_EQ(figure(&bench, "sink", "misdirected"), 0);
	CHECK_EQ(figure(&bench, "sink", "wrong_colour"), 0);
	bench_down(&bench);
	CHECK_EQ(opened, 0);
}

static void
test_wrong_content_is_counted_by_its_cause(void)
{
	struct bench bench = run(7, 8);
	struct task *sink = bench_task(&bench, "sink");

	CHECK_EQ(figure(&bench, "sink", "received"), 0);
	CHECK_EQ(figure(&bench, "sink", "misdirected"), 1600);
	CHECK_EQ(figure(&bench, "sink", "wrong_colour"), 1600);
	sink->ops->reset(sink);
	CHECK_EQ(figure(&bench, "sink", "misdirected"), 0);
	CHECK_EQ(figure(&bench, "sink", "wrong_colour"), 0);
	bench_down(&bench);
	CHECK_EQ(opened, 0);
}

/* The first fault of a gen with these keys. */
static void
check_refused(const char *keys, const char *expected)
{
	char ini[512];

	snprintf(ini, sizeof(ini),
		 "[ring.a]\nsize = 64\n[task.gen]\ntype = gen\nlcore = 1\ntx = ring:a\n%s"
		 "[task.sink]\ntype = sink\nlcore = 1\nrx = ring:a\n",
		 keys);
	harness_faults(ini, expected);
}

static void
test_a_frame_has_one_content(void)
{
	check_refused("colour = 300\n", "colour = 300: must be a whole number from 0 to 255");
	check_refused("colour = 1\nbng = up\n", "frames have one content");
	check_refused("colour = 1\npcap = /no/such\n", "colour = 1: has no meaning next to pcap");
}

int
main(void)
{
	harness_start();
	test_right_content_is_received();
	test_wrong_content_is_counted_by_its_cause();
	test_a_frame_has_one_content();
	return 0;
}
