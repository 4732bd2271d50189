/* SPDX-License-Identifier: Apache-2.0 */
/* The header of its source, of which the file of the package is included, comes first. */
#include <rte_ethdev.h>

#include "dpdk_l3fwd.h"
#include "harness.h"
#include "pktlib/bytes.h"

/* The sink takes all that it sends. */
#define rte_eth_tx_burst(port, queue, mbufs, n) bench_sink(mbufs, n)
#include <l3fwd_fib.c>
#undef rte_eth_tx_burst

#define TBL8_V4 (1u << 16)
#define TBL8_V6 (1u << 18)
#define NB_DEFAULTS 2u
#define NB_PORTS 2u

/* Its main.c defines these. */
volatile bool force_quit;
uint64_t dest_eth_addr[RTE_MAX_ETHPORTS];
struct rte_ether_addr ports_eth_addr[RTE_MAX_ETHPORTS];
xmm_t val_eth[RTE_MAX_ETHPORTS];
struct lcore_conf lcore_conf[RTE_MAX_LCORE];

static struct lcore_conf *const conf = &lcore_conf[0];

static uint32_t
count(const struct routes *routes, uint8_t version)
{
	uint32_t nb = 0;

	for (uint32_t i = 0; i < routes->nb_routes; i++)
		nb += routes->list[i].version == version;
	return nb;
}

/* Its own setup_fib takes 65,536 prefixes, and its tables of the second stage are as many. */
static void
create(const struct routes *routes)
{
	struct rte_fib_conf v4 = {
		.type = RTE_FIB_DIR24_8,
		.max_routes = (int)(count(routes, 4) + NB_DEFAULTS),
		.default_nh = FIB_DEFAULT_HOP,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_4B, .num_tbl8 = TBL8_V4},
	};
	struct rte_fib6_conf v6 = {
		.type = RTE_FIB6_TRIE,
		.max_routes = (int)(count(routes, 6) + NB_DEFAULTS),
		.default_nh = FIB_DEFAULT_HOP,
		.trie = {.nh_sz = RTE_FIB6_TRIE_4B, .num_tbl8 = TBL8_V6},
	};
	int socket = (int)rte_socket_id();

	conf->ipv4_lookup_struct = rte_fib_create("l3fwd", socket, &v4);
	conf->ipv6_lookup_struct = rte_fib6_create("l3fwd6", socket, &v6);
	if (conf->ipv4_lookup_struct == NULL || conf->ipv6_lookup_struct == NULL)
		bench_fail("no memory for the tables of DPDK's l3fwd");
}

void
dpdk_l3fwd_start(const struct routes *routes)
{
	create(routes);
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];
		const void *prefix = route->prefix;
		uint8_t port = routes->hops[route->hop].port;
		int ret = route->version == 4 ? rte_fib_add(conf->ipv4_lookup_struct,
							    be32_load(prefix), route->length, port)
					      : rte_fib6_add(conf->ipv6_lookup_struct, prefix,
							     route->length, port);

		if (ret != 0)
			bench_fail("DPDK's l3fwd does not take a route");
	}
}

/* Its main loop does so after 100 us. */
static void
drain(void)
{
	for (uint16_t port = 0; port < NB_PORTS; port++) {
		if (conf->tx_mbufs[port].len > 0)
			send_burst(conf, conf->tx_mbufs[port].len, port);
		conf->tx_mbufs[port].len = 0;
	}
}

void
dpdk_l3fwd_handle(struct task *task __rte_unused, struct rte_mbuf **mbufs, uint16_t n)
{
	if (n == 0)
		drain();
	for (uint16_t first = 0; first < n; first += MAX_PKT_BURST)
		fib_send_packets(RTE_MIN(n - first, MAX_PKT_BURST), mbufs + first, 0, conf);
}
