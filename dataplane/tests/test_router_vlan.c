/* SPDX-License-Identifier: Apache-2.0 */
/* router: frames by VLANs of its ports. Interfaces, neighbours and routes come from messages as a kernel sends
 * them; the kernel itself is replaced: the linker calls __wrap_host_* instead of host_*. */
/* First: headers of the system have a macro IP_OPTIONS. */
#include "tasks/router_vlan.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rte_ethdev.h>

#include "mirror/compile.h"
#include "mirror/netlink.h"
#include "pktlib/bytes.h"
#include "router_bench.h"
#include "tasks/router_host.h"

#define NO_TAG 0xffff
/* Neighbours. */
#define BEHIND_A 0x0a010009
#define BEHIND_A_100 0x0a020009
#define BEHIND_B_200 0x0a030009
#define OURS_100 0x0a020001

static struct host_task attached;
static struct router_host host;

struct host_task *__wrap_host_attach(struct task *task, const struct host_config *config);
void __wrap_host_detach(struct host_task *host_task);
void __wrap_host_stats(const struct router_host *of, struct telemetry_out *out);

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

static struct router_tables *
make_tables(const struct router_space *space)
{
	struct compile_report report;
	struct router_tables *tables;
	struct kernel kernel;
	struct routes routes;
	struct hop_ids ids;
	char error[256];

	report_links(&kernel);
	report_routes(&kernel);
	CHECK_EQ(kernel.malformed, 0);
	hop_ids_open(&ids);
	CHECK(compile(&kernel, &ids, &routes, &report));
	tables = router_tables_make(space, &routes, NULL, error, sizeof(error));
	CHECK(tables != NULL);
	CHECK(router_links_read(&tables->links, &kernel, space->socket_id));
	routes_free(&routes);
	hop_ids_close(&ids);
	kernel_close(&kernel);
	return tables;
}

struct host_task *
__wrap_host_attach(struct task *task, const struct host_config *config __rte_unused)
{
	static const char *const names[PUNT_CLASSES] = {"p", "n", "l", "r"};

	host.space = router_space_get_empty("vlan", task->socket_id, task->nb_out);
	CHECK(host.space != NULL);
	router_space_exchange(host.space, make_tables(host.space));
	router_space_settle(host.space);
	attached = (struct host_task){.task = task, .host = &host, .interface_of = {0, 1}};
	for (unsigned int i = 0; i < PUNT_CLASSES; i++) {
		attached.punts[i] = rte_ring_create(names[i], 64, task->socket_id,
						    RING_F_SP_ENQ | RING_F_SC_DEQ);
		CHECK(attached.punts[i] != NULL);
	}
	return &attached;
}

void
__wrap_host_detach(struct host_task *host_task)
{
	for (unsigned int i = 0; i < PUNT_CLASSES; i++)
		rte_ring_free(host_task->punts[i]);
	router_space_put(host.space);
}

void
__wrap_host_stats(const struct router_host *of __rte_unused, struct telemetry_out *out __rte_unused)
{
}

static struct bench
up(void)
{
	return bench_up("[pool]\nmbufs = 4096\ncache = 0\n[port.in]\ndevice = net_ring0\n"
			"[port.a]\ndevice = net_ring1\n[port.b]\ndevice = net_ring2\n"
			"[task.r]\ntype = router\nlcore = 1\nrx = in:0\ntx = a:0, b:0\n"
			"kernel = east, west\n");
}

/* Put a tag into a frame of this length. Return the new length. */
static uint16_t
tag(uint8_t *frame, uint16_t length, uint16_t tci)
{
	memmove(frame + 16, frame + 12, length - 12u);
	be16_store(frame + 12, 0x8100);
	be16_store(frame + 14, tci);
	return length + 4;
}

/* A frame to the interface with this address. */
static void
make(uint8_t *frame, uint32_t destination, uint8_t mac)
{
	router_make_v4(frame, destination, 1);
	frame[5] = mac;
}

