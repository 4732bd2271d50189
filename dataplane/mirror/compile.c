/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "members.h"

struct making {
	struct kernel *kernel;
	struct hop_ids *ids;
	struct routes *routes;
	struct compile_report *report;
	const struct kernel_route **best; /* in order, one a prefix */
	uint32_t nb_best;
	uint32_t first[2][129]; /* in `best`, of IPv4 and IPv6, by length; see find */
	uint32_t nb[2][129];
	bool is_short; /* of memory */
};

static uint16_t
bare_hop(struct making *making, enum route_kind kind)
{
	struct hop_key key = {.kind = kind};
	bool is_new;

	return hop_ids_put(making->ids, making->routes, &key, &is_new);
}

static void
wish(struct compile_report *report, uint32_t link, uint8_t version, const uint8_t *address)
{
	struct compile_wish *one = &report->wishes[report->nb_wishes];

	if (report->nb_wishes == COMPILE_WISHES_MAX)
		return;
	*one = (struct compile_wish){.link = link, .version = version};
	memcpy(one->address, address, version == 4 ? 4 : 16);
	report->nb_wishes++;
}

/* The hop to a neighbour of an interface of the router. */
static uint16_t
neighbour_hop(struct making *making, uint8_t number, uint8_t version, const uint8_t *address)
{
	const struct kernel_link *link = &making->kernel->links[number];
	const struct kernel_neighbour *neighbour =
		kernel_neighbour(making->kernel, link->index, version, address);
	struct hop_key key = {.kind = ROUTE_FORWARD, .port = number};
	bool is_new;

	if (neighbour == NULL) {
		wish(making->report, link->index, version, address);
		return bare_hop(making, ROUTE_NEIGHBOUR);
	}
	key.mtu = link->mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)link->mtu;
	memcpy(key.source, link->mac, sizeof(key.source));
	memcpy(key.target, neighbour->mac, sizeof(key.target));
	return hop_ids_put(making->ids, making->routes, &key, &is_new);
}

/* The hop of one way. route: for ways without a gateway, which differ by destination; NULL: the prefix
 * has several. */
static uint16_t
way_hop(struct making *making, const struct kernel_way *way, const struct kernel_route_key *route)
{
	uint8_t number = kernel_link(making->kernel, way->link);

	if (number == KERNEL_NO_LINK)
		return bare_hop(making, ROUTE_KERNEL);
	if (way->version != 0)
		return neighbour_hop(making, number, way->version, way->gateway);
	if (route != NULL && route->length == (route->version == 4 ? 32 : 128))
		return neighbour_hop(making, number, route->version, route->prefix);
	return bare_hop(making, ROUTE_NEIGHBOUR);
}

static bool
is_usable(const struct kernel *kernel, const struct kernel_way *way)
{
	uint8_t number = kernel_link(kernel, way->link);

	return !way->is_dead &&
	       (number == KERNEL_NO_LINK || (kernel->links[number].flags & IFF_UP) != 0);
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
		return bare_hop(making, ROUTE_KERNEL);
	if (ways->is_blackhole)
		return bare_hop(making, ROUTE_BLACKHOLE);
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
			return bare_hop(making, ROUTE_KERNEL);
		if (!is_usable(making->kernel, &member->ways->list[0]))
			continue;
		ways[nb] = member->ways->list[0];
		ways[nb++].weight = object->weights[i];
	}
	*exists = nb > 0;
	return nb == 0 ? HOP_NONE : group_hop(making, ways, nb, object->id);
}

/* The hop of a next-hop object. */
static uint16_t
object_hop(struct making *making, uint32_t id, const struct kernel_route_key *route, bool *exists)
{
	struct kernel_nexthop *object = table_find(&making->kernel->nexthops, &id);

	*exists = false;
	if (object == NULL)
		return HOP_NONE;
	if (object->ways != NULL)
		return ways_hop(making, object->ways, route, id, exists);
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
	uint16_t hop = route->nexthop != 0 ? object_hop(making, route->nexthop, &route->key, exists)
					   : ways_hop(making, route->ways, &route->key, 0, exists);

	return *exists && route->to_kernel ? bare_hop(making, ROUTE_KERNEL) : hop;
}

