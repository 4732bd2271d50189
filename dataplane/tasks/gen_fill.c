/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs is measured by benchmarks/gen_vs_flowgen.py and told in
 * docs/explanation/generator.md. */
#include <stddef.h>
#include <string.h>

#include "gen_fill.h"

/* The part of an mbuf that a sender has to set, in one piece: from rearm_data up to the RSS hash.
 * The second cache line (next, offloads) is left alone: a freed mbuf has no next segment, and
 * without offload flags nobody reads the rest. */
struct mbuf_head {
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

#define SAME_PLACE(field)                                                \
	static_assert(offsetof(struct rte_mbuf, field) ==                \
			      offsetof(struct rte_mbuf, rearm_data) +    \
				      offsetof(struct mbuf_head, field), \
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
static_assert(sizeof(struct mbuf_head) == 32, "one wide store");

static inline struct mbuf_head
head_for(uint16_t len)
{
	return (struct mbuf_head){
		.data_off = RTE_PKTMBUF_HEADROOM,
		.refcnt = 1,
		.nb_segs = 1,
		.port = RTE_MBUF_PORT_INVALID,
		.pkt_len = len,
		.data_len = len,
	};
}

static inline void
next_turn(struct gen_turn *turn, uint32_t flows)
{
	if (++turn->flow == flows) {
		turn->flow = 0;
		turn->sequence++;
	}
}

static __rte_always_inline void
fill_one(struct rte_mbuf *mbuf, const struct mbuf_head *head, const struct frame_template *t,
	 enum frame_checksum checksum, struct gen_turn turn, uint8_t stream, uint64_t moment)
{
	uint8_t *frame = (uint8_t *)mbuf->buf_addr + RTE_PKTMBUF_HEADROOM;

	memcpy(&mbuf->rearm_data, head, sizeof(*head));
	frame_write(frame, t, checksum, turn.flow, stamp_identity(stream, turn.flow, turn.sequence),
		    moment);
}

/* All frames from one template: what differs from source to source is constant in the loop. */
static __rte_always_inline uint64_t
fill_same(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment,
	  enum frame_checksum checksum)
{
	const struct frame_template t = source->templates[0];
	const struct mbuf_head head = head_for(t.len);
	struct gen_turn turn = source->stamped;

	for (uint16_t i = 0; i < n; i++) {
		fill_one(mbufs[i], &head, &t, checksum, turn, source->stream, moment);
		next_turn(&turn, source->flows);
	}
	source->stamped = turn;
	return (uint64_t)n * (t.len + FCS_BYTES);
}

static uint64_t
fill_same_fixed(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_same(source, mbufs, n, moment, CHECKSUM_FIXED);
}

static uint64_t
fill_same_ipv4(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_same(source, mbufs, n, moment, CHECKSUM_IPV4);
}

static uint64_t
fill_same_udp6(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_same(source, mbufs, n, moment, CHECKSUM_UDP6);
}

/* Templates in turn: sizes of a genome, or a replayed file. */
static uint64_t
fill_mixed(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	uint64_t octets = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct frame_template *t = source->order[source->position];
		struct gen_turn *turn = t->stamp_at != 0 ? &source->stamped : &source->plain;
		const struct mbuf_head head = head_for(t->len);

		fill_one(mbufs[i], &head, t, t->checksum, *turn, source->stream, moment);
		next_turn(turn, source->flows);
		octets += t->len + FCS_BYTES;
		if (++source->position == source->nb_order)
			source->position = 0;
	}
	return octets;
}

gen_fill_fn
gen_fill_for(const struct gen_source *source)
{
	static const gen_fill_fn same[] = {
		[CHECKSUM_FIXED] = fill_same_fixed,
		[CHECKSUM_IPV4] = fill_same_ipv4,
		[CHECKSUM_UDP6] = fill_same_udp6,
	};

	return source->nb_templates == 1 ? same[source->templates[0].checksum] : fill_mixed;
}
