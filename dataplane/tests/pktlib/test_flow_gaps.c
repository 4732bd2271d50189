/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "check.h"
#include "flow_gaps.h"
#include "protocol.h"

#define FLOWS 10000u
#define RATE_FPS 5000000u
/* A TSC of 1 GHz: a cycle is 1 ns. */
#define NS_PER_FRAME (1000000000u / RATE_FPS)
#define INTERVAL_NS ((uint64_t)FLOWS * NS_PER_FRAME)
#define HOLE_NS UINT64_C(20000000)

static struct flow_gaps gaps;
static uint8_t frame[64];

static void
start(uint32_t flows)
{
	free(gaps.records);
	memset(&gaps, 0, sizeof(gaps));
	CHECK(flow_gaps_paths(&gaps, "02:00:00:00:00:01, 02:00:00:00:00:02"));
	flow_gaps_init(&gaps, flows, malloc(flow_gaps_bytes(flows)));
	memset(frame, 0, sizeof(frame));
	frame[0] = 2;
	frame[5] = 1;
	be16_store(frame + 12, ETH_TYPE_IPV4);
	frame[14 + 8] = 63;
}

static void
add(uint32_t flow, uint32_t sequence, uint64_t tsc, uint8_t path)
{
	const struct stamp stamp = {.flow = flow, .sequence = sequence, .tsc = tsc};

	flow_gaps_add(&gaps, &stamp, path);
}

static bool
has_hole(uint32_t flow)
{
	return flow % 1429 == 3; /* 7 of 10,000 */
}

/* All other flows arrive whole meanwhile, so that no total shows the hole. */
static void
test_planted_hole_is_named_with_its_length(void)
{
	uint32_t found = 0;

	start(FLOWS);
	for (uint32_t round = 0; round < 100; round++)
		for (uint32_t flow = 0; flow < FLOWS; flow++) {
			uint64_t at = 1 + round * INTERVAL_NS + (uint64_t)flow * NS_PER_FRAME;
			uint64_t begin = 100000000 + flow;

			if (!has_hole(flow) || at < begin || at >= begin + HOLE_NS)
				add(flow, round, at, 0);
		}
	for (uint32_t i = 0; i < gaps.nb; i++) {
		const struct flow_gap *gap = &gaps.records[i];
		uint64_t dark_ns = gap->after_tsc - gap->before_tsc - INTERVAL_NS;

		CHECK(has_hole(gap->flow));
		CHECK(dark_ns >= HOLE_NS - INTERVAL_NS && dark_ns <= HOLE_NS + INTERVAL_NS);
		CHECK_EQ(gap->lost, HOLE_NS / INTERVAL_NS);
		found++;
	}
	CHECK_EQ(found, 7);
	CHECK_EQ(gaps.not_recorded, 0);
}

static void
test_changed_path_is_recorded_without_loss(void)
{
	start(2);
	add(0, 0, 10, 0);
	add(1, 0, 11, 0);
	add(0, 1, 20, 1);
	CHECK_EQ(gaps.nb, 1);
	CHECK_EQ(gaps.records[0].lost, 0);
	CHECK_EQ(gaps.records[0].path_before, 0);
	CHECK_EQ(gaps.records[0].path_after, 1);
	CHECK_EQ(gaps.records[0].after_tsc, 20);
}

static void
test_frames_before_the_first(void)
{
	start(1);
	add(0, 3, 10, 0);
	CHECK_EQ(gaps.nb, 1);
	CHECK_EQ(gaps.records[0].lost, 3);
	CHECK_EQ(gaps.records[0].before_tsc, 0);
	CHECK_EQ(gaps.records[0].path_before, FLOW_GAPS_NO_PATH);
	flow_gaps_reset(&gaps, false);
	add(0, 900, 20, 0);
	CHECK_EQ(gaps.nb, 0);
}

static void
test_sequence_numbers_wrap(void)
{
	start(1);
	flow_gaps_reset(&gaps, false);
	add(0, UINT32_MAX, 10, 0);
	add(0, 0, 20, 0);
	CHECK_EQ(gaps.nb, 0);
	add(0, 2, 30, 0);
	CHECK_EQ(gaps.records[0].lost, 1);
}

static void
test_flows_beyond_the_tracked_and_records_beyond_the_room(void)
{
	start(1);
	add(1, 7, 10, 0);
	CHECK_EQ(gaps.nb, 0);
	for (uint32_t i = 0; i < FLOW_GAPS_RECORDS + 3; i++)
		add(0, i, 10 + i, i % 2);
	CHECK_EQ(gaps.nb, FLOW_GAPS_RECORDS);
	CHECK_EQ(gaps.not_recorded, 2);
}

static void
test_paths_of_frames(void)
{
	start(1);
	CHECK_EQ(flow_gaps_path(&gaps, frame), 0);
	frame[5] = 2;
	CHECK_EQ(flow_gaps_path(&gaps, frame), 1);
	frame[5] = 3;
	CHECK_EQ((uint64_t)flow_gaps_path(&gaps, frame), (uint64_t)-1);
	CHECK_EQ(gaps.misrouted, 1);
	gaps.only_path = 1;
	frame[5] = 1;
	CHECK_EQ((uint64_t)flow_gaps_path(&gaps, frame), (uint64_t)-1);
	CHECK_EQ(gaps.unheard, 1);
	frame[5] = 2;
	frame[14 + 8] = 61; /* two hops more than the others */
	CHECK_EQ(flow_gaps_path(&gaps, frame), 1);
	CHECK_EQ(gaps.looped, 1);
}

static void
test_texts_of_paths(void)
{
	static const char *const bad[] = {
		"",
		"02:00:00:00:00",
		"02:00:00:00:00:01,",
		"02-00-00-00-00-01",
		"02:00:00:00:00:0g",
		"02:00:00:00:00:01 02:00:00:00:00:02",
	};

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!flow_gaps_paths(&gaps, bad[i]));
	CHECK(flow_gaps_paths(&gaps, "02:AB:00:00:00:01"));
	CHECK_EQ(gaps.nb_paths, 1);
	CHECK_EQ(gaps.paths[0][1], 0xab);
}

int
main(void)
{
	test_planted_hole_is_named_with_its_length();
	test_changed_path_is_recorded_without_loss();
	test_frames_before_the_first();
	test_sequence_numbers_wrap();
	test_flows_beyond_the_tracked_and_records_beyond_the_room();
	test_paths_of_frames();
	test_texts_of_paths();
	free(gaps.records);
	return 0;
}
