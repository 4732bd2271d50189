/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "making.h"
#include "members.h"

uint16_t
making_bare_hop(struct making *making, enum route_kind kind)
{
	struct hop_key key = {.kind = kind};
	bool is_new;

	return hop_ids_put(making->ids, making->routes, &key, &is_new);
}

static void
wish(struct compile_report *report, uint32_t link, uint8_t version, const uint8_t *address)
{
	struct compile_wish one = {.link = link, .version = version};

	memcpy(one.address, address, version == 4 ? 4 : 16);
	for (uint32_t i = 0; i < report->nb_wishes; i++)
		if (memcmp(&report->wishes[i], &one, sizeof(one)) == 0)
			return;
	if (report->nb_wishes < COMPILE_WISHES_MAX)
		report->wishes[report->nb_wishes++] = one;
}

uint16_t
making_neighbour_hop(struct making *making, const struct kernel_link *link, uint8_t version,
		     const uint8_t *address)
{
	const struct kernel_neighbour *neighbour =
		kernel_neighbour(making->kernel, link->index, version, address);
	struct hop_key key;
	bool is_new;

	if (neighbour == NULL) {
		wish(making->report, link->index, version, address);
		return making_bare_hop(making, ROUTE_NEIGHBOUR);
	}
	making_key(making, &neighbour->key, neighbour->mac, &key);
	return hop_ids_put(making->ids, making->routes, &key, &is_new);
}

/* Ids that neighbours leave to gateways, which may come later. */
#define HOPS_FOR_GATEWAYS 512

uint16_t
making_host_hop(struct making *making, const struct kernel_neighbour_key *neighbour)
{
	const struct kernel_link *link = kernel_link(making->kernel, neighbour->link);

	if (link == NULL || making->report->neighbours >= COMPILE_NEIGHBOURS_MAX ||
	    making->routes->nb_hops >= ROUTES_HOPS_MAX - HOPS_FOR_GATEWAYS)
		return HOP_NONE;
	return making_neighbour_hop(making, link, (uint8_t)neighbour->version, neighbour->address);
}

void
making_key(const struct making *making, const struct kernel_neighbour_key *neighbour,
	   const uint8_t *mac, struct hop_key *key)
{
	const struct kernel_link *link = kernel_link(making->kernel, neighbour->link);

	*key = (struct hop_key){.kind = ROUTE_FORWARD,
				.port = link->port,
				.vlan = link->vlan,
				.tag = neighbour->version};
	key->mtu = link->mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)link->mtu;
	memcpy(key->source, link->mac, sizeof(key->source));
	memcpy(key->target, mac, sizeof(key->target));
	memcpy(key->address, neighbour->address, sizeof(key->address));
}

/* The hop of one way. route: for ways without a gateway, which differ by destination; NULL: the prefix
 * has several. */
static uint16_t
way_hop(struct making *making, const struct kernel_way *way, const struct kernel_route_key *route)
{
	const struct kernel_link *link = kernel_link(making->kernel, way->link);

	if (link == NULL)
		return making_bare_hop(making, ROUTE_KERNEL);
	if (way->version != 0)
		return making_neighbour_hop(making, link, way->version, way->gateway);
	if (route != NULL && route->length == (route->version == 4 ? 32 : 128))
		return making_neighbour_hop(making, link, route->version, route->prefix);
	return making_bare_hop(making, ROUTE_NEIGHBOUR);
}

static bool
is_usable(const struct kernel *kernel, const struct kernel_way *way)
{
	const struct kernel_link *link = kernel_link(kernel, way->link);

	return !way->is_dead && (link == NULL || (link->flags & IFF_UP) != 0);
}

/* The hop of several ways. tag: id of the kernel's object, 0 if there is none. */
static uint16_t
group_hop(struct making *making, const struct kernel_way *ways, uint16_t nb, uint64_t tag)
{
	struct route_member members[KERNEL_WAYS_MAX];
	struct hop_key key = {.kind = ROUTE_GROUP};
	struct routes *routes = making->routes;
	uint16_t nb_members = 0, other = HOP_NONE, hop;
	bool is_new;

	for (uint16_t i = 0; i < nb; i++) {
		if (!is_usable(making->kernel, &ways[i]))
			continue;
		hop = way_hop(making, &ways[i], NULL);
		if (hop == HOP_NONE)
			return HOP_NONE;
		/* A member that only the kernel has makes it the kernel's choice. */
		if (routes->hops[hop].kind == ROUTE_KERNEL)
			return hop;
		if (routes->hops[hop].kind == ROUTE_FORWARD)
			nb_members = members_put(members, nb_members, hop, ways[i].weight);
		else
			other = hop;
	}
	/* Flows go by members that can forward; the others are asked for. */
	if (nb_members == 0)
		return other;
	if (nb_members == 1)
		return members[0].hop;
	key.tag = tag != 0 ? tag : members_tag(members, nb_members, routes);
	hop = hop_ids_put(making->ids, making->routes, &key, &is_new);
	if (hop == HOP_NONE || !is_new)
		return hop;
	routes->hops[hop].first_member = routes->nb_members;
	routes->hops[hop].nb_members = nb_members;
	if (!members_add(routes, members, nb_members)) {
		making->is_short = true;
		routes->hops[hop].nb_members = 0;
		return HOP_NONE;
	}
	return hop;
}

