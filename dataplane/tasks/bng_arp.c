/* SPDX-License-Identifier: Apache-2.0 */
#include <rte_cycles.h>

#include "bng_arp.h"
#include "core/config.h"
#include "core/telemetry.h"
#include "core/tsc.h"
#include "pktlib/bng/arp.h"

#define TICKS_PER_S 1000 /* expiry visits this many parts of the table in turn */

int
bng_arp_side_init(struct bng_arp_side *side, const struct config_section *section)
{
	int ret = 0;

	side->timeout_s = 1500;
	ret |= config_u32(section, "timeout_s", &side->timeout_s, 1, 1u << 24);
	ret |= bng_config_ipv4(section, "gateway_ip", &side->gateway_ip);
	ret |= config_mac(section, "gateway_mac", &side->gateway_mac);
	if (!(config_require(section, "gateway_ip") & config_require(section, "gateway_mac")))
		ret = -1;
	return ret;
}

void
bng_arp_side_start(struct bng_arp_side *side)
{
	side->start_tsc = side->next_tick_tsc = rte_rdtsc();
}

static uint32_t
now_s(const struct bng_arp_side *side, uint64_t now_tsc)
{
	return (uint32_t)((now_tsc - side->start_tsc) / tsc_hz());
}

void
bng_arp_side_tick(struct bng_arp_side *side, struct bng_hosts *hosts, uint64_t now_tsc)
{
	side->next_tick_tsc = now_tsc + tsc_hz() / TICKS_PER_S;
	side->expired +=
		bng_hosts_expire(hosts, now_s(side, now_tsc), hosts->nb_places / TICKS_PER_S + 1);
}

static void
learn(struct bng_arp_side *side, struct bng_hosts *hosts, uint32_t key, const struct bng_arp *arp)
{
	uint32_t expires_s = now_s(side, rte_rdtsc()) + side->timeout_s;

	/* A probe (RFC 5227) tells no address; whoever claims ours is wrong. */
	if (arp->sender_ip == 0 || arp->sender_ip == side->gateway_ip)
		return;
	switch (bng_hosts_learn(hosts, key, arp->sender_ip, arp->sender_mac, expires_s)) {
	case BNG_LEARNED_NEW:
		side->learned++;
		break;
	case BNG_LEARNED_MOVED:
		side->moved++;
		break;
	case BNG_LEARNED_FULL:
		side->host_table_full++;
		break;
	default:
		break;
	}
}

void
bng_arp_side_handle(struct bng_arp_side *side, struct task *task,
		    const struct bng_settings *settings, uint64_t *verdicts, struct rte_mbuf *mbuf)
{
	struct bng_tables *tables = &settings->worker->tables;
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t value = bng_map_get(&tables->lines, bng_line_of(frame)), slot;
	struct bng_arp arp;

	if (value == 0 ||
	    !bng_arp_read(&arp, frame + BNG_QINQ_LEN, mbuf->data_len - BNG_QINQ_LEN)) {
		verdicts[value == 0 ? BNG_NO_USER : BNG_TYPE]++;
		task_discard(task, &mbuf, 1);
		return;
	}
	value &= BNG_KEY_MAX;
	learn(side, &tables->hosts, value, &arp);
	if (!arp.request || arp.target_ip != side->gateway_ip || settings->reply_tx == BNG_NO_TX) {
		task_consume(task, &mbuf, 1);
		return;
	}
	slot = bng_hosts_slot(&tables->hosts, value);
	bng_arp_answer(frame, frame + BNG_QINQ_LEN, side->gateway_mac.addr_bytes);
	side->answered++;
	task_send(task,
		  settings->reply_tx +
			  (uint32_t)(tables->hosts.hosts[slot].mac & BNG_HOST_PORT_MASK),
		  &mbuf, 1);
}

void
bng_arp_side_stats(const struct bng_arp_side *side, struct telemetry_out *out)
{
	telemetry_u64(out, "learned", side->learned);
	telemetry_u64(out, "moved", side->moved);
	telemetry_u64(out, "expired", side->expired);
	telemetry_u64(out, "answered", side->answered);
	telemetry_u64(out, "host_table_full", side->host_table_full);
}

void
bng_arp_side_reset(struct bng_arp_side *side)
{
	side->learned = side->moved = side->expired = side->answered = side->host_table_full = 0;
}
