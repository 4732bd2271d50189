/* SPDX-License-Identifier: Apache-2.0 */
/* Of the makers of routes alone: what is being made, and the hops of routes. */
#ifndef MIRROR_MAKING_H
#define MIRROR_MAKING_H

#include "compile.h"

struct making {
	struct kernel *kernel;
	struct hop_ids *ids;
	struct routes *routes;
	struct compile_report *report;
	uint8_t vrf;                          /* place of the table of which routes are made */
	struct kernel_neighbour **neighbours; /* all, in order */
	uint32_t nb_neighbours;
	const struct kernel_route **best; /* in order, one a prefix */
	uint32_t nb_best;
	uint32_t first[2][129]; /* in `best`, of IPv4 and IPv6, by length; see find */
	uint32_t nb[2][129];
	bool is_short; /* of memory */
};

/* Packets to such addresses are judged before any lookup. */
static inline bool
making_is_link_local(const struct kernel_neighbour_key *neighbour)
{
	return neighbour->version == 6 && neighbour->address[0] == 0xfe &&
	       neighbour->address[1] >> 6 == 2;
}

/* Return a hop, or HOP_NONE: all ids are in use, or memory is short. First: of a kind without neighbour. */
uint16_t making_bare_hop(struct making *making, enum route_kind kind);
/* To a neighbour of an interface of the router. */
uint16_t making_neighbour_hop(struct making *making, const struct kernel_link *link,
			      uint8_t version, const uint8_t *address);
/* Of a neighbour's own host route. HOP_NONE: also where gateways need the ids that are left. */
uint16_t making_host_hop(struct making *making, const struct kernel_neighbour_key *neighbour);
/* Of a route; *exists: it is in force. */
uint16_t making_route_hop(struct making *making, const struct kernel_route *route, bool *exists);

/* Fill the content of the hop to a neighbour of an interface of the router that has this address. */
void making_key(const struct making *making, const struct kernel_neighbour_key *neighbour,
		const uint8_t *mac, struct hop_key *key);
/* Return whether packets to a neighbour go straight to it by this route, the longest one that holds it or
 * NULL: then it has a host route. */
bool making_is_direct(const struct making *making, const struct kernel_neighbour_key *key,
		      const struct kernel_route *route);

#endif
