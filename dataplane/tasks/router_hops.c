/* SPDX-License-Identifier: Apache-2.0 */
#include "router_hops.h"

#include <errno.h>
#include <string.h>
#include <rte_malloc.h>

#include "pktlib/ecmp.h"

_Static_assert(sizeof(struct router_hop) == RTE_CACHE_LINE_SIZE, "a hop is a cache line");

/* Groups that changes may add. */
#define GROUPS_ROOM 64

/* Return the place of a group of this id, or NULL. */
static const struct router_hop *
find_group(const struct router_tables *tables, uint16_t id)
{
	for (uint32_t i = 1; tables != NULL && i <= tables->nb_hops; i++)
		if (tables->hops[i].kind == ROUTE_GROUP && tables->hops[i].id == id)
			return &tables->hops[i];
	return NULL;
}

void
router_group_fill(uint16_t *buckets, const struct routes *routes, const struct route_hop *group,
		  const struct router_tables *former, const struct router_hop *before)
{
	uint16_t ids[ECMP_BUCKETS] = {0}, chosen[ECMP_BUCKETS], number_of[ROUTES_HOPS_MAX] = {0};
	struct ecmp_member members[ECMP_MEMBERS_MAX] = {0};

	for (uint32_t i = 0; i < group->nb_members; i++) {
		const struct route_member *member = &routes->members[group->first_member + i];

		members[i].hop = routes->hops[member->hop].id;
		members[i].weight = member->weight;
		number_of[members[i].hop] = member->hop;
	}
	for (unsigned int b = 0; before != NULL && b < ECMP_BUCKETS; b++)
		ids[b] = former->hops[before->buckets[b]].id;
	ecmp_fill(chosen, members, group->nb_members, before == NULL ? NULL : ids);
	for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
		buckets[b] = number_of[chosen[b]];
}

void
router_hop_fill(struct router_hop *hop, const struct route_hop *from)
{
	memcpy(hop->macs, from->target, sizeof(from->target));
	memcpy(hop->macs + sizeof(from->target), from->source, sizeof(from->source));
	hop->kind = from->kind;
	hop->port = from->port;
	hop->vlan = from->vlan;
	hop->mtu = 0;
	if (from->kind == ROUTE_FORWARD)
		hop->mtu = from->mtu == 0 ? UINT16_MAX : from->mtu;
	hop->untagged_mtu = from->vlan == 0 ? hop->mtu : 0;
	hop->id = from->id;
}

/* Fill the next place of a hop. */
static void
add_hop(struct router_tables *tables, const struct routes *routes,
	const struct router_tables *former)
{
	const struct route_hop *from = &routes->hops[tables->nb_hops++];
	struct router_hop *hop = &tables->hops[tables->nb_hops];

	router_hop_fill(hop, from);
	if (from->kind == ROUTE_GROUP) {
		uint16_t *buckets = &tables->buckets[tables->nb_groups++ * ECMP_BUCKETS];

		router_group_fill(buckets, routes, from, former, find_group(former, from->id));
		for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
			buckets[b]++; /* the first hop is none */
		hop->buckets = buckets;
	}
}

int
router_hops_make(struct router_tables *tables, const struct routes *routes,
		 const struct router_space *space)
{
	const struct router_tables *former = atomic_load(&space->current);

	for (uint32_t i = 0; i < routes->nb_hops; i++)
		tables->room_groups += routes->hops[i].kind == ROUTE_GROUP;
	tables->room_hops = space->has_room ? ROUTES_HOPS_MAX : routes->nb_hops;
	tables->room_groups += space->has_room ? GROUPS_ROOM : 0;
	tables->hops = rte_zmalloc_socket("router_hops",
					  (1 + tables->room_hops) * sizeof(*tables->hops),
					  RTE_CACHE_LINE_SIZE, space->socket_id);
	tables->buckets = rte_zmalloc_socket("router_groups",
					     (1 + tables->room_groups) * ECMP_BUCKETS *
						     sizeof(*tables->buckets),
					     RTE_CACHE_LINE_SIZE, space->socket_id);
	if (tables->hops == NULL || tables->buckets == NULL)
		return -ENOMEM;
	while (tables->nb_hops < routes->nb_hops)
		add_hop(tables, routes, former);
	return 0;
}

int
router_hops_add(struct router_tables *tables, const struct routes *routes)
{
	while (tables->nb_hops < routes->nb_hops) {
		if (tables->nb_hops == tables->room_hops)
			return -ENOSPC;
		if (routes->hops[tables->nb_hops].kind == ROUTE_GROUP &&
		    tables->nb_groups == tables->room_groups)
			return -ENOSPC;
		/* Other tables have no group of its id. */
		add_hop(tables, routes, NULL);
	}
	return 0;
}
