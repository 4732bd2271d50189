/* SPDX-License-Identifier: Apache-2.0 */
/* sink against crafted frames: whatever can be wrong with one, and what is said about it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pktlib/frame_size.h"
#include "sink_bench.h"

static void
test_good_frames(void)
{
	sink_start("");
	for (uint32_t i = 0; i < 40; i++)
		sink_deliver(i % FLOWS, i / FLOWS);
	sink_check("received", 40);
	sink_check("lost", 0);
	sink_check("duplicated", 0);
	sink_check("reordered", 0);
	sink_check("latency_count", 40);
	sink_check("trial", TRIAL);
	sink_down();
}

static void
test_lost_duplicated_reordered(void)
{
	sink_start("");
	sink_deliver(0, 2); /* 0 and 1 are missing */
	sink_deliver(0, 1); /* late */
	sink_deliver(0, 1); /* twice */
	sink_deliver(1, 0);
	sink_deliver(1, 3); /* 1 and 2 are missing */
	sink_deliver(2, 5000);
	sink_deliver(2, 10); /* older than the window */
	sink_check("received", 5);
	sink_check("lost", 1 + 2 + 5000);
	sink_check("duplicated", 1);
	sink_check("reordered", 1);
	sink_check("too_late", 1);
	sink_check("latency_count", 5);
	/* Duplicates and what may be one are in no window. */
	CHECK_EQ(sink_windows_sum(), 5);
	sink_down();
}

static void
test_foreign_frames(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	struct stamp other = {STREAM + 1, TRIAL, 0, 0, 0};

	sink_start("");
	sink_craft_with(octets, 4, 0, 64, &other);
	sink_put(octets, LEN);
	sink_craft(octets, 0, 0);
	octets[STAMP_AT] ^= 1; /* no signature */
	sink_put(octets, LEN);
	sink_craft(octets, 0, 0);
	be16_store(octets + 12, ETH_TYPE_ARP);
	sink_put(octets, LEN);
	sink_craft(octets, 0, 0);
	octets[14 + 9] = 6;
	sink_put(octets, LEN);
	memset(octets, 0, sizeof(octets));
	sink_put(octets, 14);
	sink_check("foreign", 5);
	sink_check("received", 0);
	sink_check("lost", 0);
	sink_down();
}

static void
test_stale_frames(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	struct stamp late = {STREAM, TRIAL - 1, 0, 1000, 0};

	sink_start("");
	sink_deliver(0, 0);
	sink_craft_with(octets, 4, 0, 64, &late);
	sink_put(octets, LEN);
	sink_deliver(0, 1);
	sink_check("stale", 1);
	sink_check("received", 2);
	sink_check("lost", 0);
	sink_down();
}

static void
test_corrupt_frames(void)
{
	uint8_t octets[FRAME_ROOM(200)] = {0};

	sink_start("");
	sink_craft(octets, FLOWS, 0); /* a flow there is not */
	sink_put(octets, LEN);
	sink_craft(octets, 0, 0);
	be16_store(octets + 16, 47); /* the IP length is one too many */
	sink_put(octets, LEN);
	sink_craft(octets, 0, 0);
	be16_store(octets + L4_AT + 4, 25); /* UDP's does not fit IP's */
	sink_put(octets, LEN);
	sink_craft(octets, 0, 0);
	sink_put(octets, 100); /* 40 octets more than there should be */
	sink_check("corrupt", 4);
	sink_check("received", 0);
	sink_down();
}

/* With tags or IPv6 small frames have no room for a stamp: they count, and that is all. */
static void
test_unstamped_frames(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];
	struct stamp stamp = {STREAM, TRIAL, 0, 0, 0};

	sink_start("");
	sink_craft_with(octets, 4, 1, 64, &stamp);
	sink_put(octets, LEN);
	sink_craft_with(octets, 6, 0, 66, &stamp);
	sink_put(octets, 62);
	sink_check("unstamped", 2);
	sink_check("received", 2);
	sink_check("latency_count", 0);
	sink_down();
}

static void
test_without_stamps_every_frame_counts(void)
{
	uint8_t octets[FRAME_ROOM(LEN)] = {0};

	sink_start("stamp = no\n");
	sink_put(octets, LEN);
	sink_deliver(0, 5);
	sink_check("received", 2);
	sink_check("unstamped", 2);
	sink_check("foreign", 0);
	sink_check("lost", 0);
	sink_down();
}

