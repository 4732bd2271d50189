/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of the tables that frames go by, where there is no memory for others next to them. rte_fib is not safe for
 * readers while it changes, so lcores stand still for a short time at once, and route in between: see core/hold.h. */
#ifndef WSDP_ROUTER_IN_PLACE_H
#define WSDP_ROUTER_IN_PLACE_H

#include "router_tables.h"

struct in_place_report {
	uint32_t changed; /* routes */
	uint32_t
		without_room; /* routes that the tables have no room for: frames go by the next shorter one */
	uint32_t holds; /* times that lcores stood still */
};

/* Have tables in force answer by these routes, whose list it sorts, and have these interfaces, which are the former
 * ones afterwards. A route for which there is no room is omitted. Return 0 or a negative errno: -ENOSPC with nothing
 * changed, since the tables have no place for all hops or groups; -ENOMEM, -ETIMEDOUT, -EBUSY and -ECANCELED with some of
 * the changes made; -EIO where lookups answer otherwise than the tree of prefixes. */
int
router_in_place(struct router_space *space, const struct routes *routes, struct router_links *links,
		const atomic_bool *cancel, struct in_place_report *report);

#endif
