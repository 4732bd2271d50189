/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "routes.h"

#define FIRST_BITS 24 /* what the first table resolves; each further one 8 more */
#define LEVELS ((128 - FIRST_BITS) / 8)

/* A walk over the routes of a version in the order of their addresses, shorter ones first. */
struct walk {
	const struct route *deepest[LEVELS]; /* the last route that went beyond this level */
	const struct route *parents[129];    /* which hold the route, shortest first */
	uint32_t nb_parents;
};

static int
compare(const void *a, const void *b)
{
	const struct route *one = *(const struct route *const *)a;
	const struct route *other = *(const struct route *const *)b;
	int order = memcmp(one->prefix, other->prefix, sizeof(one->prefix));

	return order != 0 ? order : one->length - other->length;
}

static bool
share_bits(const struct route *one, const struct route *other, unsigned int bits)
{
	unsigned int octets = bits / 8, rest = bits % 8;

	return memcmp(one->prefix, other->prefix, octets) == 0 &&
	       (rest == 0 || ((one->prefix[octets] ^ other->prefix[octets]) >> (8 - rest)) == 0);
}

/* Return the number of levels of tables before the end of such a prefix. */
static unsigned int
levels(unsigned int length)
{
	return length <= FIRST_BITS ? 0 : (length - FIRST_BITS + 7) / 8;
}

static void
add(struct walk *walk, const struct route *route, struct routes_need *need)
{
	unsigned int depth = levels(route->length), above = 0;

	/* Routes that share a table are next to each other: only the last one can be in it. */
	for (unsigned int level = 0; level < depth; level++) {
		const struct route *last = walk->deepest[level];

		if (last == NULL || !share_bits(last, route, FIRST_BITS + 8 * level))
			need->tables++;
		walk->deepest[level] = route;
	}
	while (walk->nb_parents > 0) {
		const struct route *parent = walk->parents[walk->nb_parents - 1];

		if (parent->length < route->length && share_bits(parent, route, parent->length)) {
			above = levels(parent->length);
			break;
		}
		walk->nb_parents--;
	}
	need->reserved += depth - above;
	walk->parents[walk->nb_parents++] = route;
}

bool
routes_need(const struct routes *routes, uint8_t version, struct routes_need *need)
{
	const struct route **sorted = calloc(routes->nb_routes + 1, sizeof(const struct route *));
	struct walk walk = {.nb_parents = 0};

	*need = (struct routes_need){0};
	if (sorted == NULL)
		return false;
	for (uint32_t i = 0; i < routes->nb_routes; i++)
		if (routes->list[i].version == version)
			sorted[need->routes++] = &routes->list[i];
	if (need->routes > 0)
		qsort(sorted, need->routes, sizeof(const struct route *), compare);
	for (uint32_t i = 0; i < need->routes; i++)
		add(&walk, sorted[i], need);
	free(sorted);
	return true;
}
