/* SPDX-License-Identifier: Apache-2.0 */
/* sink against crafted frames: whatever can be wrong with one, and what is said about it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_cycles.h>

#include "core/tsc.h"
#include "figures.h"
#include "pktlib/frame.h"
#include "pktlib/frame_size.h"
#include "pktlib/pcap_file.h"

#define STREAM 7
#define TRIAL 3
#define FLOWS 4
#define LEN 60
#define L4_AT 34
#define STAMP_AT 42

static struct bench bench;

static void
up(const char *keys)
{
	char ini[1024];

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 2048\ncache = 0\n[port.in]\ndevice = net_ring0\n"
		 "[task.sink]\ntype = sink\nlcore = 1\nrx = in:0\nstream = 7\nflows = 4\n%s",
		 keys);
	bench = bench_up(ini);
}

static int
control(const char *verb, const char *args)
{
	struct task *task = bench_task(&bench, "sink");

	return task->ops->control(task, verb, args);
}

static void
start(const char *keys)
{
	up(keys);
	CHECK_EQ(control("start", "rate_fps=5,duration_ns=7,trial=3"), 0);
}

/* The counts of every frame add up to those that the task consumed. */
static void
down(void)
{
	static const char *const parts[] = {"received", "duplicated", "too_late",   "foreign",
					    "stale",    "corrupt",    "misdirected"};
	const struct task_stats *stats = &bench_task(&bench, "sink")->stats;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RTE_DIM(parts); i++)
		sum += figure(&bench, "sink", parts[i]);
	CHECK_EQ(sum, stats->handled);
	check_closes(stats);
	bench_down(&bench);
}

