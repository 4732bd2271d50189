/* SPDX-License-Identifier: Apache-2.0 */
/* gen into sink: every frame that was sent is received, whatever it looks like. */
#include <stdio.h>

#include "sink_bench.h"

static void
test_what_gen_sends(void)
{
	static const char *const keys[] = {
		"frame = 64\nflows = 1000\n",
		"frame = aaaaaaaddddg\nvlan = 5\nflows = 7\n",
		"frame = 84\nip = 6\nflow_field = dst_ip\nflows = 1000\n",
		"frame = dh\nip = 6\nvlan = 5\ninner_vlan = 6\nflow_field = src_mac\nflows = 9\n",
	};

	for (unsigned int i = 0; i < RTE_DIM(keys); i++) {
		char ini[1024];
		struct task *gen, *sink;
		uint64_t sent;

		snprintf(ini, sizeof(ini),
			 "[pool]\nmbufs = 4096\n[ring.a]\nsize = 1024\n"
			 "[task.gen]\ntype = gen\nlcore = 1\ntx = ring:a\nstream = 7\n%s"
			 "[task.sink]\ntype = sink\nlcore = 1\nrx = ring:a\nstream = 7\n"
			 "flows = 1000\n",
			 keys[i]);
		sink_bench = bench_up(ini);
		gen = bench_task(&sink_bench, "gen");
		sink = bench_task(&sink_bench, "sink");
		CHECK_EQ(sink->ops->control(sink, "start", "trial=9"), 0);
		CHECK_EQ(gen->ops->control(gen, "start", "trial=9"), 0);
		bench_poll(&sink_bench, 1000);
		CHECK_EQ(gen->ops->control(gen, "stop", ""), 0);
		bench_poll(&sink_bench, 10);
		sent = gen->stats.tx;
		CHECK_EQ(sent, 32000);
		sink_check("received", sent);
		sink_check("lost", 0);
		sink_check("duplicated", 0);
		sink_check("reordered", 0);
		sink_check("unstamped", i == 1 ? sent / 12 * 7 + 7 : 0);
		sink_check("latency_count", sent - figure(&sink_bench, "sink", "unstamped"));
		sink_check("clock_behind", 0);
		sink_down();
	}
}

int
main(void)
{
	harness_start();
	test_what_gen_sends();
	return 0;
}
