/* SPDX-License-Identifier: Apache-2.0 */
/* router: interfaces in VRFs, whose addresses overlap. */
#include "router_kernel.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "pktlib/bytes.h"

#define RED 10
#define BLUE 20
/* In each table, with another next hop. */
#define SOMEWHERE 0xc6120001
#define SOMEWHERE_V6 "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\7"

/* Of port a, the interface itself (11) is in main, VLAN 100 in red, 300 in blue, and 400 in a VRF that is not
 * known. VLAN 200 of port b (22) is in blue. */
static void
report_links(struct kernel *kernel)
{
	static const struct {
		uint32_t index, lower;
		uint16_t id;
		const char *mac;
		uint32_t table;
	} vlans[] = {{21, 11, 100, "2:0:0:0:0:21", RED},
		     {22, 12, 200, "2:0:0:0:0:22", BLUE},
		     {23, 11, 300, "2:0:0:0:0:23", BLUE},
		     {24, 11, 400, "2:0:0:0:0:24", 99}};

	open_router(kernel);
	kernel_apply(kernel, vrf_message(RTM_NEWLINK, 50, IFF_UP, "red", RED));
	kernel_apply(kernel, vrf_message(RTM_NEWLINK, 51, IFF_UP, "blue", BLUE));
	for (size_t i = 0; i < RTE_DIM(vlans); i++)
		kernel_apply(kernel, in_vrf(upon(link_message(RTM_NEWLINK, vlans[i].index, IFF_UP,
							      vlans[i].mac, 1500),
						 vlans[i].lower, "vlan", 0x8100, vlans[i].id),
					    7, vlans[i].table));
}

static void
report_routes(struct kernel *kernel)
{
	static const struct {
		uint32_t table, link;
		const char *mac;
	} ways[] = {{RT_TABLE_MAIN, 12, "2:0:0:0:0:19"},
		    {RED, 21, "2:0:0:0:0:29"},
		    {BLUE, 22, "2:0:0:0:0:39"}};

	for (size_t i = 0; i < RTE_DIM(ways); i++) {
		const struct route_message v4 = {.prefix = "198.18.0.0/15",
						 .table = ways[i].table,
						 .link = ways[i].link,
						 .gateway = "10.0.0.9"};
		const struct route_message v6 = {.prefix = "2001:2::/48",
						 .table = ways[i].table,
						 .link = ways[i].link,
						 .gateway = "fe80::9"};

		kernel_apply(kernel, route_message(RTM_NEWROUTE, &v4));
		kernel_apply(kernel, route_message(RTM_NEWROUTE, &v6));
		kernel_apply(kernel, neighbour_message(RTM_NEWNEIGH, ways[i].link, "10.0.0.9",
						       ways[i].mac, NUD_REACHABLE));
		kernel_apply(kernel, neighbour_message(RTM_NEWNEIGH, ways[i].link, "fe80::9",
						       ways[i].mac, NUD_REACHABLE));
	}
}

static void
report(struct kernel *kernel)
{
	report_links(kernel);
	report_routes(kernel);
	CHECK_EQ(kernel->malformed, 0);
}

/* The same, with the interface of port a in red. */
static void
report_port_in_vrf(struct kernel *kernel)
{
	report(kernel);
	kernel_apply(kernel,
		     in_vrf(link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 1500), 50, RED));
}

struct way {
	uint16_t tci; /* of the frame that comes */
	uint8_t mac;  /* the last octet of the interface's */
	const char *port;
	uint16_t tag; /* of the one that leaves */
	uint8_t source, target;
};

static uint16_t
make(uint8_t *frame, bool is_v6, uint8_t mac)
{
	if (is_v6)
		router_make_v6(frame, SOMEWHERE_V6, 1);
	else
		router_make_v4(frame, SOMEWHERE, 1);
	frame[5] = mac;
	return is_v6 ? V6_LEN : V4_LEN;
}

