/* SPDX-License-Identifier: Apache-2.0 */
/* gen, in-process: its counts, time stamps and control. The octets of its frames are compared with
 * Scapy's in tests/dataplane/test_gen.py. */
#include <errno.h>
#include <string.h>
#include <rte_cycles.h>

#include "core/tsc.h"
#include "figures.h"
#include "pktlib/stamp.h"

#define POOL_MBUFS 4095
#define STAMP_AT 42      /* IPv4 without tags */
#define RING_FRAMES 1023 /* what a net_ring holds */

static struct bench
generator(const char *keys)
{
	char ini[1024];

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 4095\ncache = 0\n[port.out]\ndevice = net_ring0\nmtu = 9198\n"
		 "[task.gen]\ntype = gen\nlcore = 1\ntx = out:0\n%s",
		 keys);
	return bench_up(ini);
}

static int
control(struct bench *bench, const char *verb, const char *args)
{
	struct task *task = bench_task(bench, "gen");

	return task->ops->control(task, verb, args);
}

/* Receive a frame and its stamp. */
static uint32_t
receive(struct bench *bench, struct stamp *stamp)
{
	uint8_t octets[9212];
	uint32_t length = bench_receive(bench, "out", octets, sizeof(octets));

	if (length != 0)
		CHECK(stamp_read(octets + STAMP_AT, stamp));
	return length;
}

/* Poll and drain until the run is over; returns how many frames came out. */
static uint64_t
run_out(struct bench *bench)
{
	uint64_t received = 0;

	while (figure(bench, "gen", "running") != 0) {
		bench_poll(bench, 10);
		received += bench_drain(bench, "out");
	}
	return received;
}

