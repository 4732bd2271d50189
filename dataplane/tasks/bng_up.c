/* SPDX-License-Identifier: Apache-2.0 */
/* bng_up: from subscribers to the network. Takes both tags off, looks the subscriber and the route
 * up, puts MPLS, IPv4 and GRE on. Learns subscribers' hosts from ARP and answers it. */
#include <errno.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "bng_arp.h"
#include "bng_send.h"
#include "bng_worker.h"
#include "core/config.h"
#include "pktlib/bng/pppoe.h"

/* Properties of a burst's frames: an array for each, so that each is one plain store. */
struct burst {
	uint32_t lines[TASK_BURST];
	uint32_t destinations[TASK_BURST];
	uint32_t slots[TASK_BURST]; /* with PPPoE only */
	uint16_t totals[TASK_BURST];
};

struct bng_up_task {
	struct bng_settings settings;
	struct bng_arp_side arp;
	uint64_t verdicts[BNG_VERDICTS];
	struct rte_ether_addr inet_mac;
};

static int
bng_up_init(struct task *task, const struct config_section *section)
{
	struct bng_up_task *up = task->priv;
	int ret = bng_arp_side_init(&up->arp, section);

	ret |= config_mac(section, "inet_mac", &up->inet_mac);
	if (!config_require(section, "inet_mac"))
		ret = -1;
	ret |= bng_worker_init(&up->settings, task, section, true);
	task->wants_idle = true; /* hosts expire without traffic, too */
	return ret == 0 ? 0 : -EINVAL;
}

static int
bng_up_prepare(struct task *task)
{
	struct bng_up_task *up = task->priv;
	int ret = bng_worker_prepare(&up->settings, task);
	struct bng_tables *tables = &up->settings.worker->tables;

	if (ret != 0)
		return ret;
	bng_arp_side_start(&up->arp);
	bng_tables_set_source(tables, up->settings.local_ip, up->inet_mac.addr_bytes);
	if (bng_tables_add_local(tables, up->arp.gateway_ip) != BNG_CHANGED ||
	    (up->settings.local_ip != up->arp.gateway_ip &&
	     bng_tables_add_local(tables, up->settings.local_ip) != BNG_CHANGED)) {
		bng_worker_close(&up->settings);
		return -EADDRINUSE; /* the tables have a /32 route to the gateway itself */
	}
	return 0;
}

static void
handle_arp(struct task *task, struct rte_mbuf *mbuf)
{
	struct bng_up_task *up = task->priv;

	bng_arp_side_handle(&up->arp, task, &up->settings, up->verdicts, mbuf);
}

/* Parse a burst and bring near what it needs of the tables. Returns how many frames are left for
 * the fast path. */
static __rte_always_inline uint16_t
parse(const struct bng_tables *tables, struct rte_mbuf **mbufs, uint16_t n, struct burst *burst,
      struct bng_aside *aside, const bool pppoe)
{
	const uint16_t least = pppoe ? BNG_PPPOE_UP_MIN : BNG_UP_MIN;
	uint16_t left = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
		bool whole = mbuf->nb_segs == 1 && mbuf->data_off >= BNG_HEADROOM;

		if (likely(whole && mbuf->data_len >= least)) {
			struct bng_up parsed = pppoe ? bng_pppoe_parse(frame, mbuf->data_len)
						     : bng_up_parse(frame, mbuf->data_len);

			bng_map_prefetch(&tables->lines, parsed.line);
			bng_lpm_prefetch(&tables->routes, parsed.destination);
			burst->lines[left] = parsed.line;
			burst->destinations[left] = parsed.destination;
			burst->totals[left] = parsed.total;
			if (likely(parsed.fast)) {
				mbufs[left++] = mbuf;
				continue;
			}
		}
		bng_set_aside(aside, mbuf,
			      !whole  ? BNG_BUFFER
			      : pppoe ? bng_pppoe_judge(frame, mbuf->data_len)
				      : bng_up_judge(frame, mbuf->data_len));
	}
	return left;
}

/* Find the slots of a burst's subscribers, and bring their sessions near. */
static void
find_sessions(const struct bng_tables *tables, struct burst *burst, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		uint32_t value = bng_map_get(&tables->lines, burst->lines[i]);

		burst->slots[i] = BNG_NO_SLOT;
		if (unlikely(value == 0))
			continue;
		burst->slots[i] = bng_hosts_slot(&tables->hosts, value & BNG_KEY_MAX);
		rte_prefetch0(&tables->hosts.sessions[burst->slots[i]]);
	}
}