static void
test_every_encapsulation(void)
{
	uint8_t octets[FRAME_ROOM(1518)];
	uint32_t sequence = 0;

	sink_start("");
	for (uint8_t version = 4; version <= 6; version += 2)
		for (uint8_t tags = 0; tags <= 2; tags++) {
			struct stamp stamp = {STREAM, TRIAL, 0, sequence++, rte_rdtsc()};
			unsigned int least = version == 4 ? 64 : 84;

			sink_craft_with(octets, version, tags, least + 4 * tags, &stamp);
			sink_put(octets, (uint16_t)(least + 4 * tags - FCS_BYTES));
			stamp.sequence = sequence++;
			sink_craft_with(octets, version, tags, 1518, &stamp);
			sink_put(octets, 1514);
		}
	sink_check("received", 12);
	sink_check("latency_count", 12);
	sink_check("lost", 0);
	sink_down();
}

static void
test_streams_have_flows_of_their_own(void)
{
	uint8_t octets[FRAME_ROOM(LEN)];

	sink_start("streams = 2\n");
	for (uint8_t stream = STREAM; stream < STREAM + 3; stream++)
		for (uint32_t flow = 0; flow < FLOWS; flow++) {
			struct stamp stamp = {stream, TRIAL, flow, 0, 0};

			sink_craft_with(octets, 4, 0, 64, &stamp);
			sink_put(octets, LEN);
		}
	sink_check("received", 2 * FLOWS);
	sink_check("duplicated", 0);
	sink_check("foreign", FLOWS);
	sink_down();
}

/* A reset while traffic flows: what comes next is neither lost nor late. */
static void
test_reset(void)
{
	struct task *task;

	sink_start("");
	sink_deliver(0, 0);
	sink_deliver(0, 5);
	sink_deliver(1, 7);
	task = bench_task(&sink_bench, "sink");
	task->ops->reset(task);
	memset(&task->stats, 0, sizeof(task->stats));
	sink_check("received", 0);
	sink_check("latency_count", 0);
	sink_deliver(0, 6);
	sink_deliver(0, 8);
	sink_deliver(1, 8);
	sink_check("received", 3);
	sink_check("lost", 1);
	sink_check("trial", TRIAL);
	sink_down();
}

static void
test_a_start_begins_at_zero(void)
{
	sink_start("");
	sink_deliver(0, 0);
	CHECK_EQ(sink_control("start", "trial=4"), 0);
	sink_deliver(0, 1);
	sink_check("stale", 1);
	sink_check("received", 0);
	CHECK_EQ(sink_control("start", "trial=3"), 0);
	sink_deliver(0, 2);
	sink_check("received", 1);
	sink_check("lost", 2);
	CHECK_EQ(sink_control("start", "trial=256"), -ERANGE);
	CHECK_EQ(sink_control("start", "trial=x"), -EINVAL);
	bench_down(&sink_bench);
}

/* Every tracked frame goes to 00:00:00:00:00:00, the destination of crafted ones. */
static void
test_gaps_of_tracked_flows(void)
{
	static char text[4096];
	struct task *task;
	char path[] = "/tmp/wsdp-gaps-XXXXXX";
	uint8_t octets[FRAME_ROOM(LEN)];
	int fd = mkstemp(path);
	FILE *file;

	CHECK(fd >= 0);
	sink_start("track_flows = 4\npaths = 00:00:00:00:00:00, 02:00:00:00:00:02\n");
	sink_deliver(1, 0);
	sink_deliver(1, 4); /* 1 to 3 are missing */
	sink_craft(octets, 1, 5);
	octets[5] = 9; /* to no next hop */
	sink_put(octets, LEN);
	CHECK_EQ(sink_control("set", "only_path=1"), 0);
	sink_deliver(1, 6);
	sink_craft(octets, 1, 7);
	octets[0] = 2;
	octets[5] = 2;
	sink_put(octets, LEN);
	CHECK_EQ(-sink_control("set", "only_path=2"), ERANGE);
	sink_check("received", 3);
	sink_check("lost", 3 + 2);
	sink_check("misrouted", 1);
	sink_check("unheard", 1);
	sink_check("looped", 0);
	task = bench_task(&sink_bench, "sink");
	CHECK_EQ(task->ops->export(task, "flow_gaps", path), 0);
	file = fdopen(fd, "r");
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	CHECK(strstr(text, "\"gaps\": [[1,3,") != NULL);
	CHECK(strstr(text, ",0,0],[1,2,") != NULL);
	CHECK(strstr(text, ",0,1]], \"last\": [[0,0,255],[") != NULL);
	bench_down(&sink_bench);
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
	test_reset();
	test_a_start_begins_at_zero();
	test_gaps_of_tracked_flows();
	return 0;
}
