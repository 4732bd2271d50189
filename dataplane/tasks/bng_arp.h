/* SPDX-License-Identifier: Apache-2.0 */
/* Handle ARP from subscribers: learn hosts, forget them after a while, and answer for the gateway.
 * It runs inside of bng_up, on the lcore that owns the tables: nothing is shared. */
#ifndef TASKS_BNG_ARP_H
#define TASKS_BNG_ARP_H

#include "bng_worker.h"

struct bng_arp_side {
	uint64_t next_tick_tsc; /* when to look for hosts that have expired */
	uint64_t start_tsc;
	uint64_t learned, moved, answered, expired, host_table_full;
	uint32_t timeout_s;
	uint32_t gateway_ip;
	struct rte_ether_addr gateway_mac;
};

/* Read "timeout_s", "gateway_ip" and "gateway_mac". Returns 0, or -1 after config_fault. */
int bng_arp_side_init(struct bng_arp_side *side, const struct config_section *section);
void bng_arp_side_start(struct bng_arp_side *side);
/* Forget some of the hosts that have expired: a part of the table each time next_tick_tsc has come. */
void bng_arp_side_tick(struct bng_arp_side *side, struct bng_hosts *hosts, uint64_t now_tsc);
/* Learn from an ARP frame of a subscriber, and answer it if it asks for the gateway. */
void
bng_arp_side_handle(struct bng_arp_side *side, struct task *task,
		    const struct bng_settings *settings, uint64_t *verdicts, struct rte_mbuf *mbuf);
void bng_arp_side_stats(const struct bng_arp_side *side, struct telemetry_out *out);
void bng_arp_side_reset(struct bng_arp_side *side);

#endif