/* Check that a frame of the version leaves as it must. */
static void
check_way(struct bench *bench, const struct way *way, bool is_v6, bool is_stripped)
{
	uint8_t frame[128];
	uint16_t length = make(frame, is_v6, way->mac);

	router_kernel_handle(bench, frame, length, way->tci, is_stripped);
	memcpy(frame, "\2\0\0\0\0\0\2\0\0\0\0\0", 12);
	frame[5] = way->target;
	frame[11] = way->source;
	frame[is_v6 ? 21 : 22]--;
	if (!is_v6)
		router_sum_up(frame);
	if (way->tag != NO_TAG)
		length = router_tag(frame, length, way->tag);
	router_kernel_check_leaves(bench, way->port, frame, length);
}

static void
check_ways(const struct way *ways, size_t nb)
{
	struct bench bench = router_kernel_up();

	for (size_t i = 0; i < 4 * nb; i++)
		check_way(&bench, &ways[i / 4], i % 2 == 1, i % 4 > 1);
	bench_down(&bench);
}

/* The same destination has the next hop of the VRF that the frame's interface is in. */
static void
test_ways(void)
{
	static const struct way ways[] = {{NO_TAG, 0x0b, "b", NO_TAG, 0x0c, 0x19},
					  {100, 0x21, "a", 100, 0x21, 0x29},
					  {300, 0x23, "b", 200, 0x22, 0x39},
					  {0xe000, 0x0b, "b", NO_TAG, 0x0c, 0x19}};
	static const struct way in_red[] = {{NO_TAG, 0x0b, "a", 100, 0x21, 0x29},
					    {100, 0x21, "a", 100, 0x21, 0x29},
					    {300, 0x23, "b", 200, 0x22, 0x39}};

	router_kernel_report = report;
	check_ways(ways, RTE_DIM(ways));
	router_kernel_report = report_port_in_vrf;
	check_ways(in_red, RTE_DIM(in_red));
}

/* Frames of three VRFs and both versions in one burst: none goes by another's table. */
static void
test_mixed_burst(void)
{
	static const struct {
		uint16_t tci;
		uint8_t mac;
	} comes[] = {{NO_TAG, 0x0b}, {100, 0x21}, {300, 0x23}};
	unsigned int of[256] = {0};
	struct bench bench;
	uint8_t frame[128];

	router_kernel_report = report;
	bench = router_kernel_up();
	for (unsigned int i = 0; i < 30; i++) {
		uint16_t length = make(frame, i % 2 == 1, comes[i % 3].mac);

		if (comes[i % 3].tci != NO_TAG)
			length = router_tag(frame, length, comes[i % 3].tci);
		CHECK(bench_send(&bench, "in", frame, length));
	}
	bench_poll(&bench, 1);
	while (bench_receive(&bench, "a", frame, sizeof(frame)) > 0)
		of[frame[5]] += be16_load(frame + 14) == 100;
	while (bench_receive(&bench, "b", frame, sizeof(frame)) > 0)
		of[frame[5]]++;
	CHECK_EQ(of[0x19], 10);
	CHECK_EQ(of[0x29], 10);
	CHECK_EQ(of[0x39], 10);
	bench_down(&bench);
}

/* An interface in a VRF that is not known: the kernel handles its frames. */
static void
test_unknown_vrf(void)
{
	struct rte_mbuf *mbuf = NULL;
	struct bench bench;
	uint8_t frame[128];

	router_kernel_report = report;
	bench = router_kernel_up();
	for (unsigned int i = 0; i < 2; i++) {
		router_kernel_handle(&bench, frame, make(frame, i == 1, 0x24), 400, false);
		CHECK_EQ(rte_ring_sc_dequeue(router_kernel_attached.punts[PUNT_REST],
					     (void **)&mbuf),
			 0);
		rte_pktmbuf_free(mbuf);
	}
	CHECK_EQ(figure(&bench, "r", "no_route"), 2);
	CHECK_EQ(bench_drain(&bench, "a") + bench_drain(&bench, "b"), 0);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_ways();
	test_mixed_burst();
	test_unknown_vrf();
	return 0;
}