/* The hop of ways; *exists: at least one of them can be used. */
static uint16_t
ways_hop(struct making *making, struct kernel_ways *ways, const struct kernel_route_key *route,
	 uint64_t tag, bool *exists)
{
	uint16_t hop;

	*exists = ways->to_kernel || ways->is_blackhole;
	for (uint16_t i = 0; i < ways->nb; i++)
		*exists |= is_usable(making->kernel, &ways->list[i]);
	if (!*exists)
		return HOP_NONE;
	if (ways->to_kernel)
		return making_bare_hop(making, ROUTE_KERNEL);
	if (ways->is_blackhole)
		return making_bare_hop(making, ROUTE_BLACKHOLE);
	if (ways->nb == 1 && ways->list[0].version == 0)
		return way_hop(making, &ways->list[0], route);
	if (ways->mark == making->kernel->mark)
		return ways->hop;
	hop = ways->nb == 1 ? way_hop(making, &ways->list[0], NULL)
			    : group_hop(making, ways->list, ways->nb, tag);
	ways->mark = making->kernel->mark;
	ways->hop = hop;
	return hop;
}

/* The hop of a group of next-hop objects; *exists: at least one of them can be used. A group with a member
 * that is a blackhole or the kernel's is the kernel's. */
static uint16_t
object_group_hop(struct making *making, const struct kernel_nexthop *object, bool *exists)
{
	struct kernel_way ways[KERNEL_WAYS_MAX];
	uint16_t nb = 0;

	*exists = false;
	for (uint32_t i = 0; i < object->nb_members; i++) {
		const struct kernel_nexthop *member =
			table_find(&making->kernel->nexthops, &object->members[i]);

		if (member == NULL)
			continue;
		*exists = true;
		if (member->ways == NULL || member->ways->to_kernel || member->ways->is_blackhole ||
		    nb == KERNEL_WAYS_MAX)
			return making_bare_hop(making, ROUTE_KERNEL);
		if (!is_usable(making->kernel, &member->ways->list[0]))
			continue;
		ways[nb] = member->ways->list[0];
		ways[nb++].weight = object->weights[i];
	}
	*exists = nb > 0;
	return nb == 0 ? HOP_NONE : group_hop(making, ways, nb, object->id);
}

/* The hop of a route with a next-hop object. */
static uint16_t
object_hop(struct making *making, const struct kernel_route *route, bool *exists)
{
	struct kernel_nexthop *object = kernel_object(making->kernel, route);

	*exists = false;
	if (object == NULL)
		return HOP_NONE;
	if (object->ways != NULL)
		return ways_hop(making, object->ways, &route->key, object->id, exists);
	/* Many routes share a group. */
	if (object->mark != making->kernel->mark) {
		object->hop = object_group_hop(making, object, &object->exists);
		object->mark = making->kernel->mark;
	}
	*exists = object->exists;
	return object->hop;
}

/* The hop of a route to other hosts. */
static uint16_t
unicast_hop(struct making *making, const struct kernel_route *route, bool *exists)
{
	uint16_t hop = route->nexthop != 0 ? object_hop(making, route, exists)
					   : ways_hop(making, route->ways, &route->key, 0, exists);

	return *exists && route->to_kernel ? making_bare_hop(making, ROUTE_KERNEL) : hop;
}

/* Return whether the kernel ignores a route since its interface has no carrier. */
static bool
is_dead(const struct kernel_ways *ways)
{
	return ways != NULL && ways->nb == 1 && ways->list[0].is_dead;
}

uint16_t
making_route_hop(struct making *making, const struct kernel_route *route, bool *exists)
{
	*exists = true;
	switch (route->type) {
	case RTN_BROADCAST:
		*exists = !is_dead(route->ways);
		return making_bare_hop(making, ROUTE_LOCAL);
	case RTN_LOCAL:
	case RTN_ANYCAST:
		return making_bare_hop(making, ROUTE_LOCAL);
	case RTN_BLACKHOLE:
		return making_bare_hop(making, ROUTE_BLACKHOLE);
	case RTN_UNICAST:
		return unicast_hop(making, route, exists);
	default: /* unreachable, prohibit, throw: the kernel answers */
		return making_bare_hop(making, ROUTE_KERNEL);
	}
}
