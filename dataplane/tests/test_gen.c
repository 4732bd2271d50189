/* SPDX-License-Identifier: Apache-2.0 */
/* gen, in-process: its counts, time stamps and buffers. The octets of its frames are compared with
 * Scapy's in tests/dataplane/test_gen.py. */
#include <string.h>
#include <rte_cycles.h>

#include "core/tsc.h"
#include "gen_bench.h"

#define RING_FRAMES 1023 /* what a net_ring holds */

static void
test_counts_are_exact(void)
{
	struct bench bench = gen_up("flows = 64\n");
	const struct task_stats *stats = &bench_task(&bench, "gen")->stats;
	uint64_t received;

	CHECK_EQ(gen_control(&bench, "start", "rate_fps=1234567.5,duration_ns=20000000,trial=3"),
		 0);
	received = gen_run_out(&bench);
	/* 24691.35 frames. */
	CHECK_EQ(figure(&bench, "gen", "intended"), 24691);
	CHECK_EQ(figure(&bench, "gen", "offered") + figure(&bench, "gen", "unsent"), 24691);
	CHECK_EQ(figure(&bench, "gen", "offered"), received);
	CHECK_EQ(figure(&bench, "gen", "trial"), 3);
	CHECK_EQ(stats->tx, received);
	CHECK_EQ(stats->rx_bytes, received * 64);
	CHECK_EQ(stats->tx_bytes, received * 64);
	check_closes(stats);
	bench_down(&bench);
}

/* A ring that is full is the SUT's loss: the frames are offered, their numbers are used up. */
static void
test_refused_frames_are_offered(void)
{
	struct bench bench = gen_up("");
	const struct task_stats *stats = &bench_task(&bench, "gen")->stats;
	struct stamp stamp;

	CHECK_EQ(gen_control(&bench, "start", ""), 0);
	bench_poll(&bench, 100);
	CHECK_EQ(stats->rx, 3200);
	CHECK_EQ(stats->tx, RING_FRAMES);
	CHECK_EQ(stats->tx_fail, 3200 - RING_FRAMES);
	CHECK_EQ(stats->tx_bytes, 64 * RING_FRAMES);
	check_closes(stats);
	CHECK_EQ(figure(&bench, "gen", "offered"), 3200);
	CHECK_EQ(figure(&bench, "gen", "unsent"), 0);
	for (uint32_t i = 0; i < RING_FRAMES; i++) {
		CHECK_EQ(gen_receive(&bench, &stamp), 60);
		CHECK_EQ(stamp.sequence, i);
	}
	bench_poll(&bench, 1);
	CHECK_EQ(gen_receive(&bench, &stamp), 60);
	CHECK_EQ(stamp.sequence, 3200);
	bench_down(&bench);
}

/* Start a run that leaves the time, and run it to its end. Return whether its first frame was
 * ahead; it is not where the CPU was away for the 5 ms available. */
static bool
goes_ahead(struct bench *bench)
{
	const struct task_stats *stats = &bench_task(bench, "gen")->stats;
	uint64_t before = stats->tx, sent;
	bool ahead;

	CHECK_EQ(gen_control(bench, "start", "rate_fps=1e6,duration_ns=1000000,after_ns=20000000"),
		 0);
	while (stats->tx == before && figure(bench, "gen", "running") != 0)
		bench_poll(bench, 1);
	sent = stats->tx - before;
	ahead = figure(bench, "gen", "elapsed_ns") == 0;
	CHECK(!ahead || sent == 1);
	gen_run_out(bench);
	sent = stats->tx - before;
	CHECK_EQ(figure(bench, "gen", "intended"), 1000);
	CHECK_EQ(figure(bench, "gen", "offered"), sent);
	CHECK_EQ(figure(bench, "gen", "offered") + figure(bench, "gen", "unsent"), 1000);
	check_closes(stats);
	return ahead;
}

static void
test_the_first_frame_goes_ahead(void)
{
	struct bench bench = gen_up("");
	const struct task_stats *stats = &bench_task(&bench, "gen")->stats;
	unsigned int tries = 0;
	uint64_t sent;

	while (!goes_ahead(&bench))
		CHECK(++tries < 50);

	/* A single frame is sent when it is due. */
	bench_drain(&bench, "out");
	sent = stats->tx;
	CHECK_EQ(gen_control(&bench, "start", "rate_fps=1e6,duration_ns=1000,after_ns=6000000"), 0);
	while (figure(&bench, "gen", "running") != 0) {
		CHECK(stats->tx == sent || figure(&bench, "gen", "elapsed_ns") > 0);
		bench_poll(&bench, 1);
	}
	CHECK_EQ(figure(&bench, "gen", "intended"), 1);
	bench_down(&bench);
}

