/* SPDX-License-Identifier: Apache-2.0 */
/* sink and time: latency is from the stamp to the poll that found the frame. */
#include <rte_cycles.h>

#include "core/tsc.h"
#include "sink_bench.h"

static void
test_latency(void)
{
	double ns_per_cycle = 1e9 / (double)tsc_hz();
	struct stamp stamp = {STREAM, TRIAL, 0, 0, 0};
	uint8_t octets[FRAME_ROOM(LEN)];
	uint64_t before, after, ages[] = {1000, 100000, 10000000};

	sink_start("");
	for (unsigned int i = 0; i < RTE_DIM(ages); i++) {
		double seen;

		CHECK_EQ(sink_control("start", "trial=3"), 0);
		before = rte_rdtsc();
		stamp.tsc = (before - ages[i]) & STAMP_TSC_MASK;
		sink_craft_with(octets, 4, 0, 64, &stamp);
		sink_put(octets, LEN);
		after = rte_rdtsc();
		seen = (double)figure(&sink_bench, "sink", "latency_max_ns");
		CHECK(seen + 1 >= (double)ages[i] * ns_per_cycle);
		CHECK(seen <= (double)(ages[i] + after - before) * ns_per_cycle);
		CHECK_EQ(figure(&sink_bench, "sink", "latency_min_ns"), (uint64_t)seen);
		CHECK_EQ(figure(&sink_bench, "sink", "latency_avg_ns"), (uint64_t)seen);
		CHECK((double)figure(&sink_bench, "sink", "latency_p50_ns") >= seen);
		CHECK((double)figure(&sink_bench, "sink", "latency_p50_ns") <= seen * 1.001);
	}
	bench_down(&sink_bench);
}

static void
test_stamps_from_the_future(void)
{
	struct stamp stamp = {STREAM, TRIAL, 0, 0, 0};
	uint8_t octets[FRAME_ROOM(LEN)];

	sink_start("");
	stamp.tsc = (rte_rdtsc() + tsc_hz() * 1000) & STAMP_TSC_MASK;
	sink_craft_with(octets, 4, 0, 64, &stamp);
	sink_put(octets, LEN);
	sink_check("clock_behind", 1);
	sink_check("latency_max_ns", 0);
	sink_check("received", 1);
	sink_down();
}

/* Many frames in one burst: runs of equal time stamps are counted together, each frame once. */
static void
test_bursts(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	uint64_t early, late = rte_rdtsc();

	sink_start("");
	early = late - tsc_hz();
	for (uint32_t i = 0; i < 60; i++) {
		struct stamp stamp = {STREAM, TRIAL, 0, i, i < 20 || i == 50 ? early : late};

		sink_craft_with(octets, 4, 0, 64, &stamp);
		CHECK(bench_send(&sink_bench, "in", octets, LEN));
	}
	bench_poll(&sink_bench, 1);
	sink_check("received", 60);
	sink_check("latency_count", 60);
	CHECK(figure(&sink_bench, "sink", "latency_p50_ns") < 500000000);
	CHECK(figure(&sink_bench, "sink", "latency_avg_ns") >= 350000000);
	CHECK(figure(&sink_bench, "sink", "latency_p90_ns") >= 1000000000);
	CHECK(figure(&sink_bench, "sink", "jitter_ns") > 0);
	sink_down();
}

int
main(void)
{
	harness_start();
	test_latency();
	test_stamps_from_the_future();
	test_bursts();
	return 0;
}
