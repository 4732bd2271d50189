/* SPDX-License-Identifier: Apache-2.0 */
/* router: frames by VLANs of its ports. */
#include "router_kernel.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mirror/netlink.h"
#include "pktlib/bytes.h"
#include "router_bench.h"

/* Neighbours. */
#define BEHIND_A 0x0a010009
#define BEHIND_A_100 0x0a020009
#define BEHIND_B_200 0x0a030009
#define OURS_100 0x0a020001

/* VLANs 100 and 300 of interface 11, VLAN 200 of interface 12; 300 is down. */
static void
report_links(struct kernel *kernel)
{
	open_router(kernel);
	kernel_apply(kernel, upon(link_message(RTM_NEWLINK, 21, IFF_UP, "2:0:0:0:0:21", 1500), 11,
				  "vlan", 0x8100, 100));
	kernel_apply(kernel, upon(link_message(RTM_NEWLINK, 22, IFF_UP, "2:0:0:0:0:22", 1300), 12,
				  "vlan", 0x8100, 200));
	kernel_apply(kernel, upon(link_message(RTM_NEWLINK, 23, 0, "2:0:0:0:0:23", 1500), 11,
				  "vlan", 0x8100, 300));
}

static void
report_routes(struct kernel *kernel)
{
	static const struct route_message routes[] = {
		{.prefix = "10.1.0.0/24", .link = 11},
		{.prefix = "10.2.0.0/24", .link = 21},
		{.prefix = "10.3.0.0/24", .link = 22},
		{.prefix = "10.2.0.1/32", .link = 21, .table = RT_TABLE_LOCAL, .type = RTN_LOCAL}};

	for (size_t i = 0; i < RTE_DIM(routes); i++)
		kernel_apply(kernel, route_message(RTM_NEWROUTE, &routes[i]));
	kernel_apply(kernel, neighbour_message(RTM_NEWNEIGH, 11, "10.1.0.9", "2:0:0:0:0:19",
					       NUD_REACHABLE));
	kernel_apply(kernel, neighbour_message(RTM_NEWNEIGH, 21, "10.2.0.9", "2:0:0:0:0:29",
					       NUD_REACHABLE));
	kernel_apply(kernel, neighbour_message(RTM_NEWNEIGH, 22, "10.3.0.9", "2:0:0:0:0:39",
					       NUD_REACHABLE));
}

struct way {
	uint32_t destination;
	uint8_t mac;  /* the last octet of the interface's */
	uint16_t tci; /* of the frame that comes */
	const char *port;
	uint16_t tag; /* of the one that leaves */
	uint8_t source, target;
};

static const struct way ways[] = {
	{BEHIND_B_200, 0x0b, NO_TAG, "b", 200, 0x22, 0x39},
	{BEHIND_A_100, 0x0b, NO_TAG, "a", 100, 0x21, 0x29},
	{BEHIND_A, 0x21, 0x6064, "a", NO_TAG, 0x0b, 0x19},
	{BEHIND_A_100, 0x21, 0x6064, "a", 100, 0x21, 0x29},
	{BEHIND_B_200, 0x21, 100, "b", 200, 0x22, 0x39},
	{BEHIND_A, 0x0b, 0xe000, "a", NO_TAG, 0x0b, 0x19},
	{BEHIND_A, 0x0b, NO_TAG, "a", NO_TAG, 0x0b, 0x19},
};

static void
test_ways(void)
{
	struct bench bench = router_kernel_up();

	CHECK_EQ(figure(&bench, "r", "vlans"), 3);
	for (size_t i = 0; i < 2 * RTE_DIM(ways); i++) {
		const struct way *way = &ways[i / 2];
		uint8_t frame[128];
		uint16_t length = V4_LEN;

		router_kernel_make(frame, way->destination, way->mac);
		router_kernel_handle(&bench, frame, V4_LEN, way->tci, i % 2 == 1);
		memcpy(frame, "\2\0\0\0\0\0\2\0\0\0\0\0", 12);
		frame[5] = way->target;
		frame[11] = way->source;
		frame[22]--;
		router_sum_up(frame);
		if (way->tag != NO_TAG)
			length = router_tag(frame, length, way->tag);
		router_kernel_check_leaves(&bench, way->port, frame, length);
	}
	bench_down(&bench);
}