static void
craft_with(uint8_t *octets, uint8_t version, uint8_t tags, unsigned int bytes,
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

static void
craft(uint8_t *octets, uint32_t flow, uint32_t sequence)
{
	const struct stamp stamp = {STREAM, TRIAL, flow, sequence, rte_rdtsc()};

	craft_with(octets, 4, 0, 64, &stamp);
}

static void
put(const uint8_t *octets, uint16_t len)
{
	CHECK(bench_send(&bench, "in", octets, len));
	bench_poll(&bench, 1);
}

static void
deliver(uint32_t flow, uint32_t sequence)
{
	uint8_t octets[FRAME_ROOM(LEN)];

	craft(octets, flow, sequence);
	put(octets, LEN);
}

static void
check(const char *name, uint64_t expected)
{
	uint64_t seen = figure(&bench, "sink", name);

	if (seen != expected)
		fprintf(stderr, "%s:\n", name);
	CHECK_EQ(seen, expected);
}

static void
test_good_frames(void)
{
	start("");
	for (uint32_t i = 0; i < 40; i++)
		deliver(i % FLOWS, i / FLOWS);
	check("received", 40);
	check("lost", 0);
	check("duplicated", 0);
	check("reordered", 0);
	check("latency_count", 40);
	check("trial", TRIAL);
	down();
}

static void
test_lost_duplicated_reordered(void)
{
	start("");
	deliver(0, 2); /* 0 and 1 are missing */
	deliver(0, 1); /* late */
	deliver(0, 1); /* twice */
	deliver(1, 0);
	deliver(1, 3); /* 1 and 2 are missing */
	deliver(2, 5000);
	deliver(2, 10); /* older than the window */
	check("received", 5);
	check("lost", 1 + 2 + 5000);
	check("duplicated", 1);
	check("reordered", 1);
	check("too_late", 1);
	check("latency_count", 5);
	down();
}

static void
test_foreign_frames(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	struct stamp other = {STREAM + 1, TRIAL, 0, 0, 0};

	start("");
	craft_with(octets, 4, 0, 64, &other);
	put(octets, LEN);
	craft(octets, 0, 0);
	octets[STAMP_AT] ^= 1; /* no signature */
	put(octets, LEN);
	craft(octets, 0, 0);
	be16_store(octets + 12, 0x0806);
	put(octets, LEN);
	craft(octets, 0, 0);
	octets[14 + 9] = 6;
	put(octets, LEN);
	memset(octets, 0, sizeof(octets));
	put(octets, 14);
	check("foreign", 5);
	check("received", 0);
	check("lost", 0);
	down();
}

static void
test_stale_frames(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	struct stamp late = {STREAM, TRIAL - 1, 0, 1000, 0};

	start("");
	deliver(0, 0);
	craft_with(octets, 4, 0, 64, &late);
	put(octets, LEN);
	deliver(0, 1);
	check("stale", 1);
	check("received", 2);
	check("lost", 0);
	down();
}

static void
test_corrupt_frames(void)
{
	uint8_t octets[FRAME_ROOM(200)] = {0};

	start("");
	craft(octets, FLOWS, 0); /* a flow there is not */
	put(octets, LEN);
	craft(octets, 0, 0);
	be16_store(octets + 16, 47); /* the IP length is one too many */
	put(octets, LEN);
	craft(octets, 0, 0);
	be16_store(octets + L4_AT + 4, 25); /* UDP's does not fit IP's */
	put(octets, LEN);
	craft(octets, 0, 0);
	put(octets, 100); /* 40 octets more than there should be */
	check("corrupt", 4);
	check("received", 0);
	down();
}

/* With tags or IPv6 small frames have no room for a stamp: they count, and that is all. */
static void
test_unstamped_frames(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	struct stamp stamp = {STREAM, TRIAL, 0, 0, 0};

	start("");
	craft_with(octets, 4, 1, 64, &stamp);
	put(octets, LEN);
	craft_with(octets, 6, 0, 66, &stamp);
	put(octets, 62);
	check("unstamped", 2);
	check("received", 2);
	check("latency_count", 0);
	down();
}

static void
test_without_stamps_every_frame_counts(void)
{
	uint8_t octets[FRAME_ROOM(LEN)] = {0};

	start("stamp = no\n");
	put(octets, LEN);
	deliver(0, 5);
	check("received", 2);
	check("unstamped", 2);
	check("foreign", 0);
	check("lost", 0);
	down();
}

static void
test_every_encapsulation(void)
{
	uint8_t octets[FRAME_ROOM(1518)];
	uint32_t sequence = 0;

	start("");
	for (uint8_t version = 4; version <= 6; version += 2)
		for (uint8_t tags = 0; tags <= 2; tags++) {
			struct stamp stamp = {STREAM, TRIAL, 0, sequence++, rte_rdtsc()};
			unsigned int least = version == 4 ? 64 : 84;

			craft_with(octets, version, tags, least + 4 * tags, &stamp);
			put(octets, (uint16_t)(least + 4 * tags - FCS_BYTES));
			stamp.sequence = sequence++;
			craft_with(octets, version, tags, 1518, &stamp);
			put(octets, 1514);
		}
	check("received", 12);
	check("latency_count", 12);
	check("lost", 0);
	down();
}

static void
test_streams_have_flows_of_their_own(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];

	start("streams = 2\n");
	for (uint8_t stream = STREAM; stream < STREAM + 3; stream++)
		for (uint32_t flow = 0; flow < FLOWS; flow++) {
			struct stamp stamp = {stream, TRIAL, flow, 0, 0};

			craft_with(octets, 4, 0, 64, &stamp);
			put(octets, LEN);
		}
	check("received", 2 * FLOWS);
	check("duplicated", 0);
	check("foreign", FLOWS);
	down();
}

