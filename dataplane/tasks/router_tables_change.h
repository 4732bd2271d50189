/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of routes in tables that nobody reads meanwhile. */
#ifndef WSDP_ROUTER_TABLES_CHANGE_H
#define WSDP_ROUTER_TABLES_CHANGE_H

#include "router_tables.h"

/* Count a route more (1) or less (-1). */
void router_tables_count(struct router_tables *tables, const struct route *route, int more);
/* Give a prefix a hop, by its number among those of the tables, or ROUTE_GONE. Return as fib_change does. Before
 * lookups, fib_settle is due. */
int router_tables_set(struct router_tables *tables, const struct route *route);
/* Change routes, where a hop of ROUTE_GONE is none any more, in tables of `routes`, which may have got more hops
 * since, and other target addresses. Return 0 or a negative errno: these tables must not be used any more. */
int router_tables_change(struct router_tables *tables, const struct routes *routes,
			 const struct route *changes, uint32_t nb);

#endif