/* The hop of a route; *exists: it is in force. */
static uint16_t
route_hop_of(struct making *making, const struct kernel_route *route, bool *exists)
{
	*exists = true;
	switch (route->type) {
	case RTN_LOCAL:
	case RTN_BROADCAST:
	case RTN_ANYCAST:
		return bare_hop(making, ROUTE_LOCAL);
	case RTN_BLACKHOLE:
		return bare_hop(making, ROUTE_BLACKHOLE);
	case RTN_UNICAST:
		return unicast_hop(making, route, exists);
	default: /* unreachable, prohibit, throw: the kernel answers */
		return bare_hop(making, ROUTE_KERNEL);
	}
}

/* By version, length, prefix; of one prefix the table local first, then by priority. */
static int
compare(const void *a, const void *b)
{
	const struct kernel_route_key *one = &(*(const struct kernel_route *const *)a)->key;
	const struct kernel_route_key *other = &(*(const struct kernel_route *const *)b)->key;
	int order;

	if (one->version != other->version)
		return one->version < other->version ? -1 : 1;
	if (one->length != other->length)
		return one->length < other->length ? -1 : 1;
	order = memcmp(one->prefix, other->prefix, sizeof(one->prefix));
	if (order != 0)
		return order;
	if (one->is_local != other->is_local)
		return one->is_local ? -1 : 1;
	return one->priority < other->priority ? -1 : one->priority > other->priority;
}

static bool
is_same_prefix(const struct kernel_route_key *one, const struct kernel_route_key *other)
{
	return one->version == other->version && one->length == other->length &&
	       memcmp(one->prefix, other->prefix, sizeof(one->prefix)) == 0;
}

static void
add_route(struct making *making, const struct kernel_route_key *key, uint8_t length,
	  const uint8_t *prefix, uint16_t hop)
{
	struct routes *routes = making->routes;
	struct route *route = &routes->list[routes->nb_routes++];

	if (hop == HOP_NONE) {
		making->report->over_hops++;
		hop = bare_hop(making, ROUTE_KERNEL);
	}
	making->report->by_kernel += routes->hops[hop].kind == ROUTE_KERNEL;
	*route = (struct route){.version = key->version, .length = length, .hop = hop};
	memcpy(route->prefix, prefix, key->version == 4 ? 4 : 16);
}

/* Add the best route of each prefix that is in force. */
static void
add_routes(struct making *making, const struct kernel_route **sorted, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++) {
		const struct kernel_route *route = sorted[i];
		const struct kernel_route_key *key = &route->key;
		const struct kernel_route **best = making->best;
		unsigned int family = key->version == 6;
		bool exists;
		uint16_t hop;

		if (making->nb_best > 0 && is_same_prefix(&best[making->nb_best - 1]->key, key))
			continue;
		hop = route_hop_of(making, route, &exists);
		if (!exists)
			continue;
		if (making->nb[family][key->length]++ == 0)
			making->first[family][key->length] = making->nb_best;
		best[making->nb_best++] = route;
		add_route(making, key, key->length, key->prefix, hop);
	}
}

static void
cut(uint8_t *prefix, unsigned int length)
{
	for (unsigned int i = length / 8 + (length % 8 != 0); i < 16; i++)
		prefix[i] = 0;
	if (length % 8 != 0)
		prefix[length / 8] &= (uint8_t)(0xff << (8 - length % 8));
}

/* The longest prefix that holds an address, or NULL. */
static const struct kernel_route *
find(const struct making *making, uint8_t version, const uint8_t *address)
{
	unsigned int family = version == 6;

	for (int length = version == 4 ? 32 : 128; length >= 0; length--) {
		uint32_t low = making->first[family][length];
		uint32_t high = low + making->nb[family][length];
		uint8_t prefix[16];

		if (low == high)
			continue;
		memcpy(prefix, address, sizeof(prefix));
		cut(prefix, (unsigned int)length);
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			int order = memcmp(making->best[middle]->key.prefix, prefix, 16);

			if (order == 0)
				return making->best[middle];
			if (order < 0)
				low = middle + 1;
			else
				high = middle;
		}
	}
	return NULL;
}

