/* SPDX-License-Identifier: Apache-2.0 */
/* [pool]: one mbuf pool on every NUMA node that has an lcore or a NIC.
 *
 * All are made before the first port is configured, and none later: a port that may free its frames in
 * bulk (MBUF_FAST_FREE) puts all of them into the pool of one, so there must be but one. */
#ifndef WSDP_POOL_H
#define WSDP_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_config.h>
#include <rte_mempool.h>

struct config;

struct pools {
	uint32_t mbufs;      /* per NUMA node */
	uint32_t cache;      /* per lcore */
	uint16_t data_bytes; /* room per mbuf, headroom included */
	bool no_dma;         /* no device reads or writes mbufs by itself */
	struct rte_mempool *of_socket[RTE_MAX_NUMA_NODES];
};

/* Read [pool]; `frame_bytes` is the largest frame that a port or a task handles, without FCS. */
void pools_parse(struct pools *pools, const struct config *config, uint32_t frame_bytes);
/* The largest frame without FCS that one mbuf holds. */
uint32_t pools_frame_room(const struct pools *pools);
/* Have a pool on a NUMA node (SOCKET_ID_ANY: on node 0). Returns 0, or -ENOMEM after a message. */
int pools_add(struct pools *pools, int socket_id);
/* Return the pool of a NUMA node, or NULL. */
struct rte_mempool *pools_get(const struct pools *pools, int socket_id);
/* Some pool, or NULL: there is none. */
struct rte_mempool *pools_any(const struct pools *pools);
unsigned int pools_count(const struct pools *pools);
void pools_free(struct pools *pools);

#endif
