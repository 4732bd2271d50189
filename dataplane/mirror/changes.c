/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "making.h"

/* Pairs of a change and a neighbour's place that are looked at; for more, making all anew takes less. */
#define PAIRS_MAX 2000000u
#define PAIRS_A_ROUTE 64u

/* Routes that have changed: the last one of a prefix counts. */
struct changed {
	struct route *list;
	uint32_t nb, room;
};

/* Return the kernel's best route of a prefix that is in force, and its hop; or NULL. */
static const struct kernel_route *
find_route(struct making *making, const struct kernel_prefix *prefix, uint16_t *hop)
{
	struct kernel_route_key key = {.version = prefix->version, .length = prefix->length};

	memcpy(key.prefix, prefix->prefix, sizeof(key.prefix));
	for (unsigned int i = 0; i < making->kernel->nb_ranks; i++) {
		const struct kernel_route *route;
		bool exists;

		key.is_local = making->kernel->ranks[i].is_local;
		key.vrf = key.is_local != 0 ? 0 : prefix->vrf;
		if (key.vrf != prefix->vrf &&
		    !kernel_is_local_first(making->kernel, prefix->version))
			continue;
		key.priority = making->kernel->ranks[i].priority;
		route = table_find(&making->kernel->routes, &key);
		if (route == NULL)
			continue;
		*hop = making_route_hop(making, route, &exists);
		if (exists)
			return route;
	}
	return NULL;
}

/* Set all bits behind the first `length` to 0. */
static void
cut(uint8_t *address, unsigned int length)
{
	for (unsigned int i = length / 8 + (length % 8 != 0); i < 16; i++)
		address[i] = 0;
	if (length % 8 != 0)
		address[length / 8] &= (uint8_t)(0xff << (8 - length % 8));
}

static bool
holds(const struct kernel_prefix *prefix, const struct kernel_neighbour_key *neighbour)
{
	uint8_t first[16];

	if (prefix->version != neighbour->version)
		return false;
	memcpy(first, neighbour->address, sizeof(first));
	cut(first, prefix->length);
	return memcmp(first, prefix->prefix, sizeof(first)) == 0;
}

/* Return the longest route that holds a neighbour, of the table of its interface, or NULL: it is none of at
 * least this length. */
static const struct kernel_route *
find_longest(struct making *making, const struct kernel_neighbour_key *neighbour,
	     unsigned int least)
{
	struct kernel_prefix prefix = {.version = (uint8_t)neighbour->version};
	unsigned int place = kernel_place_of_link(making->kernel, neighbour->link);
	uint16_t hop;

	if (place == KERNEL_NO_PLACE)
		return NULL;
	prefix.vrf = (uint8_t)place;
	for (unsigned int length = neighbour->version == 4 ? 33 : 129; length-- > least;) {
		const struct kernel_route *route;

		prefix.length = (uint8_t)length;
		memcpy(prefix.prefix, neighbour->address, sizeof(prefix.prefix));
		cut(prefix.prefix, length);
		route = find_route(making, &prefix, &hop);
		if (route != NULL)
			return route;
	}
	return NULL;
}

/* Find the hop of a neighbour's host route, or ROUTE_GONE: it has none. now: NULL where it is not known. Return
 * false: the kernel has a route to it alone, or all ids are in use. */
static bool
find_host_hop(struct making *making, const struct kernel_neighbour_key *key,
	      struct kernel_neighbour *now, uint16_t *hop)
{
	const struct kernel_route *route = find_longest(making, key, 0);

	*hop = ROUTE_GONE;
	if (route != NULL && route->key.length == (key->version == 4 ? 32 : 128))
		return false;
	if (now == NULL || making_is_link_local(key) || !making_is_direct(making, key, route))
		return true;
	*hop = making_host_hop(making, key);
	return *hop != HOP_NONE;
}

