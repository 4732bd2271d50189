/* SPDX-License-Identifier: Apache-2.0 */
#include "gen_bench.h"

#include <stdio.h>

struct bench
gen_up(const char *keys)
{
	char ini[1024];

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 4095\ncache = 0\n[port.out]\ndevice = net_ring0\nmtu = 9198\n"
		 "[task.gen]\ntype = gen\nlcore = 1\ntx = out:0\n%s",
		 keys);
	return bench_up(ini);
}

int
gen_control(struct bench *bench, const char *verb, const char *args)
{
	struct task *task = bench_task(bench, "gen");

	return task->ops->control(task, verb, args);
}

uint32_t
gen_receive(struct bench *bench, struct stamp *stamp)
{
	uint8_t octets[9212];
	uint32_t length = bench_receive(bench, "out", octets, sizeof(octets));

	if (length != 0)
		CHECK(stamp_read(octets + STAMP_AT, stamp));
	return length;
}

uint64_t
gen_run_out(struct bench *bench)
{
	uint64_t received = 0;

	while (figure(bench, "gen", "running") != 0) {
		bench_poll(bench, 10);
		received += bench_drain(bench, "out");
	}
	return received;
}

unsigned int
gen_faults(const char *keys, const char *says)
{
	char ini[1024];

	snprintf(ini, sizeof(ini),
		 "[port.out]\ndevice = net_ring0\n[task.gen]\ntype = gen\nlcore = 1\n"
		 "tx = out:0\n%s",
		 keys);
	return harness_faults(ini, says);
}
