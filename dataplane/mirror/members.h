/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a group of routes that are being made. */
#ifndef MIRROR_MEMBERS_H
#define MIRROR_MEMBERS_H

#include "pktlib/routes.h"

/* Add a member, or its weight where its hop is one already. Return how many there are. */
uint16_t members_put(struct route_member *members, uint16_t nb, uint16_t hop, uint16_t weight);
/* Append them to those of the routes. Return false: memory is short. */
bool members_add(struct routes *routes, const struct route_member *members, uint16_t nb);
/* Return a hash of ids and weights, which is no id of a next-hop object. */
uint64_t members_tag(const struct route_member *members, uint16_t nb, const struct routes *routes);

#endif
