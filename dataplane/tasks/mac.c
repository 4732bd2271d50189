/* SPDX-License-Identifier: Apache-2.0 */
/* mac: rewrite the destination MAC (and the source, when given): the VNF of the papers, testpmd's
 * mac mode with a peer address. */
#include <errno.h>
#include <rte_ether.h>
#include <rte_prefetch.h>

#include "core/config.h"
#include "core/task.h"

struct mac {
	struct rte_ether_addr destination;
	struct rte_ether_addr source;
	bool rewrite_source;
};

static int
mac_init(struct task *task, const struct config_section *section)
{
	struct mac *mac = task->priv;

	if (!config_require(section, "dst_mac"))
		return -EINVAL;
	mac->rewrite_source = config_has(section, "src_mac");
	return config_mac(section, "dst_mac", &mac->destination) |
	       config_mac(section, "src_mac", &mac->source);
}

static void
mac_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	const struct mac *mac = task->priv;

	n = task_discard_short(task, mbufs, n, RTE_ETHER_HDR_LEN);
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *ether = rte_pktmbuf_mtod(mbufs[i], struct rte_ether_hdr *);

		ether->dst_addr = mac->destination;
		if (mac->rewrite_source)
			ether->src_addr = mac->source;
	}
	task_send(task, 0, mbufs, n);
}

static const struct task_ops mac = {
	.name = "mac",
	.private_size = sizeof(struct mac),
	.takes_input = true,
	.max_out = 1,
	.init = mac_init,
	.handle = mac_handle,
};

TASK_REGISTER(mac)