/* Untagged and tagged frames in one burst. */
static void
test_mixed_burst(void)
{
	struct bench bench = router_kernel_up();
	uint8_t frame[128], received[128];

	for (unsigned int i = 0; i < 32; i++) {
		uint16_t length = V4_LEN;

		router_kernel_make(frame, BEHIND_A, i % 3 == 0 ? 0x21 : 0x0b);
		if (i % 3 == 0)
			length = router_tag(frame, length, 100);
		CHECK(bench_send(&bench, "in", frame, length));
	}
	bench_poll(&bench, 1);
	for (unsigned int i = 0; i < 32; i++)
		CHECK_EQ(bench_receive(&bench, "a", received, sizeof(received)), V4_LEN);
	bench_down(&bench);
}

static void
test_drops(void)
{
	static const struct {
		const char *cause;
		uint16_t tci;
		uint8_t mac;
	} drops[] = {
		{"unknown_vlan", 7, 0x0b},     {"unknown_vlan", 0xfff, 0x0b},
		{"unknown_vlan", 200, 0x22}, /* of another port */
		{"interface_down", 300, 0x23}, {"other_mac", 100, 0x0b},
		{"other_mac", NO_TAG, 0x21},   {"other_mac", 0, 0x21},
	};
	struct bench bench = router_kernel_up();
	const struct task_stats *stats = &bench_task(&bench, "r")->stats;

	for (size_t i = 0; i < 2 * RTE_DIM(drops); i++) {
		uint64_t before = figure(&bench, "r", drops[i / 2].cause);
		uint8_t frame[128];

		router_kernel_make(frame, BEHIND_A, drops[i / 2].mac);
		router_kernel_handle(&bench, frame, V4_LEN, drops[i / 2].tci, i % 2 == 1);
		CHECK_EQ(figure(&bench, "r", drops[i / 2].cause), before + 1);
	}
	CHECK_EQ(stats->discard, 2 * RTE_DIM(drops));
	bench_down(&bench);
}

