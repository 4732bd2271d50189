/* SPDX-License-Identifier: Apache-2.0 */
/* router: where frames go, which cause and class every other has, and what a change of tables does. */
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "pktlib/bytes.h"
#include "pktlib/checksum.h"
#include "pktlib/ecmp.h"

#define V4_LEN 60
#define V6_LEN 74
#define OURS "\2\0\0\0\0\x99"
#define INI_MAC "mac = 02:00:00:00:00:99\n"

#define HOPS                                                 \
	"wirespeed-routes 1\n"                               \
	"hop 1 0 02:00:00:00:00:0a 02:00:00:00:00:1a 1500\n" \
	"hop 2 1 02:00:00:00:00:0b 02:00:00:00:00:1b\n"      \
	"hop 3 0 02:00:00:00:00:0a 02:00:00:00:00:1c\n"      \
	"hop 4 blackhole\n"                                  \
	"hop 5 local\n"                                      \
	"hop 6 neighbour\n"                                  \
	"hop 7 0 02:00:00:00:00:0a 02:00:00:00:00:1a 68\n"

static const char routes[] = HOPS "group 20 1 2 3\n"
				  "route 10.0.0.0/8 1\n"
				  "route 10.1.0.0/16 2\n"
				  "route 10.4.0.0/16 4\n"
				  "route 10.5.0.1/32 5\n"
				  "route 10.6.0.0/16 6\n"
				  "route 10.7.0.0/16 7\n"
				  "route 10.20.0.0/16 20\n"
				  "route 2400::/32 1\n"
				  "route 2400:5::1/128 5\n"
				  "route 2400:20::/32 20\n";

