/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "making.h"

/* By version, length, prefix; of one prefix the table local first, then by priority. */
static int
compare_in_table(const void *a, const void *b)
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

/* By table, then as above. */
static int
compare(const void *a, const void *b)
{
	const struct kernel_route_key *one = &(*(const struct kernel_route *const *)a)->key;
	const struct kernel_route_key *other = &(*(const struct kernel_route *const *)b)->key;

	return one->vrf != other->vrf ? one->vrf - other->vrf : compare_in_table(a, b);
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
		hop = making_bare_hop(making, ROUTE_KERNEL);
	}
	*route = (struct route){
		.version = key->version, .length = length, .hop = hop, .vrf = making->vrf};
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
		hop = making_route_hop(making, route, &exists);
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

bool
making_is_direct(const struct making *making, const struct kernel_neighbour_key *key,
		 const struct kernel_route *route)
{
	uint8_t full = key->version == 4 ? 32 : 128;
	const struct kernel_ways *ways;

	if (route == NULL || route->type != RTN_UNICAST || route->to_kernel ||
	    route->key.length == full)
		return false;
	ways = route->ways;
	if (route->nexthop != 0) {
		const struct kernel_nexthop *object = kernel_object(making->kernel, route);

		ways = object == NULL ? NULL : object->ways;
	}
	return ways != NULL && ways->nb == 1 && !ways->to_kernel && !ways->is_blackhole &&
	       ways->list[0].version == 0 && ways->list[0].link == key->link;
}

static int
compare_neighbours(const void *a, const void *b)
{
	const struct kernel_neighbour_key *one = &(*(struct kernel_neighbour *const *)a)->key;
	const struct kernel_neighbour_key *other = &(*(struct kernel_neighbour *const *)b)->key;

	if (one->link != other->link)
		return one->link < other->link ? -1 : 1;
	if (one->version != other->version)
		return one->version < other->version ? -1 : 1;
	return memcmp(one->address, other->address, sizeof(one->address));
}

/* List all neighbours in order. Return false: memory is short. */
static bool
sort_neighbours(struct making *making)
{
	const struct table *table = &making->kernel->neighbours;
	struct kernel_neighbour *neighbour = NULL;

	making->neighbours = calloc(table->count + 1, sizeof(struct kernel_neighbour *));
	if (making->neighbours == NULL)
		return false;
	while ((neighbour = table_next(table, neighbour)) != NULL)
		making->neighbours[making->nb_neighbours++] = neighbour;
	qsort(making->neighbours, making->nb_neighbours, sizeof(struct kernel_neighbour *),
	      compare_neighbours);
	return true;
}

/* Host routes of neighbours on links that look up in the table, so that one lookup suffices. */
static void
add_neighbours(struct making *making)
{
	for (uint32_t i = 0; i < making->nb_neighbours; i++) {
		struct kernel_neighbour *neighbour = making->neighbours[i];
		const struct kernel_neighbour_key *key = &neighbour->key;
		struct kernel_route_key as = {.version = (uint8_t)key->version};
		uint16_t hop;

		if (kernel_place_of_link(making->kernel, key->link) != making->vrf)
			continue;
		neighbour->has_route = 0;
		if (making_is_link_local(key) ||
		    !making_is_direct(making, key, find(making, as.version, key->address)))
			continue;
		hop = making_host_hop(making, key);
		/* Without a hop of its own it has the prefix's: the kernel forwards. */
		if (hop == HOP_NONE) {
			making->report->over_neighbours++;
			continue;
		}
		add_route(making, &as, as.version == 4 ? 32 : 128, key->address, hop);
		neighbour->has_route = 1;
		making->report->neighbours++;
	}
}

/* Make the routes of a table of these, in order. */
static void
make_table(struct making *making, const struct kernel_route **sorted, uint32_t nb)
{
	making->nb_best = 0;
	memset(making->first, 0, sizeof(making->first));
	memset(making->nb, 0, sizeof(making->nb));
	add_routes(making, sorted, nb);
	add_neighbours(making);
}

/* Make the routes of a VRF's table of its own, which are the first `nb` of room for more, and of those of the
 * table local where the kernel asks that first. */
