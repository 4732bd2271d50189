/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "making.h"

/* Pairs of a change and a neighbour that are looked at; for more, making all anew takes less. */
#define PAIRS_MAX 2000000

/* Return whether a prefix has a route that is in force: *hop is that of the kernel's best one. */
static bool
find_hop(struct making *making, const struct kernel_prefix *prefix, uint16_t *hop)
{
	struct kernel_route_key key = {.version = prefix->version, .length = prefix->length};

	memcpy(key.prefix, prefix->prefix, sizeof(key.prefix));
	for (unsigned int i = 0; i < making->kernel->nb_ranks; i++) {
		const struct kernel_route *route;
		bool exists;

		key.is_local = making->kernel->ranks[i].is_local;
		key.priority = making->kernel->ranks[i].priority;
		route = table_find(&making->kernel->routes, &key);
		if (route == NULL)
			continue;
		*hop = making_route_hop(making, route, &exists);
		if (exists)
			return true;
	}
	return false;
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

/* Return whether a neighbour has a route that is longer than this prefix. */
static bool
has_longer(struct making *making, const struct kernel_prefix *than,
	   const struct kernel_neighbour_key *neighbour)
{
	struct kernel_prefix longer = {.version = than->version};
	uint16_t hop;

	for (unsigned int length = than->version == 4 ? 32 : 128; length > than->length; length--) {
		longer.length = (uint8_t)length;
		memcpy(longer.prefix, neighbour->address, sizeof(longer.prefix));
		cut(longer.prefix, length);
		if (find_hop(making, &longer, &hop))
			return true;
	}
	return false;
}

/* Return whether a neighbour may have a host route now that it had not, or the other way round: its longest
 * prefix is among those that have changed. Of several that hold it, the longest one finds no longer one. */
static bool
concerns_neighbour(struct making *making, const struct kernel_prefix *prefix)
{
	const struct table *neighbours = &making->kernel->neighbours;
	const struct kernel_neighbour *neighbour = NULL;

	while ((neighbour = table_next(neighbours, neighbour)) != NULL)
		if (holds(prefix, &neighbour->key) && !has_longer(making, prefix, &neighbour->key))
			return true;
	return false;
}

static bool
make(struct making *making, struct route *list)
{
	const struct kernel_changes *changes = &making->kernel->changes;

	for (uint32_t i = 0; i < changes->nb; i++) {
		const struct kernel_prefix *prefix = &changes->list[i];
		uint16_t hop = ROUTE_GONE;

		if (concerns_neighbour(making, prefix))
			return false;
		if (find_hop(making, prefix, &hop) && hop == HOP_NONE)
			return false;
		list[i] = (struct route){
			.version = prefix->version, .length = prefix->length, .hop = hop};
		memcpy(list[i].prefix, prefix->prefix, sizeof(list[i].prefix));
	}
	return !making->is_short && !making->ids->is_short;
}

bool
compile_changes(struct kernel *kernel, struct hop_ids *ids, struct routes *routes,
		struct compile_report *report, struct route **list, uint32_t *nb)
{
	struct making making = {.kernel = kernel, .ids = ids, .routes = routes, .report = report};
	const struct kernel_changes *changes = &kernel->changes;

	if (changes->is_all || kernel->nb_ranks > KERNEL_RANKS_MAX ||
	    (uint64_t)changes->nb * kernel->neighbours.count > PAIRS_MAX)
		return false;
	*list = calloc((size_t)changes->nb + 1, sizeof(**list));
	if (*list == NULL)
		return false;
	*nb = changes->nb;
	if (make(&making, *list))
		return true;
	free(*list);
	return false;
}