/* Let the router handle a frame whose tag is in it, or in its mbuf as of a NIC that strips tags. */
static void
handle(struct bench *bench, const uint8_t *frame, uint16_t length, uint16_t tci, bool is_stripped)
{
	struct task *task = bench_task(bench, "r");
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(task->pool);
	uint8_t octets[2048];

	CHECK(mbuf != NULL);
	memcpy(octets, frame, length);
	if (tci != NO_TAG && is_stripped) {
		mbuf->vlan_tci = tci;
		mbuf->ol_flags |= VLAN_STRIPPED;
	} else if (tci != NO_TAG) {
		length = tag(octets, length, tci);
	}
	memcpy(rte_pktmbuf_append(mbuf, length), octets, length);
	task->from = 0;
	task->stats.rx++;
	task->ops->handle(task, &mbuf, 1);
	check_closes(&task->stats);
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

/* Check that a frame leaves by a port, and without a tag next to it, which another task would take for its. */
static void
check_leaves(struct bench *bench, const char *port, const uint8_t *frame, uint16_t length)
{
	struct rte_mbuf *mbuf = NULL;

	for (unsigned int i = 0; i < bench->app->nb_ports; i++)
		if (strcmp(bench->app->ports[i].name, port) == 0)
			CHECK_EQ(rte_eth_rx_burst(bench->app->ports[i].id, 0, &mbuf, 1), 1);
	CHECK(mbuf != NULL);
	CHECK_EQ(mbuf->pkt_len, length);
	CHECK(memcmp(rte_pktmbuf_mtod(mbuf, const void *), frame, length) == 0);
	CHECK(!vlan_is_stripped(mbuf));
	rte_pktmbuf_free(mbuf);
}

static void
test_ways(void)
{
	struct bench bench = up();

	CHECK_EQ(figure(&bench, "r", "vlans"), 3);
	for (size_t i = 0; i < 2 * RTE_DIM(ways); i++) {
		const struct way *way = &ways[i / 2];
		uint8_t frame[128];
		uint16_t length = V4_LEN;

		make(frame, way->destination, way->mac);
		handle(&bench, frame, V4_LEN, way->tci, i % 2 == 1);
		memcpy(frame, "\2\0\0\0\0\0\2\0\0\0\0\0", 12);
		frame[5] = way->target;
		frame[11] = way->source;
		frame[22]--;
		router_sum_up(frame);
		if (way->tag != NO_TAG)
			length = tag(frame, length, way->tag);
		check_leaves(&bench, way->port, frame, length);
	}
	bench_down(&bench);
}

/* Untagged and tagged frames in one burst. */
static void
test_mixed_burst(void)
{
	struct bench bench = up();
	uint8_t frame[128], received[128];

	for (unsigned int i = 0; i < 32; i++) {
		uint16_t length = V4_LEN;

		make(frame, BEHIND_A, i % 3 == 0 ? 0x21 : 0x0b);
		if (i % 3 == 0)
			length = tag(frame, length, 100);
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
	struct bench bench = up();
	const struct task_stats *stats = &bench_task(&bench, "r")->stats;

	for (size_t i = 0; i < 2 * RTE_DIM(drops); i++) {
		uint64_t before = figure(&bench, "r", drops[i / 2].cause);
		uint8_t frame[128];

		make(frame, BEHIND_A, drops[i / 2].mac);
		handle(&bench, frame, V4_LEN, drops[i / 2].tci, i % 2 == 1);
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
	length = tag(wanted, length, tci);
	CHECK_EQ(rte_ring_sc_dequeue(attached.punts[class], (void **)&mbuf), 0);
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
	make(frame, OURS_100, 0x21);
	frame[23] = 6;
	be16_store(frame + 36, 179);
	router_sum_up(frame);
}

static void
make_local(uint8_t *frame)
{
	make(frame, OURS_100, 0x21);
}

static void
make_unknown_neighbour(uint8_t *frame)
{
	make(frame, BEHIND_A_100 + 1, 0x21);
}

static void
make_no_route(uint8_t *frame)
{
	make(frame, TO_NOWHERE, 0x21);
}

/* A second tag is no VLAN of the router's. */
static void
make_stacked(uint8_t *frame)
{
	make(frame, BEHIND_A, 0x21);
	tag(frame, V4_LEN - 4, 5);
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
	struct bench bench = up();

	for (size_t i = 0; i < 2 * RTE_DIM(exceptions); i++) {
		uint8_t frame[128];

		exceptions[i / 2].make(frame);
		handle(&bench, frame, V4_LEN, 0x6064, i % 2 == 1);
		check_punted(exceptions[i / 2].class, frame, V4_LEN, 0x6064);
	}
	bench_down(&bench);
}

/* The MTU is that of the VLAN, without its tag. */
static void
test_mtu(void)
{
	struct bench bench = up();
	uint8_t frame[1400] = {0}, received[1400];
	struct rte_mbuf *mbuf = NULL;

	for (uint16_t size = 1300; size <= 1301; size++) {
		make(frame, BEHIND_B_200, 0x21);
		be16_store(frame + 16, size);
		router_sum_up(frame);
		handle(&bench, frame, size + 14, 100, size % 2 == 1);
	}
	CHECK_EQ(bench_receive(&bench, "b", received, sizeof(received)), 1318);
	CHECK_EQ(figure(&bench, "r", "fragment"), 1);
	CHECK_EQ(bench_drain(&bench, "b"), 0);
	CHECK_EQ(rte_ring_sc_dequeue(attached.punts[PUNT_REST], (void **)&mbuf), 0);
	rte_pktmbuf_free(mbuf);
	bench_down(&bench);
}

/* A tag counts for the least length of a frame: without it, zeros do. */
static void
test_short_frame(void)
{
	struct bench bench = up();
	uint8_t frame[128], received[128];

	for (int i = 0; i < 2; i++) {
		make(frame, BEHIND_A, 0x21);
		be16_store(frame + 16, 40);
		router_sum_up(frame);
		handle(&bench, frame, 56, 100, i == 1);
		CHECK_EQ(bench_receive(&bench, "a", received, sizeof(received)), 60);
		CHECK_EQ(be32_load(received + 56), 0);
	}
	bench_down(&bench);
}

static void
test_no_headroom(void)
{
	struct bench bench = up();
	struct task *task = bench_task(&bench, "r");
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(task->pool);
	uint8_t frame[128];

	make(frame, BEHIND_B_200, 0x0b);
	CHECK(mbuf != NULL);
	mbuf->data_off = 3;
	memcpy(rte_pktmbuf_append(mbuf, V4_LEN), frame, V4_LEN);
	task->stats.rx++;
	task->ops->handle(task, &mbuf, 1);
	CHECK_EQ(figure(&bench, "r", "no_headroom"), 1);
	check_closes(&task->stats);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_ways();
	test_mixed_burst();
	test_drops();
	test_exceptions();
	test_mtu();
	test_short_frame();
	test_no_headroom();
	return 0;
}