/* Check that the kernel gets a frame of this class as it came, with its tag. */
static void
check_punted(enum punt_class class, const uint8_t *frame, uint16_t length, uint16_t tci)
{
	uint8_t wanted[256], got[256];
	struct host_interface interface;
	struct rte_mbuf *mbuf = NULL;
	int ends[2];

	memcpy(wanted, frame, length);
	length = router_tag(wanted, length, tci);
	CHECK_EQ(rte_ring_sc_dequeue(router_kernel_attached.punts[class], (void **)&mbuf), 0);
	CHECK_EQ(mbuf->hash.usr, 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	interface.fd = ends[0];
	CHECK(interface_write(&interface, mbuf));
	CHECK_EQ(read(ends[1], got, sizeof(got)), length);
	CHECK(memcmp(got, wanted, length) == 0);
	close(ends[0]);
	close(ends[1]);
	rte_pktmbuf_free(mbuf);
}

/* BGP's. */
static void
make_bgp(uint8_t *frame)
{
	router_kernel_make(frame, OURS_100, 0x21);
	frame[23] = 6;
	be16_store(frame + 36, 179);
	router_sum_up(frame);
}

static void
make_local(uint8_t *frame)
{
	router_kernel_make(frame, OURS_100, 0x21);
}

static void
make_unknown_neighbour(uint8_t *frame)
{
	router_kernel_make(frame, BEHIND_A_100 + 1, 0x21);
}

static void
make_no_route(uint8_t *frame)
{
	router_kernel_make(frame, TO_NOWHERE, 0x21);
}

/* A second tag is no VLAN of the router's. */
static void
make_stacked(uint8_t *frame)
{
	router_kernel_make(frame, BEHIND_A, 0x21);
	router_tag(frame, V4_LEN - 4, 5);
}

static void
test_exceptions(void)
{
	static const struct {
		enum punt_class class;
		void (*make)(uint8_t *frame);
	} exceptions[] = {
		{PUNT_PROTOCOL, router_make_arp}, {PUNT_PROTOCOL, make_bgp},
		{PUNT_LOCAL, make_local},         {PUNT_NEIGHBOUR, make_unknown_neighbour},
		{PUNT_REST, make_no_route},       {PUNT_REST, make_stacked},
	};
	struct bench bench = router_kernel_up();

	for (size_t i = 0; i < 2 * RTE_DIM(exceptions); i++) {
		uint8_t frame[128];

		exceptions[i / 2].make(frame);
		router_kernel_handle(&bench, frame, V4_LEN, 0x6064, i % 2 == 1);
		check_punted(exceptions[i / 2].class, frame, V4_LEN, 0x6064);
	}
	bench_down(&bench);
}

/* The MTU is that of the VLAN, without its tag. */
static void
test_mtu(void)
{
	struct bench bench = router_kernel_up();
	uint8_t frame[1400] = {0}, received[1400];
	struct rte_mbuf *mbuf = NULL;

	for (uint16_t size = 1300; size <= 1301; size++) {
		router_kernel_make(frame, BEHIND_B_200, 0x21);
		be16_store(frame + 16, size);
		router_sum_up(frame);
		router_kernel_handle(&bench, frame, size + 14, 100, size % 2 == 1);
	}
	CHECK_EQ(bench_receive(&bench, "b", received, sizeof(received)), 1318);
	CHECK_EQ(figure(&bench, "r", "fragment"), 1);
	CHECK_EQ(bench_drain(&bench, "b"), 0);
	CHECK_EQ(rte_ring_sc_dequeue(router_kernel_attached.punts[PUNT_REST], (void **)&mbuf), 0);
	rte_pktmbuf_free(mbuf);
	bench_down(&bench);
}

/* A tag counts for the least length of a frame: without it, zeros do. */
static void
test_short_frame(void)
{
	struct bench bench = router_kernel_up();
	uint8_t frame[128], received[128];

	for (int i = 0; i < 2; i++) {
		router_kernel_make(frame, BEHIND_A, 0x21);
		be16_store(frame + 16, 40);
		router_sum_up(frame);
		router_kernel_handle(&bench, frame, 56, 100, i == 1);
		CHECK_EQ(bench_receive(&bench, "a", received, sizeof(received)), 60);
		CHECK_EQ(be32_load(received + 56), 0);
	}
	bench_down(&bench);
}

static void
test_no_headroom(void)
{
	struct bench bench = router_kernel_up();
	struct task *task = bench_task(&bench, "r");
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(task->pool);
	uint8_t frame[128];

	router_kernel_make(frame, BEHIND_B_200, 0x0b);
	CHECK(mbuf != NULL);
	mbuf->data_off = 3;
	memcpy(rte_pktmbuf_append(mbuf, V4_LEN), frame, V4_LEN);
	task->stats.rx++;
	task->ops->handle(task, &mbuf, 1);
	CHECK_EQ(figure(&bench, "r", "no_headroom"), 1);
	check_closes(&task->stats);
	bench_down(&bench);
}

static void
report(struct kernel *kernel)
{
	report_links(kernel);
	report_routes(kernel);
}

int
main(void)
{
	harness_start();
	router_kernel_report = report;
	test_ways();
	test_mixed_burst();
	test_drops();
	test_exceptions();
	test_mtu();
	test_short_frame();
	test_no_headroom();
	return 0;
}
