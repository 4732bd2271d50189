/* SPDX-License-Identifier: Apache-2.0 */
/* bng_up: from subscribers to the network. Takes both tags off, looks the subscriber and the route
 * up, puts MPLS, IPv4 and GRE on. Learns subscribers' hosts from ARP and answers it. */
#include <errno.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "bng_worker.h"
#include "core/config.h"
#include "core/telemetry.h"
#include "pktlib/bng/arp.h"

/* What is known of a burst's frames: an array for each thing, so that each is one plain store. */
struct burst {
	uint32_t lines[TASK_BURST];
	uint32_t destinations[TASK_BURST];
	uint16_t totals[TASK_BURST];
};

#define TICKS_PER_S 1000 /* expiry looks at so many parts of the table, one after the other */

struct bng_up_task {
	struct bng_settings settings;
	uint64_t next_tick_tsc;
	uint64_t verdicts[BNG_VERDICTS];
	uint64_t learned, moved, answered, expired, host_table_full;
	uint64_t start_tsc;
	uint32_t timeout_s;
	uint32_t gateway_ip;
	struct rte_ether_addr gateway_mac; /* on the subscribers' side */
	struct rte_ether_addr inet_mac;
};

static int
bng_up_init(struct task *task, const struct config_section *section)
{
	struct bng_up_task *up = task->priv;
	int ret = 0;

	up->timeout_s = 1500;
	ret |= config_u32(section, "timeout_s", &up->timeout_s, 1, 1u << 24);
	ret |= bng_config_ipv4(section, "gateway_ip", &up->gateway_ip);
	ret |= config_mac(section, "gateway_mac", &up->gateway_mac);
	ret |= config_mac(section, "inet_mac", &up->inet_mac);
	if (!(config_require(section, "gateway_ip") & config_require(section, "gateway_mac") &
	      config_require(section, "inet_mac")))
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
	up->start_tsc = up->next_tick_tsc = rte_rdtsc();
	bng_tables_set_source(tables, up->settings.local_ip, up->inet_mac.addr_bytes);
	if (bng_tables_add_local(tables, up->gateway_ip) != BNG_CHANGED ||
	    (up->settings.local_ip != up->gateway_ip &&
	     bng_tables_add_local(tables, up->settings.local_ip) != BNG_CHANGED)) {
		bng_worker_close(&up->settings);
		return -EADDRINUSE; /* the tables have a /32 route to the gateway itself */
	}
	return 0;
}

static uint32_t
now_s(const struct bng_up_task *up, uint64_t now_tsc)
{
	return (uint32_t)((now_tsc - up->start_tsc) / rte_get_tsc_hz());
}

static __rte_noinline void
tick(struct bng_up_task *up, uint64_t now_tsc)
{
	struct bng_hosts *hosts = &up->settings.worker->tables.hosts;

	up->next_tick_tsc = now_tsc + rte_get_tsc_hz() / TICKS_PER_S;
	up->expired +=
		bng_hosts_expire(hosts, now_s(up, now_tsc), hosts->nb_places / TICKS_PER_S + 1);
}

static void
learn(struct bng_up_task *up, uint32_t key, const struct bng_arp *arp)
{
	uint32_t expires_s = now_s(up, rte_rdtsc()) + up->timeout_s;

	/* A probe (RFC 5227) tells no address; whoever claims ours is wrong. */
	if (arp->sender_ip == 0 || arp->sender_ip == up->gateway_ip)
		return;
	switch (bng_hosts_learn(&up->settings.worker->tables.hosts, key, arp->sender_ip,
				arp->sender_mac, expires_s)) {
	case BNG_LEARNED_NEW:
		up->learned++;
		break;
	case BNG_LEARNED_MOVED:
		up->moved++;
		break;
	case BNG_LEARNED_FULL:
		up->host_table_full++;
		break;
	default:
		break;
	}
}

