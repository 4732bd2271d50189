/* SPDX-License-Identifier: Apache-2.0 */
/* l3fwd: a router with static routes. Looks the destination up (IPv4 and IPv6), takes one from the
 * TTL or hop limit, corrects the IPv4 checksum, and sends to the next hop's address. It has no slow
 * path: what a router would answer, or hand to its host, is dropped and counted by cause.
 *
 * RFC 1812 section 5.2.2 says which IPv4 headers are to be dropped. */
#include <errno.h>
#include <string.h>
#include <rte_prefetch.h>

#include "core/config.h"
#include "core/task.h"
#include "core/telemetry.h"
#include "l3fwd_fib.h"
#include "pktlib/ipv4.h"
#include "pktlib/protocol.h"

#define IPV6_LEN 40

enum verdict { FORWARD, NO_ROUTE, TTL, BAD_HEADER, OPTIONS, NOT_IP, VERDICTS };

static const char *const verdict_names[VERDICTS] = {
	[NO_ROUTE] = "no_route", [TTL] = "ttl_expired", [BAD_HEADER] = "bad_header",
	[OPTIONS] = "options",   [NOT_IP] = "not_ip",
};

struct l3fwd {
	const struct l3fwd_fib *fib;
	const char *path; /* lives as long as the configuration */
	uint64_t verdicts[VERDICTS];
};

/* The frames of a burst by IP version: addresses in a row for the lookup, and whose they are. */
struct burst {
	uint32_t v4[TASK_BURST];
	uint8_t v6[TASK_BURST][16];
	uint64_t hops[TASK_BURST];
	uint8_t at4[TASK_BURST], at6[TASK_BURST];
	uint16_t n4, n6;
	uint8_t verdicts[TASK_BURST];
	uint64_t hop_of[TASK_BURST]; /* of each frame of the burst */
};

static int
l3fwd_init(struct task *task, const struct config_section *section)
{
	struct l3fwd *l3fwd = task->priv;

	if (!config_require(section, "routes"))
		return -EINVAL;
	l3fwd->path = config_string(section, "routes");
	return l3fwd_fib_check(section, l3fwd->path, task->nb_out) == 0 ? 0 : -EINVAL;
}

static int
l3fwd_prepare(struct task *task)
{
	struct l3fwd *l3fwd = task->priv;

	l3fwd->fib = l3fwd_fib_get(l3fwd->path, task->socket_id);
	return l3fwd->fib == NULL ? -ENOMEM : 0;
}

static enum verdict
judge_v4(const uint8_t *ip, uint32_t left)
{
	uint16_t total;

	if (left < IPV4_LEN || ip[0] >> 4 != 4 || ip[0] < IPV4_NO_OPTIONS)
		return BAD_HEADER;
	total = be16_load(ip + 2);
	if (total < IPV4_LEN || total > left)
		return BAD_HEADER;
	if (ip[0] != IPV4_NO_OPTIONS)
		return OPTIONS;
	if (!ipv4_is_intact(ip))
		return BAD_HEADER;
	return ip[8] <= 1 ? TTL : FORWARD;
}

static enum verdict
judge_v6(const uint8_t *ip, uint32_t left)
{
	if (left < IPV6_LEN || ip[0] >> 4 != 6 || IPV6_LEN + (uint32_t)be16_load(ip + 4) > left)
		return BAD_HEADER;
	return ip[7] <= 1 ? TTL : FORWARD;
}

/* Headers are read in a frame's first segment; its length is that of all. */
static void
parse(struct burst *burst, const struct rte_mbuf *mbuf, uint8_t i)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *), *ip;
	uint32_t left = mbuf->pkt_len - RTE_ETHER_HDR_LEN;
	uint16_t type = be16_load(frame + 12), here = mbuf->data_len - RTE_ETHER_HDR_LEN;

	ip = frame + RTE_ETHER_HDR_LEN;
	if (type == ETH_TYPE_IPV4) {
		burst->verdicts[i] = here < IPV4_LEN ? BAD_HEADER : judge_v4(ip, left);
		if (burst->verdicts[i] == FORWARD) {
			burst->at4[burst->n4] = i;
			burst->v4[burst->n4++] = be32_load(ip + 16);
		}
	} else if (type == ETH_TYPE_IPV6) {
		burst->verdicts[i] = here < IPV6_LEN ? BAD_HEADER : judge_v6(ip, left);
		if (burst->verdicts[i] == FORWARD) {
			burst->at6[burst->n6] = i;
			memcpy(burst->v6[burst->n6++], ip + 24, 16);
		}
	} else {
		burst->verdicts[i] = NOT_IP;
	}
}

