/* SPDX-License-Identifier: Apache-2.0 */
/* l3fwd: a router with static routes. Looks the destination up (IPv4 and IPv6), takes one from the
 * TTL or hop limit, corrects the IPv4 checksum, and sends to the next hop's address. It has no slow
 * path: what a router would answer, or hand to its host, is dropped and counted by cause. */
#include <errno.h>
#include <string.h>
#include <rte_prefetch.h>

#include "core/config.h"
#include "core/task.h"
#include "core/telemetry.h"
#include "ip_burst.h"
#include "l3fwd_tables.h"
#include "pktlib/ip_forward.h"

struct l3fwd {
	const struct l3fwd_tables *tables;
	const char *path; /* lives as long as the configuration */
	uint64_t verdicts[IP_VERDICTS];
};

static int
l3fwd_init(struct task *task, const struct config_section *section)
{
	struct l3fwd *l3fwd = task->priv;

	if (!config_require(section, "routes"))
		return -EINVAL;
	l3fwd->path = config_string(section, "routes");
	return l3fwd_tables_check(section, l3fwd->path, task->nb_out) == 0 ? 0 : -EINVAL;
}

static int
l3fwd_prepare(struct task *task)
{
	struct l3fwd *l3fwd = task->priv;

	l3fwd->tables = l3fwd_tables_get(l3fwd->path, task->socket_id, task->nb_out);
	return l3fwd->tables == NULL ? -ENOMEM : 0;
}

static void
l3fwd_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct l3fwd *l3fwd = task->priv;
	const struct l3fwd_tables *tables = l3fwd->tables;
	struct rte_mbuf *dropped[TASK_BURST];
	uint8_t verdicts[TASK_BURST], outs[TASK_BURST];
	uint16_t left = 0, lost = 0;
	struct ip_burst burst;

	n = task_discard_short(task, mbufs, n, RTE_ETHER_HDR_LEN);
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	ip_burst_begin(&burst);
	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);
		uint8_t version = 0;

		/* Headers are read in a frame's first segment; its length is that of all. */
		verdicts[i] = ip_judge(frame, mbufs[i]->data_len, mbufs[i]->pkt_len, &version);
		if (verdicts[i] == IP_FORWARD)
			ip_burst_add(&burst, frame, version, (uint8_t)i);
	}
	ip_burst_look_up(&burst, &tables->fib);
	for (uint16_t i = 0; i < n; i++) {
		uint8_t verdict = verdicts[i];
		const struct l3fwd_hop *hop;

		if (verdict == IP_FORWARD && burst.value_of[i] == FIB_NO_ROUTE)
			verdict = IP_NO_ROUTE;
		if (unlikely(verdict != IP_FORWARD)) {
			l3fwd->verdicts[verdict]++;
			dropped[lost++] = mbufs[i];
			continue;
		}
		hop = &tables->hops[burst.value_of[i]];
		ip_rewrite(rte_pktmbuf_mtod(mbufs[i], uint8_t *), hop->macs);
		outs[left] = hop->port;
		mbufs[left++] = mbufs[i];
	}
	ip_burst_send(task, mbufs, outs, left);
	if (unlikely(lost > 0))
		task_discard(task, dropped, lost);
}

static void
l3fwd_stats(const struct task *task, struct telemetry_out *out)
{
	const struct l3fwd *l3fwd = task->priv;

	for (unsigned int i = IP_FORWARD + 1; i < IP_VERDICTS; i++)
		telemetry_u64(out, ip_verdict_names[i], l3fwd->verdicts[i]);
	telemetry_u64(out, "routes", l3fwd->tables->nb_routes);
	telemetry_u64(out, "hops", l3fwd->tables->nb_hops);
}

static void
l3fwd_reset(struct task *task)
{
	struct l3fwd *l3fwd = task->priv;

	memset(l3fwd->verdicts, 0, sizeof(l3fwd->verdicts));
}

static void
l3fwd_close(struct task *task)
{
	struct l3fwd *l3fwd = task->priv;

	l3fwd_tables_put(l3fwd->tables);
}

static const struct task_ops l3fwd = {
	.name = "l3fwd",
	.private_size = sizeof(struct l3fwd),
	.takes_input = true,
	.max_out = TASK_MAX_OUT,
	.init = l3fwd_init,
	.prepare = l3fwd_prepare,
	.handle = l3fwd_handle,
	.stats = l3fwd_stats,
	.reset = l3fwd_reset,
	.close = l3fwd_close,
};

TASK_REGISTER(l3fwd)