static void
test_flows_take_turns(void)
{
	struct bench bench = gen_up("flows = 5\nstream = 9\n");
	struct stamp stamp;

	CHECK_EQ(gen_control(&bench, "start", "trial=200"), 0);
	bench_poll(&bench, 3);
	for (uint32_t i = 0; i < 96; i++) {
		CHECK_EQ(gen_receive(&bench, &stamp), 60);
		CHECK_EQ(stamp.stream, 9);
		CHECK_EQ(stamp.trial, 200);
		CHECK_EQ(stamp.flow, i % 5);
		CHECK_EQ(stamp.sequence, i / 5);
	}
	bench_down(&bench);
}

/* The stamp is taken within the poll that hands the frame over, and handover_max_ns bounds how long
 * before: the error that docs/explanation/generator.md states. */
static void
test_time_stamp_error_is_bounded(void)
{
	struct bench bench = gen_up("");
	double ns_per_cycle = 1e9 / (double)tsc_hz();
	uint64_t longest = 0, before, after, bound;
	struct stamp stamp;

	CHECK_EQ(gen_control(&bench, "start", ""), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		before = rte_rdtsc();
		bench_poll(&bench, 1);
		after = rte_rdtsc();
		CHECK_EQ(gen_receive(&bench, &stamp), 60);
		CHECK(stamp.tsc >= (before & STAMP_TSC_MASK));
		CHECK(stamp.tsc <= (after & STAMP_TSC_MASK));
		longest = RTE_MAX(longest, after - before);
		bench_drain(&bench, "out");
	}
	bound = figure(&bench, "gen", "handover_max_ns");
	CHECK(bound > 0);
	CHECK((double)bound <= (double)longest * ns_per_cycle);
	bench_down(&bench);
}

/* Fill every buffer of a pool, and what sending leaves alone of its mbuf, with rubbish. */
static void
soil(struct rte_mempool *pool)
{
	struct rte_mbuf *mbufs[POOL_MBUFS];
	unsigned int n = 0;

	while (n < POOL_MBUFS && (mbufs[n] = rte_pktmbuf_alloc(pool)) != NULL) {
		memset(mbufs[n]->buf_addr, 0xa5, mbufs[n]->buf_len);
		mbufs[n]->data_off = 3;
		mbufs[n]->pkt_len = mbufs[n]->data_len = 77;
		mbufs[n]->vlan_tci = 5;
		mbufs[n]->ol_flags = RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IP_CKSUM;
		n++;
	}
	CHECK_EQ(n, POOL_MBUFS);
	rte_pktmbuf_free_bulk(mbufs, n);
}

/* Frames made into buffers that were full of something else are the same as any. */
static void
test_recycled_buffers(void)
{
	static const char *const keys[] = {"frame = 64\n", "frame = 100\n", "frame = 9216\n"};

	for (unsigned int i = 0; i < RTE_DIM(keys); i++) {
		struct bench bench = gen_up(keys[i]);
		struct rte_mempool *pool = bench_task(&bench, "gen")->pool;
		uint8_t fresh[9212], recycled[9212];
		uint32_t length;

		CHECK_EQ(gen_control(&bench, "start", ""), 0);
		bench_poll(&bench, 1);
		length = bench_receive(&bench, "out", fresh, sizeof(fresh));
		bench_drain(&bench, "out");
		CHECK_EQ(gen_control(&bench, "stop", ""), 0);
		soil(pool);
		CHECK_EQ(gen_control(&bench, "start", ""), 0);
		bench_poll(&bench, 1);
		CHECK_EQ(bench_receive(&bench, "out", recycled, sizeof(recycled)), length);
		/* Only the time has passed. */
		memcpy(recycled + STAMP_AT + 10, fresh + STAMP_AT + 10, 8);
		CHECK_EQ(memcmp(fresh, recycled, length), 0);
		bench_down(&bench);
	}
}

/* Without mbufs frames stay due, and count as unsent when they cannot be caught up with. */
static void
test_empty_pool(void)
{
	struct bench bench = gen_up("catchup_ns = 0\n");
	struct rte_mempool *pool = bench_task(&bench, "gen")->pool;
	struct rte_mbuf *taken[POOL_MBUFS];
	unsigned int n = 0;

	while (n < RTE_DIM(taken) && (taken[n] = rte_pktmbuf_alloc(pool)) != NULL)
		n++;
	CHECK_EQ(gen_control(&bench, "start", "rate_fps=1000000,duration_ns=1000000"), 0);
	while (figure(&bench, "gen", "elapsed_ns") < 1000000)
		bench_poll(&bench, 1);
	CHECK_EQ(figure(&bench, "gen", "offered"), 0);
	CHECK(figure(&bench, "gen", "pool_empty") > 0);
	rte_pktmbuf_free_bulk(taken, n);
	gen_run_out(&bench);
	CHECK_EQ(figure(&bench, "gen", "intended"), 1000);
	CHECK(figure(&bench, "gen", "unsent") > 900);
	CHECK_EQ(figure(&bench, "gen", "offered") + figure(&bench, "gen", "unsent"), 1000);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_counts_are_exact();
	test_refused_frames_are_offered();
	test_the_first_frame_goes_ahead();
	test_flows_take_turns();
	test_time_stamp_error_is_bounded();
	test_recycled_buffers();
	test_empty_pool();
	return 0;
}
