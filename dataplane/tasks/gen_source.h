/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a gen task, in the order they are sent: made from templates or replayed. */
#ifndef WSDP_GEN_SOURCE_H
#define WSDP_GEN_SOURCE_H

#include <stdint.h>
#include <rte_mbuf.h>

#include "gen_config.h"

struct task;

/* The next flow and its sequence number: all flows take turns, so one number does for all. */
struct gen_turn {
	uint32_t flow;
	uint32_t sequence;
};

/* Totals of a burst. */
struct gen_filled {
	uint64_t octets;  /* FCS included */
	uint64_t stamped; /* frames with a stamp */
};

struct gen_source;

/* Write n mbufs fresh from a pool whole. */
typedef struct gen_filled (*gen_fill_fn)(struct gen_source *source, struct rte_mbuf **mbufs,
					 uint16_t n, uint64_t moment);

struct gen_source {
	gen_fill_fn fill;
	const struct frame_template **order; /* frame by frame, and again from the start */
	uint32_t nb_order;
	uint32_t position;
	uint32_t flows;                         /* that are sent: 0 where none is this sender's */
	const uint32_t *own;                    /* their numbers; NULL: from 0 on */
	const struct destination *destinations; /* of each flow; NULL: flows step a field */
	uint8_t stream;
	struct gen_turn stamped;
	struct gen_turn plain; /* frames without a stamp use up no sequence number */
	uint32_t nb_templates;
	struct frame_template *templates;
	uint8_t *octets;                   /* of all templates */
	const struct content_ops *content; /* NULL: from templates */
	void *content_state;
};

/* Build the templates. Returns 0 or a negative errno, with the reason on stderr. */
int gen_source_open(struct gen_source *source, const struct gen_config *config,
		    const struct task *task);
void gen_source_close(struct gen_source *source);
/* Begin again with the first frame of the first flow. */
void gen_source_rewind(struct gen_source *source);

#endif