static void
write_routes(char *path, const char *text)
{
	int fd;

	strcpy(path, "/tmp/wsdp-router-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A router with ports a, b, and h, where its host is. */
static struct bench
router(const char *keys)
{
	char path[32], ini[1024];
	struct bench bench;

	write_routes(path, routes);
	snprintf(
		ini, sizeof(ini),
		"[pool]\nmbufs = 4096\ncache = 0\n[port.in]\ndevice = net_ring0\n"
		"[port.a]\ndevice = net_ring1\n[port.b]\ndevice = net_ring2\n"
		"[port.h]\ndevice = net_ring3\n"
		"[task.r]\ntype = router\nlcore = 1\nrx = in:0\ntx = a:0, b:0, h:0\nroutes = %s\n%s",
		path, keys);
	bench = bench_up(ini);
	unlink(path);
	return bench;
}

static void
sum_up(uint8_t *frame)
{
	uint8_t *ip = frame + 14;

	be16_store(ip + 10, 0);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
}

static void
make_v4(uint8_t *frame, uint32_t destination, uint16_t port)
{
	uint8_t *ip = frame + 14;

	memset(frame, 0, V4_LEN);
	memcpy(frame, OURS, 6);
	be16_store(frame + 12, 0x0800);
	ip[0] = 0x45;
	be16_store(ip + 2, V4_LEN - 14);
	ip[8] = 64;
	ip[9] = 17;
	be32_store(ip + 12, 0xc6120001);
	be32_store(ip + 16, destination);
	be16_store(ip + 20, port);
	sum_up(frame);
}

static void
make_v6(uint8_t *frame, const char *destination, uint16_t port)
{
	memset(frame, 0, V6_LEN);
	memcpy(frame, OURS, 6);
	be16_store(frame + 12, 0x86dd);
	frame[14] = 0x60;
	be16_store(frame + 18, V6_LEN - 54);
	frame[20] = 17;
	frame[21] = 64;
	memcpy(frame + 22, "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	memcpy(frame + 38, destination, 16);
	be16_store(frame + 54, port);
}

/* Send it; return the port that it leaves by, NULL if none. */
static const char *
way_of(struct bench *bench, const uint8_t *frame, uint16_t length, uint8_t *received)
{
	static const char *const ports[] = {"a", "b", "h"};

	CHECK(bench_send(bench, "in", frame, length));
	bench_poll(bench, 1);
	for (unsigned int i = 0; i < 3; i++)
		if (bench_receive(bench, ports[i], received, 128) == length)
			return ports[i];
	return NULL;
}

static void
check_way(struct bench *bench, const uint8_t *frame, uint16_t length, const char *port)
{
	uint8_t received[128];
	const char *way = way_of(bench, frame, length, received);

	CHECK(way != NULL && strcmp(way, port) == 0);
}

static void
test_ways(void)
{
	struct bench bench = router(INI_MAC);
	uint8_t frame[V6_LEN], received[128];

	make_v4(frame, 0x0a000001, 1);
	CHECK(strcmp(way_of(&bench, frame, V4_LEN, received), "a") == 0);
	CHECK(memcmp(received, "\2\0\0\0\0\x1a\2\0\0\0\0\x0a", 12) == 0);
	CHECK_EQ(received[22], 63);
	make_v4(frame, 0x0a010001, 1);
	check_way(&bench, frame, V4_LEN, "b");
	make_v6(frame, "\x24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1);
	check_way(&bench, frame, V6_LEN, "a");
	CHECK_EQ(figure(&bench, "r", "routes_ipv4"), 7);
	CHECK_EQ(figure(&bench, "r", "routes_ipv6"), 3);
	CHECK_EQ(figure(&bench, "r", "hops"), 7);
	CHECK_EQ(figure(&bench, "r", "groups"), 1);
	CHECK_EQ(figure(&bench, "r", "generation"), 1);
	CHECK(figure(&bench, "r", "tables_bytes") > (UINT64_C(64) << 20));
	CHECK_EQ(bench_task(&bench, "r")->stats.discard, 0);
	bench_down(&bench);
}

/* Frames of one flow go one way, flows use all members about as often. */
static void
test_groups(void)
{
	struct bench bench = router("");
	unsigned int by_member[256] = {0};
	uint8_t frame[V6_LEN], received[128], first[12];

	for (uint16_t flow = 0; flow < 3000; flow++) {
		if (flow % 2 == 0)
			make_v4(frame, 0x0a140001, flow);
		else
			make_v6(frame, "\x24\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\1", flow);
		CHECK(way_of(&bench, frame, flow % 2 == 0 ? V4_LEN : V6_LEN, received) != NULL);
		memcpy(first, received, sizeof(first));
		by_member[first[5]]++;
		CHECK(way_of(&bench, frame, flow % 2 == 0 ? V4_LEN : V6_LEN, received) != NULL);
		CHECK(memcmp(first, received, sizeof(first)) == 0);
	}
	for (unsigned int member = 0x1a; member <= 0x1c; member++)
		CHECK(by_member[member] > 850 && by_member[member] < 1150);
	check_closes(&bench_task(&bench, "r")->stats);
	bench_down(&bench);
}

struct exception {
	const char *cause;
	const char *class; /* NULL: dropped */
	void (*make)(uint8_t *frame);
	uint16_t length;
};

static void
make_no_route(uint8_t *frame)
{
	make_v4(frame, 0x0b000001, 1);
}

static void
make_expired(uint8_t *frame)
{
	make_v4(frame, 0x0a000001, 1);
	frame[22] = 1;
	sum_up(frame);
}

static void
make_bad_header(uint8_t *frame)
{
	make_v4(frame, 0x0a000001, 1);
	frame[24] ^= 1;
}

static void
make_options(uint8_t *frame)
{
	make_v4(frame, 0x0a000001, 1);
	frame[14] = 0x46;
}

static void
make_hop_by_hop(uint8_t *frame)
{
	make_v6(frame, "\x24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1);
	frame[20] = 0;
}

static void
make_arp(uint8_t *frame)
{
	memset(frame, 0, V4_LEN);
	memset(frame, 0xff, 6);
	be16_store(frame + 12, 0x0806);
}

static void
make_unknown(uint8_t *frame)
{
	make_arp(frame);
	be16_store(frame + 12, 0x88b5);
}

/* A tag of VLAN 7, and ARP behind it. */
static void
make_tagged(uint8_t *frame)
{
	make_arp(frame);
	be16_store(frame + 12, 0x8100);
	be16_store(frame + 14, 7);
	be16_store(frame + 16, 0x0806);
}

static void
make_other_mac(uint8_t *frame)
{
	make_v4(frame, 0x0a000001, 1);
	frame[5] = 0x98;
}

static void
make_broadcast_frame(uint8_t *frame)
{
	make_v4(frame, 0x0a000001, 1);
	memset(frame, 0xff, 6);
}

static void
make_martian(uint8_t *frame)
{
	make_v4(frame, 0x7f000001, 1);
}

/* OSPF's: their TTL is 1, which is no reason here. */
static void
make_multicast(uint8_t *frame)
{
	make_v4(frame, 0xe0000005, 1);
	memcpy(frame, "\1\0\x5e\0\0\5", 6);
	frame[22] = 1;
	sum_up(frame);
}

static void
make_far_multicast(uint8_t *frame)
{
	make_v4(frame, 0xef010101, 1);
	memcpy(frame, "\1\0\x5e\1\1\1", 6);
}

/* IGMP reports go to the group itself. */
static void
make_membership(uint8_t *frame)
{
	make_far_multicast(frame);
	frame[23] = 2;
	sum_up(frame);
}

static void
make_link_multicast_v6(uint8_t *frame)
{
	make_v6(frame, "\xff\2\0\0\0\0\0\0\0\0\0\0\0\0\0\5", 1);
	memcpy(frame, "\x33\x33\0\0\0\5", 6);
}

static void
make_far_multicast_v6(uint8_t *frame)
{
	make_v6(frame, "\xff\5\0\0\0\0\0\0\0\0\0\0\0\0\0\5", 1);
	memcpy(frame, "\x33\x33\0\0\0\5", 6);
}

static void
make_blackhole(uint8_t *frame)
{
	make_v4(frame, 0x0a040001, 1);
}

static void
make_local(uint8_t *frame)
{
	make_v4(frame, 0x0a050001, 1);
}

/* BGP's: a packet to the router itself needs no TTL. */
static void
make_local_last(uint8_t *frame)
{
	make_local(frame);
	frame[22] = 1;
	frame[23] = 6;
	be16_store(frame + 36, 179);
	sum_up(frame);
}

static void
make_local_v6(uint8_t *frame)
{
	make_v6(frame, "\x24\0\0\5\0\0\0\0\0\0\0\0\0\0\0\1", 1);
	frame[21] = 1;
}

static void
make_link_local(uint8_t *frame)
{
	make_v6(frame, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1);
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
	make_v4(frame, 0x0a060001, 1);
}

static void
make_fragment(uint8_t *frame)
{
	make_v4(frame, 0x0a070001, 1);
	be16_store(frame + 16, 106);
	sum_up(frame);
}

static void
make_too_big(uint8_t *frame)
{
	make_fragment(frame);
	frame[20] = 0x40;
	sum_up(frame);
}

static const struct exception exceptions[] = {
	{"no_route", "rest", make_no_route, V4_LEN},
	{"ttl_expired", "rest", make_expired, V4_LEN},
	{"bad_header", NULL, make_bad_header, V4_LEN},
	{"options", "rest", make_options, V4_LEN},
	{"options", "rest", make_hop_by_hop, V6_LEN},
	{"not_ip", "protocol", make_arp, V4_LEN},
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
	struct bench bench = router(INI_MAC "punt_tx = 2\n");
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
		way = way_of(&bench, frame, each->length, received);
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

/* Without a host all of it is dropped, by the same causes; padding is not part of a packet. */
static void
test_no_host(void)
{
	struct bench bench = router("");
	uint8_t frame[120] = {0}, received[128];

	make_local(frame);
	CHECK(way_of(&bench, frame, V4_LEN, received) == NULL);
	make_too_big(frame);
	CHECK(way_of(&bench, frame, 120, received) == NULL);
	CHECK_EQ(figure(&bench, "r", "local"), 1);
	CHECK_EQ(figure(&bench, "r", "too_big"), 1);
	CHECK_EQ(figure(&bench, "r", "punted_protocol") + figure(&bench, "r", "punted_rest"), 0);
	make_v4(frame, 0x0a070001, 1);
	check_way(&bench, frame, 120, "a");
	/* No address of ours was given: any is. */
	make_other_mac(frame);
	check_way(&bench, frame, V4_LEN, "a");
	check_closes(&bench_task(&bench, "r")->stats);
	bench_down(&bench);
}

/* One class uses up its rate, and leaves that of the others alone. */
static void
test_rates(void)
{
	struct bench bench = router("punt_tx = 2\npunt_fps = 1\nprotocol_tx = 1\n");
	uint8_t frame[V4_LEN];

	for (unsigned int i = 0; i < 300; i++) {
		make_neighbour(frame);
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		bench_poll(&bench, 1);
	}
	CHECK_EQ(figure(&bench, "r", "neighbour"), 300);
	CHECK(figure(&bench, "r", "punted_neighbour") >= 256);
	CHECK(figure(&bench, "r", "over_rate_neighbour") > 0);
	CHECK_EQ(figure(&bench, "r", "punted_neighbour"), bench_drain(&bench, "h"));
	make_local_last(frame);
	check_way(&bench, frame, V4_LEN, "b");
	make_local(frame);
	check_way(&bench, frame, V4_LEN, "h");
	make_no_route(frame);
	check_way(&bench, frame, V4_LEN, "h");
	check_closes(&bench_task(&bench, "r")->stats);
	bench_down(&bench);
}

static void *
build(struct bench *bench, const char *text, char *error, size_t size)
{
	struct task *task = bench_task(bench, "r");
	char path[32];
	void *built;

	write_routes(path, text);
	built = task->ops->reload->build(task, path, NULL, error, size);
	unlink(path);
	return built;
}

/* Tables that replace others are in force at once, and a flow whose member stays does not move. */
static void
test_reload(void)
{
	struct bench bench = router("");
	struct task *task = bench_task(&bench, "r");
	uint8_t frame[V4_LEN], received[128], members[1000], moved = 0;
	char error[256];
	void *built;

	for (uint16_t flow = 0; flow < 1000; flow++) {
		make_v4(frame, 0x0a140001, flow);
		CHECK(way_of(&bench, frame, V4_LEN, received) != NULL);
		members[flow] = received[5];
	}
	/* Member 1 is gone, and hop 2 has another number in the order of the file. */
	built = build(&bench,
		      "wirespeed-routes 1\n"
		      "hop 3 0 02:00:00:00:00:0a 02:00:00:00:00:1c\n"
		      "hop 2 1 02:00:00:00:00:0b 02:00:00:00:00:1b\n"
		      "group 20 3 2\nroute 10.20.0.0/16 20\n",
		      error, sizeof(error));
	CHECK(built != NULL);
	task->ops->reload->exchange(task, built);
	/* The former tables are there until every lcore has answered. */
	CHECK_EQ(figure(&bench, "r", "generation"), 2);
	CHECK_EQ(figure(&bench, "r", "routes_ipv4"), 1);
	task->ops->reload->settle(task);
	for (uint16_t flow = 0; flow < 1000; flow++) {
		make_v4(frame, 0x0a140001, flow);
		CHECK(way_of(&bench, frame, V4_LEN, received) != NULL);
		CHECK(received[5] != 0x1a);
		CHECK(members[flow] == 0x1a || members[flow] == received[5]);
		moved |= members[flow] != received[5];
	}
	CHECK_EQ(moved, 1);
	make_v4(frame, 0x0a000001, 1);
	CHECK(way_of(&bench, frame, V4_LEN, received) == NULL);
	CHECK_EQ(figure(&bench, "r", "no_route"), 1);
	bench_down(&bench);
}

static void
test_reload_faults(void)
{
	struct bench bench = router("");
	char error[256];

	CHECK(build(&bench, "wirespeed-routes 1\nhop 1\n", error, sizeof(error)) == NULL);
	CHECK(strstr(error, "line 2: a hop is: hop ID PORT") == error);
	CHECK(build(&bench, "wirespeed-routes 1\nhop 1 3 2:0:0:0:0:1 2:0:0:0:0:2\n", error,
		    sizeof(error)) == NULL);
	CHECK(strcmp(error, "hop 1 leaves by port 3; there are 3") == 0);
	CHECK_EQ(figure(&bench, "r", "generation"), 1);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_ways();
	test_groups();
	test_exceptions();
	test_no_host();
	test_rates();
	test_reload();
	test_reload_faults();
	return 0;
}