static void
add_host(struct changed *changed, const struct kernel_neighbour_key *key, unsigned int place,
	 uint16_t hop)
{
	struct route *route = &changed->list[changed->nb++];

	*route = (struct route){.version = (uint8_t)key->version,
				.length = key->version == 4 ? 32 : 128,
				.hop = hop,
				.vrf = (uint8_t)place};
	memcpy(route->prefix, key->address, sizeof(route->prefix));
}

/* Make the host routes of the neighbours whose longest prefix has changed, behind that one. Of several that hold a
 * neighbour, the longest one finds no longer one. */
static bool
make_hosts_of(struct making *making, const struct kernel_prefix *prefix, struct changed *changed)
{
	struct kernel_neighbour *one = NULL;

	while ((one = table_next(&making->kernel->neighbours, one)) != NULL) {
		uint16_t hop;

		if (making_is_link_local(&one->key) || !holds(prefix, &one->key) ||
		    kernel_place_of_link(making->kernel, one->key.link) != prefix->vrf ||
		    find_longest(making, &one->key, prefix->length + 1u) != NULL)
			continue;
		/* A host route that goes leaves its hop to a neighbour that waits for one. */
		if (making->report->over_neighbours > 0 || changed->nb == changed->room ||
		    !find_host_hop(making, &one->key, one, &hop))
			return false;
		making->report->neighbours += hop != ROUTE_GONE;
		making->report->neighbours -= one->has_route;
		one->has_route = hop != ROUTE_GONE;
		add_host(changed, &one->key, prefix->vrf, hop);
	}
	return true;
}

/* Return whether routes lead to a neighbour as a gateway. */
static bool
is_gateway(const struct kernel *kernel, const struct kernel_neighbour_key *neighbour)
{
	for (unsigned int i = 0; i < KERNEL_CHAINS; i++)
		for (const struct kernel_ways *ways = kernel->chains[i]; ways != NULL;
		     ways = ways->next)
			for (uint16_t w = 0; w < ways->nb; w++) {
				const struct kernel_way *way = &ways->list[w];

				if (way->link == neighbour->link &&
				    way->version == neighbour->version &&
				    memcmp(way->gateway, neighbour->address,
					   sizeof(way->gateway)) == 0)
					return true;
			}
	return false;
}

/* Return whether the kernel has a route to a neighbour alone, in any table: it leads there without a gateway. */
static bool
has_own_route(struct making *making, const struct kernel_neighbour_key *neighbour)
{
	struct kernel_prefix prefix = {.version = (uint8_t)neighbour->version,
				       .length = neighbour->version == 4 ? 32 : 128};
	uint16_t hop;

	memcpy(prefix.prefix, neighbour->address, sizeof(prefix.prefix));
	for (; prefix.vrf <= making->kernel->nb_tables; prefix.vrf++)
		if (find_route(making, &prefix, &hop) != NULL)
			return true;
	return false;
}

/* A neighbour has another address: all routes that lead to it have that, too. */
static bool
move_neighbour(struct making *making, const struct kernel_moved *moved,
	       struct kernel_neighbour *now)
{
	struct hop_key from, to;

	now->has_route = moved->had_route;
	if (memcmp(now->mac, moved->mac, sizeof(now->mac)) == 0)
		return true;
	making_key(making, &moved->key, moved->mac, &from);
	making_key(making, &moved->key, now->mac, &to);
	return hop_ids_move(making->ids, making->routes, &from, &to);
}

/* A neighbour comes or goes; *hop: of its host route, or ROUTE_GONE. Return false: other routes lead to it. */
static bool
host_hop(struct making *making, const struct kernel_moved *moved, struct kernel_neighbour *now,
	 uint16_t *hop)
{
	if (is_gateway(making->kernel, &moved->key) || has_own_route(making, &moved->key) ||
	    !find_host_hop(making, &moved->key, now, hop))
		return false;
	if (now != NULL)
		now->has_route = *hop != ROUTE_GONE;
	making->report->neighbours += *hop != ROUTE_GONE;
	making->report->neighbours -= moved->had_route;
	return true;
}

