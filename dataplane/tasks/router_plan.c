/* SPDX-License-Identifier: Apache-2.0 */
#include "router_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pktlib/ecmp.h"
#include "router_hops.h"

/* Routes of a table, in order. */
struct present {
	struct route *list;
	uint32_t nb, room;
	uint8_t vrf;
	bool *is_used; /* places of hops, of all tables */
};

bool
router_plan_has(const struct router_tables *tables, const struct routes *routes, unsigned int place)
{
	uint32_t table = routes->vrfs == NULL ? 0 : routes->vrfs[place].table;

	return place < tables->nb_vrfs && tables->vrfs[place].table == table;
}

/* Note that a route has a hop, and the group's members. */
static void
use(bool *is_used, const struct router_tables *tables, uint32_t place)
{
	const struct router_hop *hop = &tables->hops[place];

	if (is_used[place])
		return;
	is_used[place] = true;
	for (unsigned int b = 0; hop->kind == ROUTE_GROUP && b < ECMP_BUCKETS; b++)
		is_used[hop->buckets[b]] = true;
}

static bool
is_same(const struct router_hop *hop, const struct route_hop *wanted)
{
	struct router_hop as = {.id = 0};

	if (wanted->kind == ROUTE_GROUP || hop->kind == ROUTE_GROUP)
		return wanted->kind == hop->kind;
	router_hop_fill(&as, wanted);
	return hop->kind == as.kind && hop->port == as.port && hop->vlan == as.vlan &&
	       hop->mtu == as.mtu && memcmp(hop->macs, as.macs, sizeof(hop->macs)) == 0;
}

/* Return a place that nobody uses, for a group one with buckets, or 0: there is none. */
static uint16_t
free_place(const struct router_tables *tables, const bool *is_used, bool is_group,
	   uint32_t *nb_groups)
{
	uint16_t bare = 0;

	for (uint16_t place = 1; place <= tables->room_hops; place++) {
		if (is_used[place])
			continue;
		if (!is_group || tables->hops[place].buckets != NULL)
			return place;
		if (bare == 0)
			bare = place;
	}
	if (bare == 0 || *nb_groups == tables->room_groups)
		return 0;
	++*nb_groups;
	return bare;
}

/* Find places for all hops: where they are, or where nobody is. */
static int
place_hops(struct router_plan *plan, const struct router_tables *tables,
	   const struct routes *routes, bool *is_used)
{
	uint16_t place_of_id[ROUTES_HOPS_MAX] = {0};
	uint32_t nb_groups = tables->nb_groups;

	for (uint16_t place = 1; place <= tables->nb_hops; place++)
		if (is_used[place])
			place_of_id[tables->hops[place].id] = place;
	for (uint32_t i = 0; i < routes->nb_hops; i++) {
		uint16_t place = place_of_id[routes->hops[i].id];

		if (place != 0 && is_same(&tables->hops[place], &routes->hops[i]))
			plan->places[i] = place;
	}
	for (uint32_t i = 0; i < routes->nb_hops; i++) {
		if (plan->places[i] != 0)
			continue;
		plan->places[i] = free_place(tables, is_used, routes->hops[i].kind == ROUTE_GROUP,
					     &nb_groups);
		if (plan->places[i] == 0)
			return -ENOSPC;
		is_used[plan->places[i]] = true;
	}
	return 0;
}

static int
fill_groups(struct router_plan *plan, const struct router_tables *tables,
	    const struct routes *routes)
{
	uint32_t nb = 0;

	for (uint32_t i = 0; i < routes->nb_hops; i++)
		nb += routes->hops[i].kind == ROUTE_GROUP;
	plan->buckets = calloc(nb + 1, ECMP_BUCKETS * sizeof(*plan->buckets));
	if (plan->buckets == NULL)
		return -ENOMEM;
	nb = 0;
	for (uint32_t i = 0; i < routes->nb_hops; i++) {
		const struct router_hop *hop = &tables->hops[plan->places[i]];
		uint16_t *buckets = &plan->buckets[nb * ECMP_BUCKETS];
		bool is_there = hop->kind == ROUTE_GROUP && hop->id == routes->hops[i].id;

		if (routes->hops[i].kind != ROUTE_GROUP)
			continue;
		router_group_fill(buckets, routes, &routes->hops[i], tables, is_there ? hop : NULL);
		for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
			buckets[b] = plan->places[buckets[b]];
		nb++;
	}
	return 0;
}

static void
take_present(void *context, const struct route *route)
{
	struct present *present = context;

	if (present->nb == present->room)
		return;
	present->list[present->nb] = *route;
	present->list[present->nb++].vrf = present->vrf;
}

