/* SPDX-License-Identifier: Apache-2.0 */
/* Of the makers of tables alone: their next hops and groups. */
#ifndef WSDP_ROUTER_HOPS_H
#define WSDP_ROUTER_HOPS_H

#include "router_tables.h"

/* Fill a hop, but for the buckets of a group. */
void router_hop_fill(struct router_hop *hop, const struct route_hop *from);
/* Fill ECMP_BUCKETS buckets of a group with numbers of `routes`' hops. before: the same group in `former`, whose flows
 * keep their hops, or NULL. Hops are compared by their ids, which tables of another time have too. */
void
router_group_fill(uint16_t *buckets, const struct routes *routes, const struct route_hop *group,
		  const struct router_tables *former, const struct router_hop *before);
/* Make the hops of new tables, with room for more if the space has. Return 0 or -ENOMEM. */
int router_hops_make(struct router_tables *tables, const struct routes *routes,
		     const struct router_space *space);
/* Give the tables, which are not in force, further hops of `routes`. Return 0 or -ENOSPC. */
int router_hops_add(struct router_tables *tables, const struct routes *routes);

#endif