/* Latency is from the stamp to the poll that found the frame. */
static void
test_latency(void)
{
	double ns_per_cycle = 1e9 / (double)tsc_hz();
	struct stamp stamp = {STREAM, TRIAL, 0, 0, 0};
	uint8_t octets[FRAME_ROOM(LEN)];
	uint64_t before, after, ages[] = {1000, 100000, 10000000};

	start("");
	for (unsigned int i = 0; i < RTE_DIM(ages); i++) {
		double seen;

		CHECK_EQ(control("start", "trial=3"), 0);
		before = rte_rdtsc();
		stamp.tsc = (before - ages[i]) & STAMP_TSC_MASK;
		craft_with(octets, 4, 0, 64, &stamp);
		put(octets, LEN);
		after = rte_rdtsc();
		seen = (double)figure(&bench, "sink", "latency_max_ns");
		CHECK(seen + 1 >= (double)ages[i] * ns_per_cycle);
		CHECK(seen <= (double)(ages[i] + after - before) * ns_per_cycle);
		CHECK_EQ(figure(&bench, "sink", "latency_min_ns"), (uint64_t)seen);
		CHECK_EQ(figure(&bench, "sink", "latency_avg_ns"), (uint64_t)seen);
		CHECK((double)figure(&bench, "sink", "latency_p50_ns") >= seen);
		CHECK((double)figure(&bench, "sink", "latency_p50_ns") <= seen * 1.001);
	}
	bench_down(&bench);
}

static void
test_stamps_from_the_future(void)
{
	struct stamp stamp = {STREAM, TRIAL, 0, 0, 0};
	uint8_t octets[FRAME_ROOM(LEN)];

	start("");
	stamp.tsc = (rte_rdtsc() + tsc_hz() * 1000) & STAMP_TSC_MASK;
	craft_with(octets, 4, 0, 64, &stamp);
	put(octets, LEN);
	check("clock_behind", 1);
	check("latency_max_ns", 0);
	check("received", 1);
	down();
}

/* Many frames in one burst: runs of equal time stamps are counted together, each frame once. */
static void
test_bursts(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	uint64_t early, late = rte_rdtsc();

	start("");
	early = late - tsc_hz();
	for (uint32_t i = 0; i < 60; i++) {
		struct stamp stamp = {STREAM, TRIAL, 0, i, i < 20 || i == 50 ? early : late};

		craft_with(octets, 4, 0, 64, &stamp);
		CHECK(bench_send(&bench, "in", octets, LEN));
	}
	bench_poll(&bench, 1);
	check("received", 60);
	check("latency_count", 60);
	CHECK(figure(&bench, "sink", "latency_p50_ns") < 500000000);
	CHECK(figure(&bench, "sink", "latency_avg_ns") >= 350000000);
	CHECK(figure(&bench, "sink", "latency_p90_ns") >= 1000000000);
	CHECK(figure(&bench, "sink", "jitter_ns") > 0);
	down();
}

/* A reset while traffic flows: what comes next is neither lost nor late. */
static void
test_reset(void)
{
	struct task *task;

	start("");
	deliver(0, 0);
	deliver(0, 5);
	deliver(1, 7);
	task = bench_task(&bench, "sink");
	task->ops->reset(task);
	memset(&task->stats, 0, sizeof(task->stats));
	check("received", 0);
	check("latency_count", 0);
	deliver(0, 6);
	deliver(0, 8);
	deliver(1, 8);
	check("received", 3);
	check("lost", 1);
	check("trial", TRIAL);
	down();
}

static void
test_a_start_begins_at_zero(void)
{
	start("");
	deliver(0, 0);
	CHECK_EQ(control("start", "trial=4"), 0);
	deliver(0, 1);
	check("stale", 1);
	check("received", 0);
	CHECK_EQ(control("start", "trial=3"), 0);
	deliver(0, 2);
	check("received", 1);
	check("lost", 2);
	CHECK_EQ(control("start", "trial=256"), -ERANGE);
	CHECK_EQ(control("start", "trial=x"), -EINVAL);
	bench_down(&bench);
}

/* Frames in several segments, the first shorter than the headers. */
static void
test_segments(void)
{
	struct task *task;
	uint8_t octets[FRAME_ROOM(300)];
	const struct stamp stamp = {STREAM, TRIAL, 0, 0, rte_rdtsc()};

	start("capture_frames = 2\n");
	task = bench_task(&bench, "sink");
	craft_with(octets, 4, 0, 300, &stamp);
	for (uint16_t cut = 14; cut < 200; cut += 31) {
		struct rte_mbuf *head = rte_pktmbuf_alloc(task->pool);
		struct rte_mbuf *tail = rte_pktmbuf_alloc(task->pool);

		memcpy(rte_pktmbuf_append(head, cut), octets, cut);
		memcpy(rte_pktmbuf_append(tail, 296 - cut), octets + cut, 296 - cut);
		CHECK_EQ(rte_pktmbuf_chain(head, tail), 0);
		task->stats.rx++;
		task->ops->handle(task, &head, 1);
	}
	check("received", 1);
	check("duplicated", 5);
	check("captured", 2);
	down();
}