/* Return whether packets to a neighbour go straight to it, by the kernel's routes. */
static bool
is_direct(const struct making *making, const struct kernel_neighbour_key *key)
{
	uint8_t full = key->version == 4 ? 32 : 128;
	const struct kernel_route *route = find(making, (uint8_t)key->version, key->address);
	const struct kernel_ways *ways;

	if (route == NULL || route->type != RTN_UNICAST || route->to_kernel ||
	    route->key.length == full)
		return false;
	ways = route->ways;
	if (route->nexthop != 0) {
		const struct kernel_nexthop *object =
			table_find(&making->kernel->nexthops, &route->nexthop);

		ways = object == NULL ? NULL : object->ways;
	}
	return ways != NULL && ways->nb == 1 && !ways->to_kernel && !ways->is_blackhole &&
	       ways->list[0].version == 0 && ways->list[0].link == key->link;
}

/* Ids that neighbours leave to gateways, which may come later. */
#define HOPS_FOR_GATEWAYS 512

/* Host routes of neighbours on a link, so that one lookup suffices. */
static void
add_neighbours(struct making *making)
{
	const struct table *neighbours = &making->kernel->neighbours;
	const struct kernel_neighbour *neighbour = NULL;

	while ((neighbour = table_next(neighbours, neighbour)) != NULL) {
		const struct kernel_neighbour_key *key = &neighbour->key;
		struct kernel_route_key as = {.version = (uint8_t)key->version};
		uint8_t number = kernel_link(making->kernel, key->link);
		uint16_t hop;

		if (making->routes->nb_hops >= ROUTES_HOPS_MAX - HOPS_FOR_GATEWAYS)
			return;
		if (number == KERNEL_NO_LINK || !is_direct(making, key))
			continue;
		hop = neighbour_hop(making, number, as.version, key->address);
		/* Without a hop of its own it has the prefix's: the kernel forwards. */
		if (hop == HOP_NONE)
			continue;
		add_route(making, &as, as.version == 4 ? 32 : 128, key->address, hop);
		making->report->neighbours++;
	}
}

static bool
make(struct making *making)
{
	const struct table *table = &making->kernel->routes;
	struct routes *routes = making->routes;
	uint32_t most = table->count + making->kernel->neighbours.count;
	const struct kernel_route **sorted = calloc(table->count + 1, sizeof(*sorted));
	const struct kernel_route *route = NULL;
	uint32_t nb = 0;
	bool is_made;

	making->best = calloc(table->count + 1, sizeof(*making->best));
	routes->hops = calloc(ROUTES_HOPS_MAX, sizeof(*routes->hops));
	routes->list = calloc((size_t)most + 1, sizeof(*routes->list));
	is_made = sorted != NULL && making->best != NULL && routes->hops != NULL &&
		  routes->list != NULL;
	/* First, so that they have ids whatever else needs one. */
	if (is_made)
		for (unsigned int kind = ROUTE_BLACKHOLE; kind <= ROUTE_KERNEL; kind++)
			is_made &= bare_hop(making, (enum route_kind)kind) != HOP_NONE;
	while (is_made && (route = table_next(table, route)) != NULL)
		sorted[nb++] = route;
	if (is_made) {
		qsort(sorted, nb, sizeof(*sorted), compare);
		add_routes(making, sorted, nb);
		add_neighbours(making);
	}
	free(sorted);
	free(making->best);
	return is_made && !making->is_short && !making->ids->is_short;
}

bool
compile(struct kernel *kernel, struct hop_ids *ids, struct routes *routes,
	struct compile_report *report)
{
	struct making making = {.kernel = kernel, .ids = ids, .routes = routes, .report = report};

	*routes = (struct routes){0};
	memset(report, 0, sizeof(*report));
	hop_ids_turn(ids);
	kernel->mark++;
	if (make(&making))
		return true;
	routes_free(routes);
	return false;
}
