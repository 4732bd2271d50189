/* SPDX-License-Identifier: Apache-2.0 */
/* Hops and groups of all routes that were made, so that each keeps its id: a flow keeps its hop of a group
 * whose id stays. */
#ifndef MIRROR_HOP_IDS_H
#define MIRROR_HOP_IDS_H

#include "pktlib/routes.h"
#include "table.h"

#define HOP_NONE UINT16_MAX

struct hop_ids {
	struct table known;
	uint32_t turn;
	uint32_t used_in[ROUTES_HOPS_MAX]; /* turn in which the id was last used */
	uint32_t first_free;               /* no id below is free */
	bool is_full;                      /* no id is free in this turn */
	bool is_short;                     /* of memory, in this turn */
};

/* Content of a hop or a group, by which it is known again. Each neighbour has a hop of its own, although others
 * may have its MAC address: it may get another one. */
struct hop_key {
	uint8_t kind, port;
	uint16_t mtu;
	uint8_t source[6], target[6];
	uint64_t
		tag; /* of a group: id of the kernel's object, or a hash of its members; of a neighbour: its
		       * IP version */
	uint8_t address[16]; /* of a neighbour */
	uint16_t vlan;       /* of its interface; 0: none */
	uint16_t unused[3];
};

void hop_ids_open(struct hop_ids *ids);
void hop_ids_close(struct hop_ids *ids);
/* New routes are made from here on. */
void hop_ids_turn(struct hop_ids *ids);
/* Return the place of a hop in `routes`, which has room for ROUTES_HOPS_MAX; it is added where it is new in
 * this turn: then *is_new. HOP_NONE: all ids are in use, or memory is short. */
uint16_t
hop_ids_put(struct hop_ids *ids, struct routes *routes, const struct hop_key *key, bool *is_new);
/* Give a hop of this turn another target, with which it keeps its id. Return false: one has that already, or
 * memory is short. Without such a hop nothing is to do. */
bool hop_ids_move(struct hop_ids *ids, struct routes *routes, const struct hop_key *from,
		  const struct hop_key *to);

#endif