/* Read the routes of a table, and note which hops they have. */
static int
read_present(struct present *present, const struct router_tables *tables, unsigned int vrf)
{
	const struct router_vrf *counts = &tables->vrfs[vrf];

	present->vrf = (uint8_t)vrf;
	present->room = counts->nb_v4 + counts->nb_v6;
	present->list = calloc(present->room + 1, sizeof(*present->list));
	if (present->list == NULL)
		return -ENOMEM;
	fib_walk(&tables->fibs[vrf], take_present, present);
	qsort(present->list, present->nb, sizeof(*present->list), route_compare);
	for (uint32_t i = 0; i < present->nb; i++)
		use(present->is_used, tables, 1u + present->list[i].hop);
	return 0;
}

/* Let a prefix have the hop of this number. */
static bool
add(struct router_plan *plan, const struct route *prefix, uint16_t hop)
{
	if (plan->nb == plan->room) {
		uint32_t room = 2 * plan->room + 64;
		struct route *list = realloc(plan->list, room * sizeof(*list));

		if (list == NULL)
			return false;
		plan->list = list;
		plan->room = room;
	}
	plan->list[plan->nb] = *prefix;
	plan->list[plan->nb++].hop = hop;
	return true;
}

/* Which comes when: see router_plan_open. */
enum step { COME, CHANGE, GO, STEPS };

/* Plan what a step has to do in a table, whose routes are to be the wanted ones; both are in order. */
static bool
plan_table(struct router_plan *plan, enum step step, const struct present *present,
	   const struct routes *wanted)
{
	uint32_t a = 0, b = 0;
	bool fits = true;

	while (fits && (a < present->nb || b < wanted->nb_routes)) {
		const struct route *old = &present->list[a], *new = &wanted->list[b];
		int order = a == present->nb         ? 1
			    : b == wanted->nb_routes ? -1
						     : route_compare(old, new);
		uint16_t hop = order < 0 ? ROUTE_GONE : (uint16_t)(plan->places[new->hop] - 1);

		a += order <= 0;
		b += order >= 0;
		if (order == 0 && hop == old->hop)
			continue;
		if (step == (order > 0 ? COME : order == 0 ? CHANGE : GO))
			fits = add(plan, order < 0 ? old : new, hop);
	}
	return fits;
}

static int
compare_lengths(const void *a, const void *b)
{
	const struct route *one = a, *other = b;

	return one->length != other->length ? (int)one->length - other->length
					    : route_compare(a, b);
}

static int
compare_longer_first(const void *a, const void *b)
{
	return compare_lengths(b, a);
}

static int
plan_routes(struct router_plan *plan, const struct router_tables *tables,
	    const struct routes *routes, const struct present *present)
{
	const unsigned int nb = routes->vrfs == NULL ? 1 : routes->nb_vrfs;
	const struct routes none = {.nb_routes = 0};

	for (unsigned int step = COME; step < STEPS; step++) {
		uint32_t first = plan->nb;

		for (unsigned int vrf = 0; vrf < tables->nb_vrfs; vrf++) {
			struct routes part = vrf < nb && router_plan_has(tables, routes, vrf)
						     ? routes_of(routes, vrf)
						     : none;

			if (step == COME && part.nb_routes > 0)
				qsort(part.list, part.nb_routes, sizeof(*part.list), route_compare);
			if (!plan_table(plan, step, &present[vrf], &part))
				return -ENOMEM;
		}
		if (step != CHANGE && plan->nb > first)
			qsort(plan->list + first, plan->nb - first, sizeof(*plan->list),
			      step == COME ? compare_longer_first : compare_lengths);
	}
	for (unsigned int vrf = 0; vrf < nb; vrf++)
		if (!router_plan_has(tables, routes, vrf))
			plan->nb_without += routes_of(routes, vrf).nb_routes;
	return 0;
}

int
router_plan_open(struct router_plan *plan, const struct router_tables *tables,
		 const struct routes *routes)
{
	struct present present[1 + ROUTES_VRFS_MAX] = {0};
	bool is_used[1 + ROUTES_HOPS_MAX] = {true};
	int ret = 0;

	memset(plan, 0, sizeof(*plan));
	for (unsigned int vrf = 0; ret == 0 && vrf < tables->nb_vrfs; vrf++) {
		present[vrf].is_used = is_used;
		ret = read_present(&present[vrf], tables, vrf);
	}
	if (ret == 0)
		ret = place_hops(plan, tables, routes, is_used);
	if (ret == 0)
		ret = fill_groups(plan, tables, routes);
	if (ret == 0)
		ret = plan_routes(plan, tables, routes, present);
	for (unsigned int vrf = 0; vrf < tables->nb_vrfs; vrf++)
		free(present[vrf].list);
	if (ret != 0)
		router_plan_close(plan);
	return ret;
}

void
router_plan_close(struct router_plan *plan)
{
	free(plan->buckets);
	free(plan->list);
	memset(plan, 0, sizeof(*plan));
}
