/* SPDX-License-Identifier: Apache-2.0 */
/* gen, in-process: its requests, rates and arguments. */
#include <errno.h>

#include "gen_bench.h"

static void
test_control(void)
{
	struct bench bench = gen_up("rate_fps = 1000\n");

	CHECK_EQ(figure(&bench, "gen", "running"), 0);
	CHECK_EQ(gen_control(&bench, "start", "rate_fps=x"), -EINVAL);
	CHECK_EQ(gen_control(&bench, "start", "rate_fps=-1"), -EINVAL);
	CHECK_EQ(gen_control(&bench, "start", "rate_fps=nan"), -EINVAL);
	CHECK_EQ(gen_control(&bench, "start", "speed=1"), -EINVAL);
	CHECK_EQ(gen_control(&bench, "start", "trial=256"), -ERANGE);
	CHECK_EQ(gen_control(&bench, "pause", ""), -ENOTSUP);
	CHECK_EQ(figure(&bench, "gen", "running"), 0);
	CHECK_EQ(gen_control(&bench, "start", "duration_ns=1000000000"), 0);
	CHECK_EQ(gen_control(&bench, "start", ""), -EBUSY);
	CHECK_EQ(figure(&bench, "gen", "intended"), 1000);
	CHECK_EQ(gen_control(&bench, "stop", ""), 0);
	CHECK_EQ(gen_control(&bench, "stop", ""), 0);
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
	struct bench bench = gen_up("rate_fps = 1000000\nduration_ns = 50000000\n"
				    "catchup_ns = 60000000000\n");
	struct stamp stamp;
	uint64_t expected = 0, offered;

	CHECK_EQ(gen_control(&bench, "start", ""), 0);
	while (figure(&bench, "gen", "offered") < 500)
		bench_poll(&bench, 1);
	CHECK_EQ(gen_control(&bench, "set", "rate_fps=2000000"), 0);
	while (figure(&bench, "gen", "running") != 0) {
		bench_poll(&bench, 1);
		while (gen_receive(&bench, &stamp) != 0)
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
	struct bench bench = gen_up("rate_fps = 1000000\n");

	CHECK_EQ(gen_control(&bench, "set", "rate_fps=500000.5,duration_ns=1000000,burst=1"), 0);
	CHECK_EQ(gen_control(&bench, "start", ""), 0);
	gen_run_out(&bench);
	CHECK_EQ(figure(&bench, "gen", "intended"), 500);
	bench_down(&bench);
}

static void
test_percent_of_a_link(void)
{
	/* 12 frames of an IMIX of (7 x 64 + 4 x 512 + 1518) octets, 20 more each: 4,254 octets. */
	struct bench bench = gen_up("frame = aaaaaaaddddg\nrate_percent = 10\nlink_bps = 1e9\n");

	CHECK_EQ(gen_control(&bench, "start", "duration_ns=1000000000"), 0);
	CHECK_EQ(figure(&bench, "gen", "intended"), (1000000000 / 10 * 12 + 17016) / 34032);
	bench_down(&bench);
}

static void
check_refused(const char *keys, const char *expected)
{
	CHECK_EQ(gen_faults(keys, expected), 1);
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
	test_control();
	test_set_while_running();
	test_set_for_the_next_run();
	test_percent_of_a_link();
	test_bad_arguments();
	return 0;
}
