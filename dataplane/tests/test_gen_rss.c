/* SPDX-License-Identifier: Apache-2.0 */
/* Several gens that share the flows of one stream as a NIC's queues would. That the hash is a NIC's is
 * tested on the frames themselves, in tests/dataplane/test_rss.py. */
#include <errno.h>
#include <string.h>

#include "gen_bench.h"

#define QUEUES 4
#define FLOWS 1000

/* One gen a queue, each into a port of its own. */
static struct bench
senders(const char *keys)
{
	char ini[4096];
	size_t at = (size_t)snprintf(ini, sizeof(ini), "[pool]\nmbufs = 8191\ncache = 0\n");

	for (unsigned int i = 0; i < QUEUES; i++)
		at += (size_t)snprintf(ini + at, sizeof(ini) - at,
				       "[port.p%u]\ndevice = net_ring%u\n"
				       "[task.gen%u]\ntype = gen\nlcore = 1\ntx = p%u:0\n"
				       "stream = %u\nrss_queues = %u\nrss_queue = %u\n%s",
				       i, i, i, i, i, QUEUES, i, keys);
	return bench_up(ini);
}

static int
control(struct bench *bench, unsigned int i, const char *verb, const char *args)
{
	char name[8];
	struct task *task;

	snprintf(name, sizeof(name), "gen%u", i);
	task = bench_task(bench, name);
	return task->ops->control(task, verb, args);
}

static uint64_t
figure_of(struct bench *bench, unsigned int i, const char *name)
{
	char task[8];

	snprintf(task, sizeof(task), "gen%u", i);
	return figure(bench, task, name);
}

/* Every flow has one sender, and each sender's flows take turns. */
static void
test_each_flow_has_one_sender(void)
{
	struct bench bench = senders("flows = 1000\n");
	bool sent[FLOWS] = {false};
	uint64_t all = 0;

	for (unsigned int i = 0; i < QUEUES; i++) {
		uint64_t own = figure_of(&bench, i, "flows_own");
		char port[4];

		snprintf(port, sizeof(port), "p%u", i);
		CHECK(own > FLOWS / QUEUES / 2 && own < FLOWS / QUEUES * 2);
		all += own;
		CHECK_EQ(control(&bench, i, "start", "trial=1"), 0);
		bench_poll(&bench, 2 * FLOWS / QUEUES * 2 / 32);
		for (uint64_t n = 0; n < 2 * own; n++) {
			uint8_t octets[64];
			struct stamp stamp;

			CHECK_EQ(bench_receive(&bench, port, octets, sizeof(octets)), 60);
			CHECK(stamp_read(octets + STAMP_AT, &stamp));
			CHECK_EQ(stamp.stream, i);
			CHECK(stamp.flow < FLOWS);
			CHECK_EQ(stamp.sequence, n / own);
			CHECK_EQ(sent[stamp.flow], n >= own);
			sent[stamp.flow] = true;
		}
		CHECK_EQ(control(&bench, i, "stop", ""), 0);
		bench_drain(&bench, port);
	}
	CHECK_EQ(all, FLOWS);
	bench_down(&bench);
}

/* Each gets the load divided by the senders, and sends its flows' share of the whole. */
static void
test_load_is_shared_by_flows(void)
{
	struct bench bench = senders("flows = 1000\nrate_fps = 500\n");
	uint64_t all = 0;

	for (unsigned int i = 0; i < QUEUES; i++) {
		uint64_t own = figure_of(&bench, i, "flows_own"), intended;

		CHECK_EQ(control(&bench, i, "start", "rate_fps=250000,duration_ns=1000000000"), 0);
		intended = figure_of(&bench, i, "intended");
		CHECK_EQ(intended, own * 1000);
		all += intended;
		CHECK_EQ(control(&bench, i, "stop", ""), 0);
		/* The rate of the file is shared as well, and so is one that is set. */
		CHECK_EQ(control(&bench, i, "start", "duration_ns=1000000000"), 0);
		CHECK_EQ(figure_of(&bench, i, "intended"), own * 2);
		CHECK_EQ(control(&bench, i, "stop", ""), 0);
		CHECK_EQ(control(&bench, i, "set", "rate_fps=750,duration_ns=1000000000"), 0);
		CHECK_EQ(control(&bench, i, "start", ""), 0);
		CHECK_EQ(figure_of(&bench, i, "intended"), own * 3);
		CHECK_EQ(control(&bench, i, "stop", ""), 0);
	}
	CHECK_EQ(all, 1000000);
	bench_down(&bench);
}

/* MACs are not hashed: one queue gets all flows. The others send nothing, at any load, and that is no
 * error. */
static void
test_a_queue_without_flows_sends_nothing(void)
{
	static const char *const loads[] = {"", "rate_fps=1e6", "rate_fps=1e6,duration_ns=1000000"};
	struct bench bench = senders("flows = 50\nflow_field = src_mac\n");
	unsigned int idle = 0;

	for (unsigned int i = 0; i < QUEUES; i++) {
		const struct task_stats *stats = &bench.app->tasks[i].task.stats;

		if (figure_of(&bench, i, "flows_own") != 0) {
			CHECK_EQ(figure_of(&bench, i, "flows_own"), 50);
			continue;
		}
		idle++;
		for (unsigned int load = 0; load < RTE_DIM(loads); load++) {
			CHECK_EQ(control(&bench, i, "start", loads[load]), 0);
			bench_poll(&bench, 10);
			CHECK_EQ(figure_of(&bench, i, "running"), 0);
			CHECK_EQ(figure_of(&bench, i, "intended"), 0);
			CHECK_EQ(control(&bench, i, "stop", ""), 0);
		}
		CHECK_EQ(stats->rx, 0);
	}
	CHECK_EQ(idle, QUEUES - 1);
	bench_down(&bench);
}

static void
test_bad_arguments(void)
{
	gen_faults("rss_queues = 4\n", "rss_queue: this key is required");
	gen_faults("rss_queue = 4\n", "rss_queues: this key is required");
	gen_faults("rss_queues = 4\nrss_queue = 4\n", "a whole number from 0 to 3");
	gen_faults("rss_queues = 65\nrss_queue = 4\n", "a whole number from 1 to 64");
	gen_faults("pcap = /no/such\nrss_queues = 4\nrss_queue = 1\n", "no meaning next to pcap");
}

int
main(void)
{
	harness_start();
	test_each_flow_has_one_sender();
	test_load_is_shared_by_flows();
	test_a_queue_without_flows_sends_nothing();
	test_bad_arguments();
	return 0;
}