static void
test_counts_are_exact(void)
{
	struct bench bench = generator("flows = 64\n");
	const struct task_stats *stats = &bench_task(&bench, "gen")->stats;
	uint64_t received;

	CHECK_EQ(control(&bench, "start", "rate_fps=1234567.5,duration_ns=20000000,trial=3"), 0);
	received = run_out(&bench);
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
	struct bench bench = generator("");
	const struct task_stats *stats = &bench_task(&bench, "gen")->stats;
	struct stamp stamp;

	CHECK_EQ(control(&bench, "start", ""), 0);
	bench_poll(&bench, 100);
	CHECK_EQ(stats->rx, 3200);
	CHECK_EQ(stats->tx, RING_FRAMES);
	CHECK_EQ(stats->tx_fail, 3200 - RING_FRAMES);
	CHECK_EQ(stats->tx_bytes, 64 * RING_FRAMES);
	check_closes(stats);
	CHECK_EQ(figure(&bench, "gen", "offered"), 3200);
	CHECK_EQ(figure(&bench, "gen", "unsent"), 0);
	for (uint32_t i = 0; i < RING_FRAMES; i++) {
		CHECK_EQ(receive(&bench, &stamp), 60);
		CHECK_EQ(stamp.sequence, i);
	}
	bench_poll(&bench, 1);
	CHECK_EQ(receive(&bench, &stamp), 60);
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

	CHECK_EQ(control(bench, "start", "rate_fps=1e6,duration_ns=1000000,after_ns=20000000"), 0);
	while (stats->tx == before && figure(bench, "gen", "running") != 0)
		bench_poll(bench, 1);
	sent = stats->tx - before;
	ahead = figure(bench, "gen", "elapsed_ns") == 0;
	CHECK(!ahead || sent == 1);
	run_out(bench);
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
	struct bench bench = generator("");
	const struct task_stats *stats = &bench_task(&bench, "gen")->stats;
	unsigned int tries = 0;
	uint64_t sent;

	while (!goes_ahead(&bench))
		CHECK(++tries < 50);

	/* A single frame is sent when it is due. */
	bench_drain(&bench, "out");
	sent = stats->tx;
	CHECK_EQ(control(&bench, "start", "rate_fps=1e6,duration_ns=1000,after_ns=6000000"), 0);
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
	struct bench bench = generator("flows = 5\nstream = 9\n");
	struct stamp stamp;

	CHECK_EQ(control(&bench, "start", "trial=200"), 0);
	bench_poll(&bench, 3);
	for (uint32_t i = 0; i < 96; i++) {
		CHECK_EQ(receive(&bench, &stamp), 60);
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
	struct bench bench = generator("");
	double ns_per_cycle = 1e9 / (double)tsc_hz();
	uint64_t longest = 0, before, after, bound;
	struct stamp stamp;

	CHECK_EQ(control(&bench, "start", ""), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		before = rte_rdtsc();
		bench_poll(&bench, 1);
		after = rte_rdtsc();
		CHECK_EQ(receive(&bench, &stamp), 60);
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
		struct bench bench = generator(keys[i]);
		struct rte_mempool *pool = bench_task(&bench, "gen")->pool;
		uint8_t fresh[9212], recycled[9212];
		uint32_t length;

		CHECK_EQ(control(&bench, "start", ""), 0);
		bench_poll(&bench, 1);
		length = bench_receive(&bench, "out", fresh, sizeof(fresh));
		bench_drain(&bench, "out");
		CHECK_EQ(control(&bench, "stop", ""), 0);
		soil(pool);
		CHECK_EQ(control(&bench, "start", ""), 0);
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
	struct bench bench = generator("catchup_ns = 0\n");
	struct rte_mempool *pool = bench_task(&bench, "gen")->pool;
	struct rte_mbuf *taken[POOL_MBUFS];
	unsigned int n = 0;

	while (n < RTE_DIM(taken) && (taken[n] = rte_pktmbuf_alloc(pool)) != NULL)
		n++;
	CHECK_EQ(control(&bench, "start", "rate_fps=1000000,duration_ns=1000000"), 0);
	while (figure(&bench, "gen", "elapsed_ns") < 1000000)
		bench_poll(&bench, 1);
	CHECK_EQ(figure(&bench, "gen", "offered"), 0);
	CHECK(figure(&bench, "gen", "pool_empty") > 0);
	rte_pktmbuf_free_bulk(taken, n);
	run_out(&bench);
	CHECK_EQ(figure(&bench, "gen", "intended"), 1000);
	CHECK(figure(&bench, "gen", "unsent") > 900);
	CHECK_EQ(figure(&bench, "gen", "offered") + figure(&bench, "gen", "unsent"), 1000);
	bench_down(&bench);
}

static void
test_control(void)
{
	struct bench bench = generator("rate_fps = 1000\n");

	CHECK_EQ(figure(&bench, "gen", "running"), 0);
	CHECK_EQ(control(&bench, "start", "rate_fps=x"), -EINVAL);
	CHECK_EQ(control(&bench, "start", "rate_fps=-1"), -EINVAL);
	CHECK_EQ(control(&bench, "start", "rate_fps=nan"), -EINVAL);
	CHECK_EQ(control(&bench, "start", "speed=1"), -EINVAL);
	CHECK_EQ(control(&bench, "start", "trial=256"), -ERANGE);
	CHECK_EQ(control(&bench, "pause", ""), -ENOTSUP);
	CHECK_EQ(figure(&bench, "gen", "running"), 0);
	CHECK_EQ(control(&bench, "start", "duration_ns=1000000000"), 0);
	CHECK_EQ(control(&bench, "start", ""), -EBUSY);
	CHECK_EQ(figure(&bench, "gen", "intended"), 1000);
	CHECK_EQ(control(&bench, "stop", ""), 0);
	CHECK_EQ(control(&bench, "stop", ""), 0);
	CHECK_EQ(figure(&bench, "gen", "running"), 0);
	/* Frames that were cut off are no longer intended. */
	CHECK_EQ(figure(&bench, "gen", "intended"),
		 figure(&bench, "gen", "offered") + figure(&bench, "gen", "unsent"));
	bench_down(&bench);
}

/* Another rate in the middle of a run: counts and sequence numbers go on, and still close. */
static void
test_set_while_running(void)
{
	/* All is caught up with, or a pause of the machine could end the run before its 500th frame. */
	struct bench bench = generator("rate_fps = 1000000\nduration_ns = 50000000\n"
				       "catchup_ns = 60000000000\n");
	struct stamp stamp;
	uint64_t expected = 0, offered;

	CHECK_EQ(control(&bench, "start", ""), 0);
	while (figure(&bench, "gen", "offered") < 500)
		bench_poll(&bench, 1);
	CHECK_EQ(control(&bench, "set", "rate_fps=2000000"), 0);
	while (figure(&bench, "gen", "running") != 0) {
		bench_poll(&bench, 1);
		while (receive(&bench, &stamp) != 0)
			CHECK_EQ(stamp.sequence, expected++);
	}
	offered = figure(&bench, "gen", "offered");
	CHECK_EQ(offered, expected);
	CHECK_EQ(figure(&bench, "gen", "intended"), offered + figure(&bench, "gen", "unsent"));
	/* It went on; how far depends on when the machine let the new rate take effect. */
	CHECK(offered > 500);
	bench_down(&bench);
}

static void
test_set_for_the_next_run(void)
{
	struct bench bench = generator("rate_fps = 1000000\n");

	CHECK_EQ(control(&bench, "set", "rate_fps=500000.5,duration_ns=1000000,burst=1"), 0);
	CHECK_EQ(control(&bench, "start", ""), 0);
	run_out(&bench);
	CHECK_EQ(figure(&bench, "gen", "intended"), 500);
	bench_down(&bench);
}

static void
test_percent_of_a_link(void)
{
	/* 12 frames of an IMIX of (7 x 64 + 4 x 512 + 1518) octets, 20 more each: 4,254 octets. */
	struct bench bench = generator("frame = aaaaaaaddddg\nrate_percent = 10\nlink_bps = 1e9\n");

	CHECK_EQ(control(&bench, "start", "duration_ns=1000000000"), 0);
	CHECK_EQ(figure(&bench, "gen", "intended"), (1000000000 / 10 * 12 + 17016) / 34032);
	bench_down(&bench);
}

static void
check_refused(const char *keys, const char *expected)
{
	char ini[1024];
	struct bench bench;
	char *lcores = (char *)"--lcores=as the harness did";

	snprintf(ini, sizeof(ini),
		 "[port.out]\ndevice = net_ring0\n[task.gen]\ntype = gen\nlcore = 1\n"
		 "tx = out:0\n%s",
		 keys);
	bench.config = harness_config(ini);
	bench.app = app_parse(bench.config, 1, &lcores);
	if (config_fault_count(bench.config) == 0 ||
	    strstr(config_fault_text(bench.config, 0), expected) == NULL)
		fprintf(stderr, "%s: does not say \"%s\"\n", keys, expected);
	CHECK_EQ(config_fault_count(bench.config), 1);
	CHECK(strstr(config_fault_text(bench.config, 0), expected) != NULL);
	app_free(bench.app);
	config_free(bench.config);
}

static void
test_bad_arguments(void)
{
	check_refused("frame = 63\n", "64 to 9216");
	check_refused("frame = aag!\n", "letters a to h");
	check_refused("frame = 64\nip = 6\n", "needs 66 octets");
	check_refused("frame = 69\nip = 6\nvlan = 5\n", "needs 70 octets");
	check_refused("ip = 5\n", "must be one of: 4, 6");
	check_refused("src_ip = 2001:2::1\n", "must be an IPv4 address");
	check_refused("vlan = 4095\n", "1 to 4094");
	check_refused("inner_vlan = 7\n", "needs vlan");
	check_refused("vlan = 7\nouter_tpid = 0x8100\n", "needs inner_vlan");
	check_refused("src_mac = 01:00:00:00:00:00\n", "group address");
	check_refused("flows = 1000001\n", "1 to 1000000");
	check_refused("flows = 64513\n", "64512 values");
	check_refused("flow_field = vlan\n", "no VLAN tag");
	check_refused("flow_field = ttl\n", "must be src_ip");
	check_refused("vlan = 4000\nflows = 96\nflow_field = vlan\n", "95 values");
	check_refused("burst = 65\n", "1 to 64");
	check_refused("rate_fps = -1\n", "rate_fps");
	check_refused("rate_percent = 50\n", "link_bps");
	check_refused("rate_percent = 50\nlink_bps = 1e9\nrate_fps = 5\n", "excludes rate_fps");
	check_refused("pcap = /nonexistent.pcap\n", "No such file");
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
	test_control();
	test_set_while_running();
	test_set_for_the_next_run();
	test_percent_of_a_link();
	test_bad_arguments();
	return 0;
}
