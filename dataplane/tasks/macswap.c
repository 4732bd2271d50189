/* SPDX-License-Identifier: Apache-2.0 */
/* macswap: exchange source and destination MAC, so that frames return to their sender. */
#include <rte_ether.h>
#include <rte_prefetch.h>

#include "core/task.h"

static void
macswap_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	n = task_discard_short(task, mbufs, n, RTE_ETHER_HDR_LEN);
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *ether = rte_pktmbuf_mtod(mbufs[i], struct rte_ether_hdr *);
		struct rte_ether_addr source = ether->src_addr;

		ether->src_addr = ether->dst_addr;
		ether->dst_addr = source;
	}
	task_send(task, 0, mbufs, n);
}

static const struct task_ops macswap = {
	.name = "macswap",
	.takes_input = true,
	.max_out = 1,
	.handle = macswap_handle,
};

TASK_REGISTER(macswap)
