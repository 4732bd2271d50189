/* SPDX-License-Identifier: Apache-2.0 */
/* [pool]: one mbuf pool on every NUMA node that has an lcore or a port. */
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
/* The pool of a NUMA node (SOCKET_ID_ANY: of node 0), created on first use. NULL: message given. */
struct rte_mempool *pools_get(struct pools *pools, int socket_id);
unsigned int pools_count(const struct pools *pools);
void pools_free(struct pools *pools);

#endif
