/* SPDX-License-Identifier: Apache-2.0 */
#include "sink_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rte_cycles.h>

#include "pktlib/frame_size.h"
#include "pktlib/window_log.h"

struct bench sink_bench;

static void
sink_up(const char *keys)
{
	char ini[1024];

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 2048\ncache = 0\n[port.in]\ndevice = net_ring0\n"
		 "[task.sink]\ntype = sink\nlcore = 1\nrx = in:0\nstream = 7\nflows = 4\n%s",
		 keys);
	sink_bench = bench_up(ini);
}

int
sink_control(const char *verb, const char *args)
{
	struct task *task = bench_task(&sink_bench, "sink");

	return task->ops->control(task, verb, args);
}

void
sink_start(const char *keys)
{
	sink_up(keys);
	CHECK_EQ(sink_control("start", "rate_fps=5,duration_ns=7,trial=3"), 0);
}

/* The counts of every frame add up to those that the task consumed. */
void
sink_down(void)
{
	static const char *const parts[] = {"received", "duplicated", "too_late",   "foreign",
					    "stale",    "corrupt",    "misdirected"};
	const struct task_stats *stats = &bench_task(&sink_bench, "sink")->stats;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RTE_DIM(parts); i++)
		sum += figure(&sink_bench, "sink", parts[i]);
	CHECK_EQ(sum, stats->handled);
	check_closes(stats);
	bench_down(&sink_bench);
}

/* Not inlined: knowing the buffer's size but not the frame's, GCC 14 warns of the copies of longer frames. */
__attribute__((noinline)) void
sink_craft_with(uint8_t *octets, uint8_t version, uint8_t tags, unsigned int bytes,
		const struct stamp *stamp)
{
	static uint8_t room[FRAME_ROOM(FRAME_MAX_BYTES)] __attribute__((aligned(64)));
	struct frame_spec spec = {
		.ip_version = version,
		.nb_tags = tags,
		.outer_tpid = TPID_QINQ,
		.vlan = 100,
		.inner_vlan = 200,
		.src_port = 1024,
		.dst_port = 7,
		.stamped = true,
	};
	struct frame_template t;
	struct fault why;

	CHECK_EQ(frame_template_build(&t, &spec, FLOW_SRC_PORT, bytes, room, &why), 0);
	frame_write(octets, &t, t.checksum, 0,
		    stamp_identity(stamp->stream, stamp->flow, stamp->sequence),
		    stamp_moment(stamp->trial, stamp->tsc));
}

void
sink_craft(uint8_t *octets, uint32_t flow, uint32_t sequence)
{
	const struct stamp stamp = {STREAM, TRIAL, flow, sequence, rte_rdtsc()};

	sink_craft_with(octets, 4, 0, 64, &stamp);
}

void
sink_put(const uint8_t *octets, uint16_t len)
{
	CHECK(bench_send(&sink_bench, "in", octets, len));
	bench_poll(&sink_bench, 1);
}

void
sink_deliver(uint32_t flow, uint32_t sequence)
{
	uint8_t octets[FRAME_ROOM(LEN)];

	sink_craft(octets, flow, sequence);
	sink_put(octets, LEN);
}

uint64_t
sink_windows_sum(void)
{
	static char text[WINDOW_LOG_BINS_MAX * 4];
	struct task *task = bench_task(&sink_bench, "sink");
	char path[] = "/tmp/wsdp-windows-XXXXXX", *at;
	int fd = mkstemp(path);
	uint64_t sum = 0;
	FILE *file;

	CHECK(fd >= 0);
	CHECK_EQ(task->ops->export(task, "windows", path), 0);
	file = fdopen(fd, "r");
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	at = strstr(text, "\"frames\": [");
	CHECK(at != NULL);
	for (at += strlen("\"frames\": ["); *at != ']'; at += *at == ',')
		sum += strtoull(at, &at, 10);
	return sum;
}

void
sink_check(const char *name, uint64_t expected)
{
	uint64_t seen = figure(&sink_bench, "sink", name);

	if (seen != expected)
		fprintf(stderr, "%s:\n", name);
	CHECK_EQ(seen, expected);
}
