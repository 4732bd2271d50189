/* SPDX-License-Identifier: Apache-2.0 */
/* router: the cause and the class of each frame that it does not forward. */
#include <string.h>

#include "pktlib/bytes.h"
#include "router_bench.h"

struct exception {
	const char *cause;
	const char *class; /* NULL: dropped */
	void (*make)(uint8_t *frame);
	uint16_t length;
};

static void
make_no_route(uint8_t *frame)
{
	router_make_v4(frame, TO_NOWHERE, 1);
}

static void
make_expired(uint8_t *frame)
{
	router_make_v4(frame, TO_PORT_A, 1);
	frame[22] = 1;
	router_sum_up(frame);
}

static void
make_bad_header(uint8_t *frame)
{
	router_make_v4(frame, TO_PORT_A, 1);
	frame[24] ^= 1;
}

static void
make_options(uint8_t *frame)
{
	router_make_v4(frame, TO_PORT_A, 1);
	frame[14] = 0x46;
}

static void
make_hop_by_hop(uint8_t *frame)
{
	router_make_v6(frame, "\x24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1);
	frame[20] = 0;
}

static void
make_unknown(uint8_t *frame)
{
	router_make_arp(frame);
	be16_store(frame + 12, 0x88b5);
}

/* A tag of VLAN 7, and ARP behind it. */
static void
make_tagged(uint8_t *frame)
{
	router_make_arp(frame);
	be16_store(frame + 12, 0x8100);
	be16_store(frame + 14, 7);
	be16_store(frame + 16, 0x0806);
}

static void
make_other_mac(uint8_t *frame)
{
	router_make_v4(frame, TO_PORT_A, 1);
	frame[5] = 0x98;
}

static void
make_broadcast_frame(uint8_t *frame)
{
	router_make_v4(frame, TO_PORT_A, 1);
	memset(frame, 0xff, 6);
}

static void
make_martian(uint8_t *frame)
{
	router_make_v4(frame, 0x7f000001, 1);
}

/* OSPF's: their TTL is 1, which is no reason here. */
static void
make_multicast(uint8_t *frame)
{
	router_make_v4(frame, 0xe0000005, 1);
	memcpy(frame, "\1\0\x5e\0\0\5", 6);
	frame[22] = 1;
	router_sum_up(frame);
}

static void
make_far_multicast(uint8_t *frame)
{
	router_make_v4(frame, 0xef010101, 1);
	memcpy(frame, "\1\0\x5e\1\1\1", 6);
}

/* IGMP reports go to the group itself. */
static void
make_membership(uint8_t *frame)
{
	make_far_multicast(frame);
	frame[23] = 2;
	router_sum_up(frame);
}

static void
make_link_multicast_v6(uint8_t *frame)
{
	router_make_v6(frame, "\xff\2\0\0\0\0\0\0\0\0\0\0\0\0\0\5", 1);
	memcpy(frame, "\x33\x33\0\0\0\5", 6);
}

static void
make_far_multicast_v6(uint8_t *frame)
{
	router_make_v6(frame, "\xff\5\0\0\0\0\0\0\0\0\0\0\0\0\0\5", 1);
	memcpy(frame, "\x33\x33\0\0\0\5", 6);
}

static void
make_blackhole(uint8_t *frame)
{
	router_make_v4(frame, TO_BLACKHOLE, 1);
}

static void
make_local(uint8_t *frame)
{
	router_make_v4(frame, TO_HOST, 1);
}

/* BGP's: a packet to the router itself needs no TTL. */
static void
make_local_last(uint8_t *frame)
{
	make_local(frame);
	frame[22] = 1;
	frame[23] = 6;
	be16_store(frame + 36, 179);
	router_sum_up(frame);
}

static void
make_local_v6(uint8_t *frame)
{
	router_make_v6(frame, "\x24\0\0\5\0\0\0\0\0\0\0\0\0\0\0\1", 1);
	frame[21] = 1;
}

static void
make_link_local(uint8_t *frame)
{
	router_make_v6(frame, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1);
}

static void
make_discovery(uint8_t *frame)
{
	make_link_local(frame);
	frame[20] = 58;
	frame[21] = 255;
	frame[54] = 136;
}

static void
make_neighbour(uint8_t *frame)
{
	router_make_v4(frame, TO_NEIGHBOUR, 1);
}

static void
make_fragment(uint8_t *frame)
{
	router_make_v4(frame, TO_MTU_68, 1);
	be16_store(frame + 16, 106);
	router_sum_up(frame);
}

static void
make_too_big(uint8_t *frame)
{
	make_fragment(frame);
	frame[20] = 0x40;
	router_sum_up(frame);
}

static const struct exception exceptions[] = {
	{"no_route", "rest", make_no_route, V4_LEN},
	{"ttl_expired", "rest", make_expired, V4_LEN},
	{"bad_header", NULL, make_bad_header, V4_LEN},
	{"options", "rest", make_options, V4_LEN},
	{"options", "rest", make_hop_by_hop, V6_LEN},
	{"not_ip", "protocol", router_make_arp, V4_LEN},
	{"not_ip", "rest", make_unknown, V4_LEN},
	{"not_ip", "rest", make_tagged, V4_LEN},
	{"other_mac", NULL, make_other_mac, V4_LEN},
	{"other_mac", NULL, make_broadcast_frame, V4_LEN},
	{"martian", NULL, make_martian, V4_LEN},
	{"multicast", "protocol", make_multicast, V4_LEN},
	{"multicast", "protocol", make_membership, V4_LEN},
	{"multicast", "protocol", make_link_multicast_v6, V6_LEN},
	{"multicast", "rest", make_far_multicast, V4_LEN},
	{"multicast", "rest", make_far_multicast_v6, V6_LEN},
	{"blackhole", NULL, make_blackhole, V4_LEN},
	{"local", "local", make_local, V4_LEN},
	{"local", "protocol", make_local_last, V4_LEN},
	{"local", "local", make_local_v6, V6_LEN},
	{"local", "local", make_link_local, V6_LEN},
	{"local", "protocol", make_discovery, V6_LEN},
	{"neighbour", "neighbour", make_neighbour, V4_LEN},
	{"fragment", "rest", make_fragment, 120},
	{"too_big", "rest", make_too_big, 120},
};

/* Each exception is counted by cause and class, and reaches the host as it came, or nobody. */
static void
test_exceptions(void)
{
	struct bench bench = router_up(INI_MAC "punt_tx = 2\n");
	const struct task_stats *stats = &bench_task(&bench, "r")->stats;
	uint64_t dropped = 0;

	for (size_t i = 0; i < RTE_DIM(exceptions); i++) {
		const struct exception *each = &exceptions[i];
		uint8_t frame[120] = {0}, received[128];
		uint64_t before = figure(&bench, "r", each->cause), class = 0;
		char punted[40] = "";
		const char *way;

		if (each->class != NULL) {
			snprintf(punted, sizeof(punted), "punted_%s", each->class);
			class = figure(&bench, "r", punted);
		}
		each->make(frame);
		way = router_way(&bench, frame, each->length, received);
		CHECK_EQ(figure(&bench, "r", each->cause), before + 1);
		if (each->class == NULL) {
			CHECK(way == NULL);
			dropped++;
			continue;
		}
		CHECK(way != NULL && strcmp(way, "h") == 0);
		CHECK(memcmp(received, frame, each->length) == 0);
		CHECK_EQ(figure(&bench, "r", punted), class + 1);
	}
	CHECK_EQ(stats->discard, dropped);
	check_closes(stats);
	bench_task(&bench, "r")->ops->reset(bench_task(&bench, "r"));
	CHECK_EQ(figure(&bench, "r", "local") + figure(&bench, "r", "punted_rest"), 0);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_exceptions();
	return 0;
}
