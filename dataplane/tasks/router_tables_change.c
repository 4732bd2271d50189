/* SPDX-License-Identifier: Apache-2.0 */
#include "router_tables_change.h"

#include <string.h>

#include "router_hops.h"

void
router_tables_count(struct router_tables *tables, const struct route *route, int more)
{
	struct router_vrf *vrf = &tables->vrfs[route->vrf];

	*(route->version == 4 ? &tables->nb_v4 : &tables->nb_v6) += (uint32_t)more;
	*(route->version == 4 ? &vrf->nb_v4 : &vrf->nb_v6) += (uint32_t)more;
}

int
router_tables_set(struct router_tables *tables, const struct route *route)
{
	struct fib *fib = &tables->fibs[route->vrf];
	uint64_t before = fib_value(fib, route);
	uint64_t after = route->hop == ROUTE_GONE ? FIB_NO_ROUTE : 1 + (uint64_t)route->hop;
	int ret = fib_change(fib, route, after);

	if (ret != 0)
		after = fib_value(fib, route);
	/* The first hop is none, and of another kind. */
	tables->nb_by_kernel += tables->hops[after].kind == ROUTE_KERNEL;
	tables->nb_by_kernel -= tables->hops[before].kind == ROUTE_KERNEL;
	router_tables_count(tables, route, (after != FIB_NO_ROUTE) - (before != FIB_NO_ROUTE));
	return ret;
}

int
router_tables_change(struct router_tables *tables, const struct routes *routes,
		     const struct route *changes, uint32_t nb)
{
	int ret;

	/* Neighbours may have another address. */
	for (uint32_t i = 0; i < tables->nb_hops; i++)
		memcpy(tables->hops[1 + i].macs, routes->hops[i].target,
		       sizeof(routes->hops[i].target));
	ret = router_hops_add(tables, routes);
	for (uint32_t i = 0; ret == 0 && i < nb; i++)
		ret = router_tables_set(tables, &changes[i]);
	for (unsigned int i = 0; ret == 0 && i < tables->nb_vrfs; i++)
		ret = fib_settle(&tables->fibs[i]);
	return ret;
}