static void
look_up(const struct l3fwd_fib *fib, struct burst *burst)
{
	if (burst->n4 > 0) {
		if (fib->v4 != NULL)
			rte_fib_lookup_bulk(fib->v4, burst->v4, burst->hops, burst->n4);
		for (uint16_t i = 0; i < burst->n4; i++)
			burst->hop_of[burst->at4[i]] = fib->v4 != NULL ? burst->hops[i]
								       : L3FWD_NO_HOP;
	}
	if (burst->n6 > 0) {
		if (fib->v6 != NULL)
			rte_fib6_lookup_bulk(fib->v6, (void *)burst->v6, burst->hops, burst->n6);
		for (uint16_t i = 0; i < burst->n6; i++)
			burst->hop_of[burst->at6[i]] = fib->v6 != NULL ? burst->hops[i]
								       : L3FWD_NO_HOP;
	}
}

static void
rewrite(struct rte_mbuf *mbuf, const struct l3fwd_hop *hop)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	bool is_v4 = frame[RTE_ETHER_HDR_LEN] >> 4 == 4;

	memcpy(frame, hop->macs, sizeof(hop->macs));
	if (is_v4)
		ipv4_age(frame + RTE_ETHER_HDR_LEN);
	else
		frame[RTE_ETHER_HDR_LEN + 7]--;
}

/* Send each frame by the port of its hop; the order within a port stays. */
static void
send_by_port(struct task *task, struct rte_mbuf **mbufs, const uint8_t *ports, uint16_t n)
{
	struct rte_mbuf *chosen[TASK_BURST];
	uint16_t sent = 0;

	for (unsigned int port = 0; sent < n; port++) {
		uint16_t count = 0;

		for (uint16_t i = 0; i < n; i++)
			if (ports[i] == port)
				chosen[count++] = mbufs[i];
		if (count > 0)
			task_send(task, port, chosen, count);
		sent += count;
	}
}

static void
l3fwd_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct l3fwd *l3fwd = task->priv;
	const struct l3fwd_fib *fib = l3fwd->fib;
	struct rte_mbuf *dropped[TASK_BURST];
	uint8_t ports[TASK_BURST];
	uint16_t left = 0, lost = 0;
	struct burst burst;

	n = task_discard_short(task, mbufs, n, RTE_ETHER_HDR_LEN);
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	burst.n4 = burst.n6 = 0; /* all of it would be cleared with the rest */
	for (uint16_t i = 0; i < n; i++)
		parse(&burst, mbufs[i], (uint8_t)i);
	look_up(fib, &burst);
	for (uint16_t i = 0; i < n; i++) {
		uint8_t verdict = burst.verdicts[i];

		if (verdict == FORWARD && burst.hop_of[i] == L3FWD_NO_HOP)
			verdict = NO_ROUTE;
		if (unlikely(verdict != FORWARD)) {
			l3fwd->verdicts[verdict]++;
			dropped[lost++] = mbufs[i];
			continue;
		}
		rewrite(mbufs[i], &fib->hops[burst.hop_of[i]]);
		ports[left] = fib->hops[burst.hop_of[i]].port;
		mbufs[left++] = mbufs[i];
	}
	if (left > 0 && task->nb_out == 1)
		task_send(task, 0, mbufs, left);
	else if (left > 0)
		send_by_port(task, mbufs, ports, left);
	if (unlikely(lost > 0))
		task_discard(task, dropped, lost);
}

static void
l3fwd_stats(const struct task *task, struct telemetry_out *out)
{
	const struct l3fwd *l3fwd = task->priv;

	for (unsigned int i = FORWARD + 1; i < VERDICTS; i++)
		telemetry_u64(out, verdict_names[i], l3fwd->verdicts[i]);
	telemetry_u64(out, "routes", l3fwd->fib->nb_routes);
	telemetry_u64(out, "hops", l3fwd->fib->nb_hops);
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

	l3fwd_fib_put(l3fwd->fib);
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