static void
make_vrf(struct making *making, const struct kernel_route **room, uint32_t nb,
	 const struct kernel_route **locals, uint32_t nb_locals)
{
	struct routes *routes = making->routes;
	struct routes_vrf *vrf = &routes->vrfs[making->vrf];
	const struct kernel_vrf *of;

	vrf->table = making->kernel->tables[making->vrf];
	vrf->first = routes->nb_routes;
	of = kernel_vrf(making->kernel, vrf->table);
	/* No interface is in a VRF that was deleted. */
	if (of == NULL)
		return;
	memcpy(vrf->name, of->name, sizeof(vrf->name));
	for (uint32_t i = 0; i < nb_locals; i++)
		if (kernel_is_local_first(making->kernel, locals[i]->key.version))
			room[nb++] = locals[i];
	qsort(room, nb, sizeof(*room), compare_in_table);
	make_table(making, room, nb);
	vrf->nb = routes->nb_routes - vrf->first;
}

/* Make the routes of all tables. room: for all routes, twice. */
static void
make_tables(struct making *making, const struct kernel_route **sorted, uint32_t nb,
	    const struct kernel_route **room)
{
	struct routes *routes = making->routes;
	const struct kernel_route **locals = room + nb;
	uint32_t nb_locals = 0, end = 0, begin;

	while (end < nb && sorted[end]->key.vrf == 0) {
		if (routes->vrfs != NULL && sorted[end]->key.is_local != 0)
			locals[nb_locals++] = sorted[end];
		end++;
	}
	make_table(making, sorted, end);
	if (routes->vrfs == NULL)
		return;
	routes->vrfs[0].nb = routes->nb_routes;
	for (making->vrf = 1; making->vrf < routes->nb_vrfs; making->vrf++) {
		for (begin = end; end < nb && sorted[end]->key.vrf == making->vrf; end++)
			room[end - begin] = sorted[end];
		make_vrf(making, room, end - begin, locals, nb_locals);
	}
}

static uint32_t
count_locals(const struct table *table)
{
	const struct kernel_route *route = NULL;
	uint32_t nb = 0;

	while ((route = table_next(table, route)) != NULL)
		nb += route->key.is_local;
	return nb;
}

/* Make room for what is made. Return false: memory is short. */
static bool
make_room(struct making *making)
{
	const struct kernel *kernel = making->kernel;
	struct routes *routes = making->routes;
	size_t most = kernel->routes.count + kernel->neighbours.count;

	if (kernel->nb_tables > 0) {
		routes->nb_vrfs = 1 + kernel->nb_tables;
		routes->vrfs = calloc(routes->nb_vrfs, sizeof(*routes->vrfs));
		if (routes->vrfs == NULL)
			return false;
		most += (size_t)kernel->nb_tables * count_locals(&kernel->routes);
	}
	making->best = calloc(kernel->routes.count + 1, sizeof(*making->best));
	routes->hops = calloc(ROUTES_HOPS_MAX, sizeof(*routes->hops));
	routes->list = calloc(most + 1, sizeof(*routes->list));
	return making->best != NULL && routes->hops != NULL && routes->list != NULL &&
	       sort_neighbours(making);
}

static bool
make(struct making *making)
{
	const struct table *table = &making->kernel->routes;
	/* With VRFs, room for the routes of one and for those of the table local. */
	size_t most = (making->kernel->nb_tables > 0 ? 3 : 1) * (size_t)table->count;
	const struct kernel_route **sorted = calloc(most + 1, sizeof(*sorted));
	const struct kernel_route *route = NULL;
	uint32_t nb = 0;
	bool is_made = make_room(making) && sorted != NULL;

	/* First, so that they have ids whatever else needs one. */
	if (is_made)
		for (unsigned int kind = ROUTE_BLACKHOLE; kind <= ROUTE_KERNEL; kind++)
			is_made &= making_bare_hop(making, (enum route_kind)kind) != HOP_NONE;
	while (is_made && (route = table_next(table, route)) != NULL)
		sorted[nb++] = route;
	if (is_made) {
		qsort(sorted, nb, sizeof(*sorted), compare);
		make_tables(making, sorted, nb, sorted + nb);
	}
	free(sorted);
	free(making->best);
	free(making->neighbours);
	making->report->has_former = making->ids->is_full &&
				     making->routes->nb_hops < ROUTES_HOPS_MAX;
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
	table_close(&kernel->gone_groups);
	kernel->mark++;
	if (make(&making))
		return true;
	routes_free(routes);
	return false;
}
