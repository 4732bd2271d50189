/* SPDX-License-Identifier: Apache-2.0 */
/* bng_down: from the network to subscribers. Takes MPLS, IPv4 and GRE off, looks the subscriber's
 * host up, ages the packet, puts both tags on. */
#include <errno.h>
#include <string.h>
#include <rte_prefetch.h>

#include "bng_send.h"
#include "bng_worker.h"
#include "core/config.h"
#include "core/telemetry.h"
#include "pktlib/bng/arp.h"
#include "pktlib/bng/pppoe.h"

#define PAD_STORE 16 /* octets of padding stored at once */

/* Properties of a burst's frames: an array for each, so that each is one plain store. */
struct burst {
	uint8_t *ips[TASK_BURST]; /* the inner packets */
	uint32_t destinations[TASK_BURST];
	uint32_t keys[TASK_BURST];
	uint32_t slots[TASK_BURST];
	uint32_t n;
};

struct bng_down_task {
	struct bng_settings settings;
	struct bng_cpe_side side;
	uint64_t verdicts[BNG_VERDICTS];
	uint64_t answered;
	struct rte_ether_addr inet_mac;
};

static int
bng_down_init(struct task *task, const struct config_section *section)
{
	static const char *const tpids[] = {"0x88a8", "0x8100", NULL};
	struct bng_down_task *down = task->priv;
	struct rte_ether_addr gateway_mac = {0};
	unsigned int tpid = 0;
	int ret = config_enum(section, "tpid", tpids, &tpid);

	ret |= config_mac(section, "gateway_mac", &gateway_mac);
	ret |= config_mac(section, "inet_mac", &down->inet_mac);
	if (!(config_require(section, "gateway_mac") & config_require(section, "inet_mac")))
		ret = -1;
	ret |= bng_worker_init(&down->settings, task, section, false);
	if (ret != 0)
		return -EINVAL;
	down->side = bng_cpe_side(gateway_mac.addr_bytes, tpid == 0 ? TPID_QINQ : TPID_VLAN);
	return 0;
}

static int
bng_down_prepare(struct task *task)
{
	struct bng_down_task *down = task->priv;

	return bng_worker_prepare(&down->settings, task);
}

/* Answer a neighbour in the network that asks for the tunnels' end. Nothing is learnt: next hops
 * are given. */
static void
handle_arp(struct task *task, struct rte_mbuf *mbuf)
{
	struct bng_down_task *down = task->priv;
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	struct bng_arp arp;

	if (!bng_arp_read(&arp, frame + BNG_ETH_LEN, mbuf->data_len - BNG_ETH_LEN)) {
		down->verdicts[BNG_TYPE]++;
		task_discard(task, &mbuf, 1);
	} else if (!arp.request || arp.target_ip != down->settings.local_ip ||
		   down->settings.reply_tx == BNG_NO_TX) {
		task_consume(task, &mbuf, 1);
	} else {
		bng_arp_answer(frame, frame + BNG_ETH_LEN, down->inet_mac.addr_bytes);
		down->answered++;
		task_send(task, down->settings.reply_tx, &mbuf, 1);
	}
}

/* Frames below the Ethernet minimum are padded, with zeros: no octet of an earlier frame shows. The
 * shortest has BNG_UP_MIN octets: two stores that overlap do for all, and reach into the buffer behind
 * the frame's end. */
static __rte_always_inline bool
pad(struct rte_mbuf *mbuf, uint8_t *frame, uint16_t len)
{
	if (len < BNG_FRAME_MIN) {
		if (unlikely(mbuf->buf_len < mbuf->data_off + BNG_FRAME_MIN + BNG_FRAME_MIN))
			return false;
		memset(frame + len, 0, PAD_STORE);
		memset(frame + len + BNG_FRAME_MIN - BNG_UP_MIN - PAD_STORE, 0, PAD_STORE);
		len = BNG_FRAME_MIN;
	}
	mbuf->data_len = len;
	mbuf->pkt_len = len;
	return true;
}

/* Convert a frame from a tunnel to one for a subscriber, except for the headers that depend on the
 * subscriber. The frame is lost by that: from here on it is forwarded or dropped. */
static __rte_always_inline bool
strip(struct rte_mbuf *mbuf, uint8_t *frame, const struct bng_down *parsed, const bool pppoe)
{
	const uint16_t ip_at = pppoe ? BNG_PPPOE_IP_AT : BNG_QINQ_LEN;
	uint8_t *ip = frame + parsed->inner_at;

	ipv4_age(ip);
	mbuf->data_off += parsed->inner_at - ip_at;
	return pad(mbuf, ip - ip_at, ip_at + parsed->total);
}

/* Bring near what a key needs of the tables: the host where slots are computed, what leads to the slot
 * otherwise. Returns the slot, or BNG_NO_SLOT. */
static __rte_always_inline uint32_t
prefetch_slot(const struct bng_hosts *hosts, uint32_t key)
{
	uint32_t slot = bng_hosts_dense_slot(hosts, key);

	if (slot != BNG_NO_SLOT)
		rte_prefetch0(&hosts->hosts[slot]);
	else
		bng_map_prefetch_hashed(&hosts->slots, key);
	return slot;
}

/* Parse a burst and strip the frames that are fit for the fast path. */
static __rte_always_inline void
parse(const struct bng_down_task *down, struct rte_mbuf **mbufs, uint16_t n, struct burst *burst,
      struct bng_aside *aside, const bool pppoe)
{
	const struct bng_hosts *hosts = &down->settings.worker->tables.hosts;
	const uint32_t local_ip = down->settings.local_ip;
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
		enum bng_verdict verdict = BNG_BUFFER;