/* Nobody sends in another's session: it is the one of these tags. */
static bool
is_in_session(const struct bng_tables *tables, const struct burst *burst, uint16_t i,
	      const uint8_t *frame)
{
	return tables->hosts.sessions[burst->slots[i]] == bng_session_of(frame);
}

/* Look a parsed frame up and rewrite it. Returns what becomes of it. */
static __rte_always_inline enum bng_verdict
forward(const struct bng_tables *tables, struct rte_mbuf *mbuf, const struct burst *burst,
	uint16_t i, uint8_t *port, const bool pppoe)
{
	const uint16_t ip_at = pppoe ? BNG_PPPOE_IP_AT : BNG_QINQ_LEN;
	uint32_t value = bng_map_get(&tables->lines, burst->lines[i]);
	const struct bng_hop *hop =
		&tables->hops->ready[bng_lpm_get(&tables->routes, burst->destinations[i])];
	uint8_t *ip = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, ip_at);

	if (unlikely(value == 0))
		return BNG_NO_USER;
	if (pppoe && unlikely(!is_in_session(tables, burst, i, ip - ip_at)))
		return BNG_NO_SESSION;
	if (unlikely(hop->verdict != BNG_FORWARD))
		return hop->verdict;
	bng_encapsulate(ip, burst->totals[i], hop, value & BNG_KEY_MAX);
	mbuf->data_off += ip_at - hop->header_len;
	mbuf->data_len = hop->header_len + burst->totals[i];
	mbuf->pkt_len = mbuf->data_len;
	*port = hop->port;
	return BNG_FORWARD;
}

static __rte_always_inline void
handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n, const bool pppoe)
{
	struct bng_up_task *up = task->priv;
	const struct bng_tables *tables = &up->settings.worker->tables;
	struct burst burst;
	uint8_t ports[TASK_BURST];
	struct bng_aside aside;
	uint16_t left, sent = 0;

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	aside.nb = 0; /* all of it would be cleared with the rest */
	left = parse(tables, mbufs, n, &burst, &aside, pppoe);
	if (pppoe)
		find_sessions(tables, &burst, left);
	for (uint16_t i = 0; i < left; i++) {
		enum bng_verdict verdict =
			forward(tables, mbufs[i], &burst, i, &ports[sent], pppoe);

		if (likely(verdict == BNG_FORWARD))
			mbufs[sent++] = mbufs[i];
		else
			bng_set_aside(&aside, mbufs[i], verdict);
	}
	if (likely(up->settings.nb_forward == 1 && sent > 0))
		task_send(task, 0, mbufs, sent);
	else if (sent > 0)
		bng_worker_send(task, up->settings.nb_forward, mbufs, ports, sent);
	if (unlikely(aside.nb > 0))
		bng_worker_settle(task, &up->settings, &aside, up->verdicts, handle_arp);
}

static void
bng_up_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct bng_up_task *up = task->priv;
	uint64_t now_tsc = rte_rdtsc();

	if (unlikely(now_tsc >= up->arp.next_tick_tsc))
		bng_arp_side_tick(&up->arp, &up->settings.worker->tables.hosts, now_tsc);
	if (n == 0)
		return;
	if (up->settings.pppoe)
		handle(task, mbufs, n, true);
	else
		handle(task, mbufs, n, false);
}

static void
bng_up_stats(const struct task *task, struct telemetry_out *out)
{
	const struct bng_up_task *up = task->priv;

	bng_worker_stats(&up->settings, up->verdicts, out);
	bng_arp_side_stats(&up->arp, out);
}

static void
bng_up_reset(struct task *task)
{
	struct bng_up_task *up = task->priv;

	memset(up->verdicts, 0, sizeof(up->verdicts));
	bng_arp_side_reset(&up->arp);
}

static int
bng_up_control(struct task *task, const char *verb, const char *args)
{
	struct bng_up_task *up = task->priv;

	return bng_worker_control(&up->settings, verb, args);
}

static void
bng_up_close(struct task *task)
{
	struct bng_up_task *up = task->priv;

	bng_worker_close(&up->settings);
}

static const struct task_ops bng_up = {
	.name = "bng_up",
	.private_size = sizeof(struct bng_up_task),
	.takes_input = true,
	.max_out = BNG_MAX_OUT,
	.init = bng_up_init,
	.prepare = bng_up_prepare,
	.handle = bng_up_handle,
	.stats = bng_up_stats,
	.reset = bng_up_reset,
	.control = bng_up_control,
	.close = bng_up_close,
};

TASK_REGISTER(bng_up)
