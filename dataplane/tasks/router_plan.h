/* SPDX-License-Identifier: Apache-2.0 */
/* A plan by which tables that frames go by become those of other routes. */
#ifndef WSDP_ROUTER_PLAN_H
#define WSDP_ROUTER_PLAN_H

#include "router_tables.h"

struct router_plan {
	/* Places in the tables' hops, by the number of a hop of the routes. No route of the tables has a place whose
	 * hop becomes another one, but for groups that stay and get other members. */
	uint16_t places[ROUTES_HOPS_MAX];
	uint16_t *buckets; /* of the groups of the routes, in their order; places */
	struct route
		*list; /* changes, in their order; hop: as the tables number them, or ROUTE_GONE */
	uint32_t nb, room;
	uint32_t nb_without; /* routes of VRFs that the tables have not */
};

/* Plan the changes from the routes of the tables to others, whose list it sorts. In their order, an address that has
 * its answer by the former routes gets that by the new ones, and none in between: prefixes that come, longer ones first;
 * prefixes that get another hop; prefixes that go, shorter ones first. Return 0, -ENOMEM, or -ENOSPC: the tables have
 * no place for all hops or groups. Then there is nothing to close. */
int router_plan_open(struct router_plan *plan, const struct router_tables *tables,
		     const struct routes *routes);
void router_plan_close(struct router_plan *plan);

/* Return whether a table of a VRF, by its place, is that of the tables at this place. */
bool router_plan_has(const struct router_tables *tables, const struct routes *routes,
		     unsigned int place);

#endif