static void
test_capture(void)
{
	char path[] = "/tmp/test_sink.XXXXXX";
	struct pcap_frames pcap;
	struct fault why;
	uint8_t octets[FRAME_ROOM(LEN)];
	struct task *task;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	start("capture_frames = 2\n");
	task = bench_task(&bench, "sink");
	deliver(0, 0);
	deliver(0, 0);
	craft(octets, 0, 1);
	octets[STAMP_AT] ^= 1;
	put(octets, LEN);
	put(octets, LEN);
	check("captured", 2);
	CHECK_EQ(task->ops->export(task, "capture", path), 0);
	CHECK_EQ(pcap_load(&pcap, path, &why), 0);
	CHECK_EQ(pcap.nb_frames, 2);
	CHECK_EQ(pcap.frames[1].len, LEN);
	CHECK_EQ(memcmp(pcap.octets + pcap.frames[1].at, octets, LEN), 0);
	pcap_unload(&pcap);
	CHECK_EQ(task->ops->export(task, "capture", "/nonexistent/file"), -ENOENT);
	CHECK_EQ(task->ops->export(task, "capture", "/dev/full"), -EIO);
	CHECK_EQ(task->ops->export(task, "histogram", "/dev/full"), -EIO);
	CHECK_EQ(task->ops->export(task, "secrets", path), -ENOTSUP);
	down();
	unlink(path);
}

/* The file named in the configuration is written when wsdp ends. */
static void
test_capture_at_the_end(void)
{
	char path[] = "/tmp/test_sink.XXXXXX";
	char keys[64];
	struct pcap_frames pcap;
	struct fault why;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	snprintf(keys, sizeof(keys), "capture = %s\n", path);
	start(keys);
	deliver(0, 1);
	deliver(0, 1);
	down();
	CHECK_EQ(pcap_load(&pcap, path, &why), 0);
	CHECK_EQ(pcap.nb_frames, 1);
	pcap_unload(&pcap);
	unlink(path);
}

/* gen into sink: every frame that was sent is received, whatever it looks like. */
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
		bench = bench_up(ini);
		gen = bench_task(&bench, "gen");
		sink = bench_task(&bench, "sink");
		CHECK_EQ(sink->ops->control(sink, "start", "trial=9"), 0);
		CHECK_EQ(gen->ops->control(gen, "start", "trial=9"), 0);
		bench_poll(&bench, 1000);
		CHECK_EQ(gen->ops->control(gen, "stop", ""), 0);
		bench_poll(&bench, 10);
		sent = gen->stats.tx;
		CHECK_EQ(sent, 32000);
		check("received", sent);
		check("lost", 0);
		check("duplicated", 0);
		check("reordered", 0);
		check("unstamped", i == 1 ? sent / 12 * 7 + 7 : 0);
		check("latency_count", sent - figure(&bench, "sink", "unstamped"));
		check("clock_behind", 0);
		down();
	}
}

int
main(void)
{
	harness_start();
	test_good_frames();
	test_lost_duplicated_reordered();
	test_foreign_frames();
	test_stale_frames();
	test_corrupt_frames();
	test_unstamped_frames();
	test_without_stamps_every_frame_counts();
	test_every_encapsulation();
	test_streams_have_flows_of_their_own();
	test_latency();
	test_stamps_from_the_future();
	test_bursts();
	test_reset();
	test_a_start_begins_at_zero();
	test_segments();
	test_capture();
	test_capture_at_the_end();
	test_what_gen_sends();
	return 0;
}