/* An ARP frame from a subscriber: learn who sent it, answer if it asks for the gateway. */
static void
handle_arp(struct task *task, struct rte_mbuf *mbuf)
{
	struct bng_up_task *up = task->priv;
	const struct bng_tables *tables = &up->settings.worker->tables;
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t value = bng_map_get(&tables->lines, bng_line_of(frame)), slot;
	struct bng_arp arp;

	if (value == 0 ||
	    !bng_arp_read(&arp, frame + BNG_QINQ_LEN, mbuf->data_len - BNG_QINQ_LEN)) {
		up->verdicts[value == 0 ? BNG_NO_USER : BNG_TYPE]++;
		task_discard(task, &mbuf, 1);
		return;
	}
	value &= BNG_KEY_MAX;
	learn(up, value, &arp);
	if (!arp.request || arp.target_ip != up->gateway_ip || up->settings.reply_tx == BNG_NO_TX) {
		task_consume(task, &mbuf, 1);
		return;
	}
	slot = bng_hosts_slot(&tables->hosts, value);
	bng_arp_answer(frame, frame + BNG_QINQ_LEN, up->gateway_mac.addr_bytes);
	up->answered++;
	task_send(task,
		  up->settings.reply_tx +
			  (uint32_t)(tables->hosts.hosts[slot].mac & BNG_HOST_PORT_MASK),
		  &mbuf, 1);
}

/* Parse a burst and bring near what it needs of the tables. Returns how many frames are left for
 * the fast path. */
static __rte_always_inline uint16_t
parse(const struct bng_tables *tables, struct rte_mbuf **mbufs, uint16_t n, struct burst *burst,
      struct bng_aside *aside)
{
	uint16_t left = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
		bool whole = mbuf->nb_segs == 1 && mbuf->data_off >= BNG_HEADROOM;

		if (likely(whole && mbuf->data_len >= BNG_UP_MIN)) {
			struct bng_up parsed = bng_up_parse(frame, mbuf->data_len);

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
			      whole ? bng_up_judge(frame, mbuf->data_len) : BNG_BUFFER);
	}
	return left;
}

/* Look a parsed frame up and rewrite it. Returns what becomes of it. */
static __rte_always_inline enum bng_verdict
forward(const struct bng_tables *tables, struct rte_mbuf *mbuf, const struct burst *burst,
	uint16_t i, uint8_t *port)
{
	uint32_t value = bng_map_get(&tables->lines, burst->lines[i]);
	const struct bng_hop *hop =
		&tables->hops->ready[bng_lpm_get(&tables->routes, burst->destinations[i])];
	uint8_t *ip = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, BNG_QINQ_LEN);

	if (unlikely(value == 0))
		return BNG_NO_USER;
	if (unlikely(hop->verdict != BNG_FORWARD))
		return hop->verdict;
	bng_encapsulate(ip, burst->totals[i], hop, value & BNG_KEY_MAX);
	mbuf->data_off += BNG_QINQ_LEN - hop->header_len;
	mbuf->data_len = hop->header_len + burst->totals[i];
	mbuf->pkt_len = mbuf->data_len;
	*port = hop->port;
	return BNG_FORWARD;
}

static void
bng_up_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct bng_up_task *up = task->priv;
	const struct bng_tables *tables = &up->settings.worker->tables;
	uint64_t now_tsc = rte_rdtsc();
	struct burst burst;
	uint8_t ports[TASK_BURST];
	struct bng_aside aside = {.nb = 0};
	uint16_t left, sent = 0;

	if (unlikely(now_tsc >= up->next_tick_tsc))
		tick(up, now_tsc);
	if (n == 0)
		return;
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	left = parse(tables, mbufs, n, &burst, &aside);
	for (uint16_t i = 0; i < left; i++) {
		enum bng_verdict verdict = forward(tables, mbufs[i], &burst, i, &ports[sent]);

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
bng_up_stats(const struct task *task, struct telemetry_out *out)
{
	const struct bng_up_task *up = task->priv;

	bng_worker_stats(&up->settings, up->verdicts, out);
	telemetry_u64(out, "learned", up->learned);
	telemetry_u64(out, "moved", up->moved);
	telemetry_u64(out, "expired", up->expired);
	telemetry_u64(out, "answered", up->answered);
	telemetry_u64(out, "host_table_full", up->host_table_full);
}

static void
bng_up_reset(struct task *task)
{
	struct bng_up_task *up = task->priv;

	memset(up->verdicts, 0, sizeof(up->verdicts));
	up->learned = up->moved = up->expired = up->answered = up->host_table_full = 0;
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
