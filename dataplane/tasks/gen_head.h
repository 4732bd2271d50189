/* SPDX-License-Identifier: Apache-2.0 */
/* Begin every frame that gen makes: its mbuf's header, and whose turn it is. */
#ifndef WSDP_GEN_HEAD_H
#define WSDP_GEN_HEAD_H

#include <stddef.h>
#include <stdint.h>
#include <rte_mbuf.h>

#include "gen_source.h"

/* The part of an mbuf that a sender has to set, in one piece: from rearm_data up to the RSS hash.
 * The second cache line (next, offloads) is left alone: a freed mbuf has no next segment, and
 * without offload flags nobody reads the rest. */
struct gen_head {
	uint16_t data_off;
	uint16_t refcnt;
	uint16_t nb_segs;
	uint16_t port;
	uint64_t ol_flags;
	uint32_t packet_type;
	uint32_t pkt_len;
	uint16_t data_len;
	uint16_t vlan_tci;
	uint32_t rss;
};

#define SAME_PLACE(field)                                               \
	static_assert(offsetof(struct rte_mbuf, field) ==               \
			      offsetof(struct rte_mbuf, rearm_data) +   \
				      offsetof(struct gen_head, field), \
		      "rte_mbuf is laid out differently")
SAME_PLACE(data_off);
SAME_PLACE(refcnt);
SAME_PLACE(nb_segs);
SAME_PLACE(port);
SAME_PLACE(ol_flags);
SAME_PLACE(packet_type);
SAME_PLACE(pkt_len);
SAME_PLACE(data_len);
SAME_PLACE(vlan_tci);
static_assert(sizeof(struct gen_head) == 32, "one wide store");

static inline struct gen_head
gen_head_for(uint16_t len)
{
	return (struct gen_head){
		.data_off = RTE_PKTMBUF_HEADROOM,
		.refcnt = 1,
		.nb_segs = 1,
		.port = RTE_MBUF_PORT_INVALID,
		.pkt_len = len,
		.data_len = len,
	};
}

static inline void
gen_next_turn(struct gen_turn *turn, uint32_t flows)
{
	if (++turn->flow == flows) {
		turn->flow = 0;
		turn->sequence++;
	}
}

#endif
