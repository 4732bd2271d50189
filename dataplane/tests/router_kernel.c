/* SPDX-License-Identifier: Apache-2.0 */
#include "router_kernel.h"

#include <string.h>
#include <rte_ethdev.h>

#include "mirror/compile.h"
#include "pktlib/bytes.h"

void (*router_kernel_report)(struct kernel *kernel);
struct host_task router_kernel_attached;
static struct router_host host;

struct host_task *__wrap_host_attach(struct task *task, const struct host_config *config);
void __wrap_host_detach(struct host_task *host_task);
void __wrap_host_stats(const struct router_host *of, struct telemetry_out *out);
void __wrap_vrf_stats(const struct router_tables *tables, struct telemetry_out *out);

static struct router_tables *
make_tables(const struct router_space *space)
{
	struct compile_report report;
	struct router_tables *tables;
	struct kernel kernel;
	struct routes routes;
	struct hop_ids ids;
	char error[256];

	router_kernel_report(&kernel);
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

	host.space = router_space_get_empty("kernel", task->socket_id, task->nb_out);
	CHECK(host.space != NULL);
	router_space_exchange(host.space, make_tables(host.space));
	router_space_settle(host.space);
	router_kernel_attached =
		(struct host_task){.task = task, .host = &host, .interface_of = {0, 1}};
	for (unsigned int i = 0; i < PUNT_CLASSES; i++) {
		router_kernel_attached.punts[i] = rte_ring_create(names[i], 64, task->socket_id,
								  RING_F_SP_ENQ | RING_F_SC_DEQ);
		CHECK(router_kernel_attached.punts[i] != NULL);
	}
	return &router_kernel_attached;
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

void
__wrap_vrf_stats(const struct router_tables *tables __rte_unused,
		 struct telemetry_out *out __rte_unused)
{
}

struct bench
router_kernel_up(void)
{
	return bench_up("[pool]\nmbufs = 4096\ncache = 0\n[port.in]\ndevice = net_ring0\n"
			"[port.a]\ndevice = net_ring1\n[port.b]\ndevice = net_ring2\n"
			"[task.r]\ntype = router\nlcore = 1\nrx = in:0\ntx = a:0, b:0\n"
			"kernel = east, west\n");
}

uint16_t
router_tag(uint8_t *frame, uint16_t length, uint16_t tci)
{
	memmove(frame + 16, frame + 12, length - 12u);
	be16_store(frame + 12, 0x8100);
	be16_store(frame + 14, tci);
	return length + 4;
}

void
router_kernel_make(uint8_t *frame, uint32_t destination, uint8_t mac)
{
	router_make_v4(frame, destination, 1);
	frame[5] = mac;
}

void
router_kernel_handle(struct bench *bench, const uint8_t *frame, uint16_t length, uint16_t tci,
		     bool is_stripped)
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
		length = router_tag(octets, length, tci);
	}
	memcpy(rte_pktmbuf_append(mbuf, length), octets, length);
	task->from = 0;
	task->stats.rx++;
	task->ops->handle(task, &mbuf, 1);
	check_closes(&task->stats);
}

void
router_kernel_check_leaves(struct bench *bench, const char *port, const uint8_t *frame,
			   uint16_t length)
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