/* Make the host routes of neighbours that have changed. */
static bool
make_hosts(struct making *making, struct changed *changed)
{
	const struct kernel_changes *changes = &making->kernel->changes;

	for (uint32_t i = 0; i < changes->nb_moved; i++) {
		const struct kernel_moved *moved = &changes->moved[i];
		struct kernel_neighbour *now = table_find(&making->kernel->neighbours, &moved->key);
		unsigned int place = kernel_place_of_link(making->kernel, moved->key.link);
		uint16_t hop;

		if (moved->was_known && now != NULL) {
			if (!move_neighbour(making, moved, now))
				return false;
			continue;
		}
		if (!host_hop(making, moved, now, &hop))
			return false;
		if (place != KERNEL_NO_PLACE)
			add_host(changed, &moved->key, place, hop);
	}
	return true;
}

static bool
make(struct making *making, struct changed *changed)
{
	const struct kernel_changes *changes = &making->kernel->changes;

	if (!make_hosts(making, changed))
		return false;
	for (uint32_t i = 0; i < changes->nb; i++) {
		const struct kernel_prefix *prefix = &changes->list[i];
		uint16_t hop = ROUTE_GONE;
		struct route *route;

		if (find_route(making, prefix, &hop) != NULL && hop == HOP_NONE)
			return false;
		if (changed->nb == changed->room)
			return false;
		route = &changed->list[changed->nb++];
		*route = (struct route){.version = prefix->version,
					.length = prefix->length,
					.hop = hop,
					.vrf = prefix->vrf};
		memcpy(route->prefix, prefix->prefix, sizeof(route->prefix));
		if (!make_hosts_of(making, prefix, changed))
			return false;
	}
	return !making->is_short && !making->ids->is_short;
}

/* Forget the wishes that were fulfilled. */
static void
forget_wishes(const struct kernel *kernel, struct compile_report *report)
{
	uint32_t nb = report->nb_wishes;

	report->nb_wishes = 0;
	for (uint32_t i = 0; i < nb; i++) {
		const struct compile_wish one = report->wishes[i];

		if (kernel_neighbour(kernel, one.link, one.version, one.address) == NULL)
			report->wishes[report->nb_wishes++] = one;
	}
}

/* Return whether what changes may leave a hop to routes or neighbours that have none. */
static bool
has_waiting(const struct kernel_changes *changes, const struct compile_report *report)
{
	return report->over_hops > 0 ||
	       (report->over_neighbours > 0 &&
		(changes->nb_moved > 0 || report->neighbours < COMPILE_NEIGHBOURS_MAX));
}

bool
compile_changes(struct kernel *kernel, struct hop_ids *ids, struct routes *routes,
		struct compile_report *report, struct route **list, uint32_t *nb)
{
	struct making making = {.kernel = kernel, .ids = ids, .routes = routes, .report = report};
	const struct kernel_changes *changes = &kernel->changes;
	/* Each neighbour has a host route; where prefixes that hold it change together, it may be there again. */
	struct changed changed = {.room = changes->nb + changes->nb_moved +
					  kernel->neighbours.count + 1};

	if (changes->is_all || kernel->nb_ranks > KERNEL_RANKS_MAX ||
	    has_waiting(changes, report) ||
	    (uint64_t)changes->nb * kernel->neighbours.capacity >
		    PAIRS_MAX + (uint64_t)PAIRS_A_ROUTE * kernel->routes.count)
		return false;
	changed.list = calloc(changed.room, sizeof(*changed.list));
	if (changed.list != NULL && make(&making, &changed)) {
		forget_wishes(kernel, report);
		*list = changed.list;
		*nb = changed.nb;
		return true;
	}
	free(changed.list);
	return false;
}
