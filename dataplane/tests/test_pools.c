/* SPDX-License-Identifier: Apache-2.0 */
/* A port that frees what it has sent in bulk puts all of it into one pool: so it must never be asked
 * to where frames of a second pool could reach it. DPDK's answers are changed on their way (the linker
 * calls __wrap_* instead): lcore 2 and a NIC are on NUMA node 1, and every device offers fast free. */
#include <stdlib.h>
#include <string.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "harness.h"

#define NIC "0000:03:00.0"
#define NIC_DEVICE "net_ring7" /* what answers to the NIC's address */

static struct app *starting;
static unsigned int configured, fast_free, pools_then, nb_queues;
static const struct rte_mempool *queue_pools[2]; /* of the ports in their order */

unsigned int __wrap_rte_lcore_to_socket_id(unsigned int lcore_id);
int __real_rte_eth_dev_get_port_by_name(const char *name, uint16_t *id);
int __wrap_rte_eth_dev_get_port_by_name(const char *name, uint16_t *id);
int __real_rte_eth_dev_socket_id(uint16_t id);
int __wrap_rte_eth_dev_socket_id(uint16_t id);
int __real_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __real_rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx,
				 const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx,
				 const struct rte_eth_conf *conf);

int __real_rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t descriptors,
				  unsigned int socket_id, const struct rte_eth_rxconf *conf,
				  struct rte_mempool *pool);
int __wrap_rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t descriptors,
				  unsigned int socket_id, const struct rte_eth_rxconf *conf,
				  struct rte_mempool *pool);

struct rte_mempool *
__real_rte_mempool_create_empty(const char *name, unsigned int n, unsigned int element,
				unsigned int cache, unsigned int private, int socket_id,
				unsigned int flags);
struct rte_mempool *
__wrap_rte_mempool_create_empty(const char *name, unsigned int n, unsigned int element,
				unsigned int cache, unsigned int private, int socket_id,
				unsigned int flags);
struct rte_mempool *
__real_rte_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache,
			       uint16_t private, uint16_t room, int socket_id);
struct rte_mempool *
__wrap_rte_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache,
			       uint16_t private, uint16_t room, int socket_id);

/* This machine may have no node 1: its pool is made on node 0. */
struct rte_mempool *
__wrap_rte_mempool_create_empty(const char *name, unsigned int n, unsigned int element,
				unsigned int cache, unsigned int private,
				int socket_id __rte_unused, unsigned int flags)
{
	return __real_rte_mempool_create_empty(name, n, element, cache, private, 0, flags);
}

struct rte_mempool *
__wrap_rte_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache,
			       uint16_t private, uint16_t room, int socket_id __rte_unused)
{
	return __real_rte_pktmbuf_pool_create(name, n, cache, private, room, 0);
}

unsigned int
__wrap_rte_lcore_to_socket_id(unsigned int lcore_id)
{
	return lcore_id == 2;
}

int
__wrap_rte_eth_dev_get_port_by_name(const char *name, uint16_t *id)
{
	return __real_rte_eth_dev_get_port_by_name(strcmp(name, NIC) == 0 ? NIC_DEVICE : name, id);
}

int
__wrap_rte_eth_dev_socket_id(uint16_t id)
{
	uint16_t nic;

	return __real_rte_eth_dev_get_port_by_name(NIC_DEVICE, &nic) == 0 && nic == id;
}

int
__wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info)
{
	int ret = __real_rte_eth_dev_info_get(id, info);

	info->tx_offload_capa |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	return ret;
}

int
__wrap_rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	struct rte_eth_conf without = *conf;

	configured++;
	fast_free += (conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0;
	pools_then = pools_count(&starting->pools);
	without.txmode.offloads &= ~RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	return __real_rte_eth_dev_configure(id, rx, tx, &without);
}

int
__wrap_rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t descriptors,
			      unsigned int socket_id, const struct rte_eth_rxconf *conf,
			      struct rte_mempool *pool)
{
	queue_pools[nb_queues++] = pool;
	return __real_rte_eth_rx_queue_setup(id, queue, descriptors, socket_id, conf, pool);
}

/* Two ports; east's queue is read on one lcore, west's on another. */
static struct bench
up(const char *west, unsigned int east_lcore, unsigned int west_lcore)
{
	char *lcores = (char *)"--lcores=as the harness did";
	struct bench bench;
	char ini[512];

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 1024\ncache = 0\n"
		 "[port.east]\ndevice = net_ring0\n[port.west]\ndevice = %s\n"
		 "[task.t]\ntype = io\nlcore = %u\nrx = east:0\ntx = west:0\n"
		 "[task.u]\ntype = io\nlcore = %u\nrx = west:0\ntx = east:0\n",
		 west, east_lcore, west_lcore);
	configured = fast_free = nb_queues = 0;
	bench.config = harness_config(ini);
	bench.app = starting = app_parse(bench.config, 1, &lcores);
	CHECK_EQ(config_report(bench.config), 0);
	CHECK_EQ(app_start(bench.app), 0);
	CHECK_EQ(configured, 2);
	/* All pools exist when a port is configured. */
	CHECK_EQ(pools_count(&bench.app->pools), pools_then);
	return bench;
}

static void
test_one_node(void)
{
	struct bench bench = up("net_ring1", 1, 1);

	CHECK_EQ(pools_then, 1);
	CHECK_EQ(fast_free, 2);
	bench_down(&bench);
}

/* Frames that a port's queue receives lie where its reader runs. */
static void
test_lcores_on_two_nodes(void)
{
	struct bench bench = up("net_ring1", 1, 2);

	CHECK_EQ(pools_then, 2);
	CHECK_EQ(fast_free, 0);
	CHECK(queue_pools[0] == pools_get(&bench.app->pools, 0));
	CHECK(queue_pools[1] == pools_get(&bench.app->pools, 1));
	bench_down(&bench);
}

/* The NIC comes second: when the first port is configured, nothing else shows the second pool. A NIC
 * writes frames on its own node, wherever they are read. */
static void
test_a_nic_on_another_node(void)
{
	struct bench bench;

	CHECK_EQ(rte_eal_hotplug_add("vdev", NIC_DEVICE, ""), 0);
	bench = up(NIC, 1, 1);
	CHECK_EQ(pools_then, 2);
	CHECK_EQ(fast_free, 0);
	CHECK(queue_pools[0] == pools_get(&bench.app->pools, 0));
	CHECK(queue_pools[1] == pools_get(&bench.app->pools, 1));
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_one_node();
	test_lcores_on_two_nodes();
	test_a_nic_on_another_node();
	return 0;
}