		if (likely(mbuf->nb_segs == 1 && bng_down_has_headers(frame, mbuf->data_len))) {
			struct bng_down parsed = bng_down_parse(frame, mbuf->data_len, local_ip);

			burst->slots[left] = prefetch_slot(hosts, parsed.key);
			burst->keys[left] = parsed.key;
			burst->destinations[left] = parsed.destination;
			burst->ips[left] = frame + parsed.inner_at;
			if (likely(parsed.fast && strip(mbuf, frame, &parsed, pppoe))) {
				mbufs[left++] = mbuf;
				continue;
			}
			if (!parsed.fast)
				verdict = bng_down_judge(frame, mbuf->data_len, local_ip);
		} else if (mbuf->nb_segs == 1) {
			verdict = bng_down_judge(frame, mbuf->data_len, local_ip);
		}
		bng_set_aside(aside, mbuf, verdict);
	}
	burst->n = left;
}

/* Find the slots that are not computed, and bring their hosts near. */
static void
look_up_slots(const struct bng_hosts *hosts, struct burst *burst)
{
	for (uint32_t i = 0; i < burst->n; i++) {
		if (burst->slots[i] != BNG_NO_SLOT)
			continue;
		burst->slots[i] = bng_map_get_hashed(&hosts->slots, burst->keys[i]) - 1;
		if (likely(burst->slots[i] != BNG_NO_SLOT))
			rte_prefetch0(&hosts->hosts[burst->slots[i]]);
	}
}

/* Put a subscriber's headers on a stripped frame. Returns what becomes of it. */
static __rte_always_inline enum bng_verdict
tag(const struct bng_down_task *down, const struct bng_hosts *hosts, const struct burst *burst,
    uint32_t i, uint8_t *port, const bool pppoe)
{
	uint32_t slot = burst->slots[i];
	uint8_t *ip = burst->ips[i];
	const struct bng_host *host;

	if (unlikely(slot == BNG_NO_SLOT))
		return BNG_NO_USER;
	host = bng_hosts_find(hosts, slot, burst->destinations[i]);
	if (unlikely(host == NULL))
		return hosts->books[slot].key == burst->keys[i] ? BNG_NO_HOST : BNG_NO_USER;
	if (pppoe)
		bng_pppoe_tag(ip, ipv4_total(ip), host, hosts->sessions[slot], &down->side);
	else
		bng_tag(ip, host, &down->side);
	*port = host->mac & BNG_HOST_PORT_MASK;
	return BNG_FORWARD;
}

static __rte_always_inline void
handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n, const bool pppoe)
{
	struct bng_down_task *down = task->priv;
	const struct bng_hosts *hosts = &down->settings.worker->tables.hosts;
	struct burst burst;
	uint8_t ports[TASK_BURST];
	struct bng_aside aside;
	uint64_t octets = 0;
	uint32_t sent = 0;

	for (uint32_t i = 0; i < n; i++) {
		/* The inner header lies on both sides of a cache line's end. */
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
		rte_prefetch0(rte_pktmbuf_mtod_offset(mbufs[i], void *, RTE_CACHE_LINE_SIZE));
	}
	aside.nb = 0;
	parse(down, mbufs, n, &burst, &aside, pppoe);
	if (hosts->slots.nb_hashed > 0)
		look_up_slots(hosts, &burst);
	for (uint32_t i = 0; i < burst.n; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		enum bng_verdict verdict = tag(down, hosts, &burst, i, &ports[sent], pppoe);

		if (unlikely(verdict != BNG_FORWARD)) {
			bng_set_aside(&aside, mbuf, verdict);
			continue;
		}
		octets += mbuf->pkt_len + RTE_ETHER_CRC_LEN;
		mbufs[sent++] = mbuf;
	}
	if (likely(down->settings.nb_forward == 1 && sent > 0))
		task_send_octets(task, 0, mbufs, sent, octets);
	else if (sent > 0)
		bng_worker_send(task, down->settings.nb_forward, mbufs, ports, sent);
	if (unlikely(aside.nb > 0))
		bng_worker_settle(task, &down->settings, &aside, down->verdicts, handle_arp);
}

static void
bng_down_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	const struct bng_down_task *down = task->priv;

	if (down->settings.pppoe)
		handle(task, mbufs, n, true);
	else
		handle(task, mbufs, n, false);
}

static void
bng_down_stats(const struct task *task, struct telemetry_out *out)
{
	const struct bng_down_task *down = task->priv;

	bng_worker_stats(&down->settings, down->verdicts, out);
	telemetry_u64(out, "answered", down->answered);
}

static void
bng_down_reset(struct task *task)
{
	struct bng_down_task *down = task->priv;

	memset(down->verdicts, 0, sizeof(down->verdicts));
	down->answered = 0;
}

static int
bng_down_control(struct task *task, const char *verb, const char *args)
{
	struct bng_down_task *down = task->priv;

	return bng_worker_control(&down->settings, verb, args);
}

static void
bng_down_close(struct task *task)
{
	struct bng_down_task *down = task->priv;

	bng_worker_close(&down->settings);
}

static const struct task_ops bng_down = {
	.name = "bng_down",
	.private_size = sizeof(struct bng_down_task),
	.takes_input = true,
	.max_out = BNG_MAX_OUT,
	.init = bng_down_init,
	.prepare = bng_down_prepare,
	.handle = bng_down_handle,
	.stats = bng_down_stats,
	.reset = bng_down_reset,
	.control = bng_down_control,
	.close = bng_down_close,
};

TASK_REGISTER(bng_down)
