/* SPDX-License-Identifier: Apache-2.0 */
/* benchmarks/gen_vs_flowgen.py measures its cost, docs/explanation/generator.md explains it. */
#include <string.h>

#include "gen_fill.h"
#include "gen_head.h"

static __rte_always_inline void
fill_one(struct rte_mbuf *mbuf, const struct gen_head *head, const struct frame_template *t,
	 enum frame_checksum checksum, struct gen_turn turn, uint8_t stream, uint64_t moment)
{
	uint8_t *frame = (uint8_t *)mbuf->buf_addr + RTE_PKTMBUF_HEADROOM;

	memcpy(&mbuf->rearm_data, head, sizeof(*head));
	frame_write(frame, t, checksum, turn.flow, stamp_identity(stream, turn.flow, turn.sequence),
		    moment);
}

/* All frames from one template: what differs from source to source is constant in the loop. */
static __rte_always_inline struct gen_filled
fill_same(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment,
	  enum frame_checksum checksum)
{
	const struct frame_template t = source->templates[0];
	const struct gen_head head = gen_head_for(t.len);
	struct gen_turn turn = source->stamped;

	for (uint16_t i = 0; i < n; i++) {
		fill_one(mbufs[i], &head, &t, checksum, turn, source->stream, moment);
		gen_next_turn(&turn, source->flows);
	}
	source->stamped = turn;
	return (struct gen_filled){
		.octets = (uint64_t)n * (t.len + FCS_BYTES),
		.stamped = t.stamp_at != 0 ? n : 0,
	};
}

static struct gen_filled
fill_same_fixed(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_same(source, mbufs, n, moment, CHECKSUM_FIXED);
}

static struct gen_filled
fill_same_ipv4(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_same(source, mbufs, n, moment, CHECKSUM_IPV4);
}

static struct gen_filled
fill_same_udp6(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_same(source, mbufs, n, moment, CHECKSUM_UDP6);
}

/* As fill_one, with an address of its own for each flow. */
static __rte_always_inline void
fill_listed_one(struct rte_mbuf *mbuf, const struct gen_head *head, const struct frame_template *t,
		struct gen_turn turn, const struct gen_source *source, uint64_t moment)
{
	uint8_t *frame = (uint8_t *)mbuf->buf_addr + RTE_PKTMBUF_HEADROOM;

	memcpy(&mbuf->rearm_data, head, sizeof(*head));
	frame_write_to(frame, t, &source->destinations[turn.flow],
		       stamp_identity(source->stream, turn.flow, turn.sequence), moment);
}

/* Flows that are sent: all, only some, or one for each listed address. */
enum flows { FLOWS_ALL, FLOWS_CHOSEN, FLOWS_LISTED };

/* Templates in turn: sizes of a genome, or a replayed file. */
static __rte_always_inline struct gen_filled
fill_in_turn(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment,
	     enum flows flows)
{
	struct gen_filled filled = {0};

	for (uint16_t i = 0; i < n; i++) {
		const struct frame_template *t = source->order[source->position];
		struct gen_turn *turn = t->stamp_at != 0 ? &source->stamped : &source->plain;
		const struct gen_head head = gen_head_for(t->len);
		struct gen_turn sent = *turn;

		if (flows == FLOWS_CHOSEN)
			sent.flow = source->own[turn->flow];
		if (flows == FLOWS_LISTED)
			fill_listed_one(mbufs[i], &head, t, sent, source, moment);
		else
			fill_one(mbufs[i], &head, t, t->checksum, sent, source->stream, moment);
		gen_next_turn(turn, source->flows);
		filled.octets += t->len + FCS_BYTES;
		filled.stamped += t->stamp_at != 0;
		if (++source->position == source->nb_order)
			source->position = 0;
	}
	return filled;
}

static struct gen_filled
fill_mixed(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_in_turn(source, mbufs, n, moment, FLOWS_ALL);
}

static struct gen_filled
fill_chosen(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_in_turn(source, mbufs, n, moment, FLOWS_CHOSEN);
}

static struct gen_filled
fill_listed(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill_in_turn(source, mbufs, n, moment, FLOWS_LISTED);
}

gen_fill_fn
gen_fill_for(const struct gen_source *source)
{
	static const gen_fill_fn same[] = {
		[CHECKSUM_FIXED] = fill_same_fixed,
		[CHECKSUM_IPV4] = fill_same_ipv4,
		[CHECKSUM_UDP6] = fill_same_udp6,
	};

	if (source->destinations != NULL)
		return fill_listed;
	if (source->own != NULL)
		return fill_chosen;
	return source->nb_templates == 1 ? same[source->templates[0].checksum] : fill_mixed;
}
