/* SPDX-License-Identifier: Apache-2.0 */
/* Check which bad frames sink keeps, also of those in several segments. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_cycles.h>

#include "pktlib/pcap_file.h"
#include "sink_bench.h"

/* Frames in several segments, the first shorter than the headers. */
static void
test_segments(void)
{
	struct task *task;
	uint8_t octets[FRAME_ROOM(300)];
	const struct stamp stamp = {STREAM, TRIAL, 0, 0, rte_rdtsc()};

	sink_start("capture_frames = 2\n");
	task = bench_task(&sink_bench, "sink");
	sink_craft_with(octets, 4, 0, 300, &stamp);
	for (uint16_t cut = 14; cut < 200; cut += 31) {
		struct rte_mbuf *head = rte_pktmbuf_alloc(task->pool);
		struct rte_mbuf *tail = rte_pktmbuf_alloc(task->pool);

		memcpy(rte_pktmbuf_append(head, cut), octets, cut);
		memcpy(rte_pktmbuf_append(tail, 296 - cut), octets + cut, 296 - cut);
		CHECK_EQ(rte_pktmbuf_chain(head, tail), 0);
		task->stats.rx++;
		task->ops->handle(task, &head, 1);
	}
	sink_check("received", 1);
	sink_check("duplicated", 5);
	sink_check("captured", 2);
	sink_down();
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
	sink_start("capture_frames = 2\n");
	task = bench_task(&sink_bench, "sink");
	sink_deliver(0, 0);
	sink_deliver(0, 0);
	sink_craft(octets, 0, 1);
	octets[STAMP_AT] ^= 1;
	sink_put(octets, LEN);
	sink_put(octets, LEN);
	sink_check("captured", 2);
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
	sink_down();
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
	sink_start(keys);
	sink_deliver(0, 1);
	sink_deliver(0, 1);
	sink_down();
	CHECK_EQ(pcap_load(&pcap, path, &why), 0);
	CHECK_EQ(pcap.nb_frames, 1);
	pcap_unload(&pcap);
	unlink(path);
}

int
main(void)
{
	harness_start();
	test_segments();
	test_capture();
	test_capture_at_the_end();
	return 0;
}
