/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "config.h"
#include "pool.h"

#define ROOM_MAX 65472 /* the largest multiple of a cache line that an mbuf can describe */

void
pools_parse(struct pools *pools, const struct config *config, uint32_t frame_bytes)
{
	const struct config_section *section = config_find(config, "pool");
	uint32_t needed = RTE_ALIGN_CEIL(frame_bytes + RTE_PKTMBUF_HEADROOM, RTE_CACHE_LINE_SIZE);
	uint32_t room = RTE_MAX(needed, (uint32_t)RTE_MBUF_DEFAULT_BUF_SIZE);

	pools->mbufs = 65536;
	pools->cache = RTE_MEMPOOL_CACHE_MAX_SIZE;
	pools->data_bytes = RTE_MIN(room, (uint32_t)ROOM_MAX);
	if (section == NULL)
		return;
	config_u32(section, "cache", &pools->cache, 0, RTE_MEMPOOL_CACHE_MAX_SIZE);
	config_u32(section, "mbufs", &pools->mbufs, 64, 1u << 26);
	config_u16(section, "data_bytes", &pools->data_bytes, RTE_PKTMBUF_HEADROOM + 64, ROOM_MAX);
	/* rte_mempool's own condition: caches must not be able to swallow the pool. */
	if (pools->cache * 3 / 2 > pools->mbufs)
		config_fault(section, "cache", "must be at most two thirds of mbufs = %u",
			     pools->mbufs);
}

uint32_t
pools_frame_room(const struct pools *pools)
{
	return pools->data_bytes - RTE_PKTMBUF_HEADROOM;
}

/* As rte_pktmbuf_pool_create, but without the promise that no mbuf crosses a page. Keeping it on
 * 4 KiB pages puts one mbuf at the start of each, so that a burst of them fights for the same few
 * lines of the L1 cache: three times the cycles of a frame. Only devices that do DMA need it. */
static struct rte_mempool *
create_packed(const struct pools *pools, const char *name, int socket_id)
{
	struct rte_pktmbuf_pool_private settings = {.mbuf_data_room_size = pools->data_bytes};
	struct rte_mempool *pool = rte_mempool_create_empty(
		name, pools->mbufs, sizeof(struct rte_mbuf) + pools->data_bytes, pools->cache,
		sizeof(settings), socket_id, RTE_MEMPOOL_F_NO_IOVA_CONTIG);

	if (pool == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) != 0)
		goto failed;
	rte_pktmbuf_pool_init(pool, &settings);
	if (rte_mempool_populate_default(pool) < 0)
		goto failed;
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
failed:
	rte_mempool_free(pool);
	return NULL;
}

static unsigned int
node_of(int socket_id)
{
	return socket_id < 0 ? 0 : (unsigned int)socket_id;
}

int
pools_add(struct pools *pools, int socket_id)
{
	unsigned int node = node_of(socket_id);
	struct rte_mempool **pool = &pools->of_socket[node];
	char name[RTE_MEMPOOL_NAMESIZE];

	if (*pool != NULL)
		return 0;
	snprintf(name, sizeof(name), "mbufs_%u", node);
	if (pools->no_dma && !rte_eal_has_hugepages())
		*pool = create_packed(pools, name, (int)node);
	else
		*pool = rte_pktmbuf_pool_create(name, pools->mbufs, pools->cache, 0,
						pools->data_bytes, (int)node);
	if (*pool != NULL)
		return 0;
	fprintf(stderr,
		"wsdp: [pool] %u mbufs of %u octets do not fit on NUMA node %u: %s. Give DPDK more "
		"memory (--socket-mem, or -m with --no-huge) or lower mbufs.\n",
		pools->mbufs, pools->data_bytes, node, rte_strerror(rte_errno));
	return -ENOMEM;
}

struct rte_mempool *
pools_get(const struct pools *pools, int socket_id)
{
	return pools->of_socket[node_of(socket_id)];
}

struct rte_mempool *
pools_any(const struct pools *pools)
{
	for (unsigned int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		if (pools->of_socket[i] != NULL)
			return pools->of_socket[i];
	return NULL;
}

unsigned int
pools_count(const struct pools *pools)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		count += pools->of_socket[i] != NULL;
	return count;
}

void
pools_free(struct pools *pools)
{
	for (unsigned int i = 0; i < RTE_MAX_NUMA_NODES; i++) {
		rte_mempool_free(pools->of_socket[i]);
		pools->of_socket[i] = NULL;
	}
}
