/* SPDX-License-Identifier: Apache-2.0 */
#include "router_check.h"

#include <stdlib.h>
#include <string.h>

#include "pktlib/bytes.h"
#include "pktlib/ecmp.h"
#include "router_comparison.h"

static bool
is_same_hop(const struct router_hop *one, const struct router_hop *other)
{
	return one->kind == other->kind && one->port == other->port && one->vlan == other->vlan &&
	       one->mtu == other->mtu && memcmp(one->macs, other->macs, sizeof(one->macs)) == 0;
}

/* Return whether each member has buckets, and each bucket is a member's. */
static bool
is_same_group(const struct comparison *comparison, const struct route_hop *group,
	      const struct router_hop *built)
{
	const struct routes *routes = comparison->routes;
	uint64_t seen = 0;

	for (unsigned int b = 0; b < ECMP_BUCKETS; b++) {
		const struct router_hop *hop = &comparison->tables->hops[built->buckets[b]];
		bool is_member = false;

		/* Members may be equal: neighbours with one address. */
		for (uint32_t i = 0; i < group->nb_members; i++) {
			const struct route_member *member =
				&routes->members[group->first_member + i];
			struct router_hop wanted = comparison_as_built(&routes->hops[member->hop]);
			bool is_this = is_same_hop(&wanted, hop);

			is_member |= is_this;
			seen |= (uint64_t)is_this << i;
		}
		if (!is_member)
			return false;
	}
	return seen == UINT64_MAX >> (64 - group->nb_members);
}

static bool
is_same(const struct comparison *comparison, const struct route_hop *wanted,
	const struct router_hop *built)
{
	struct router_hop hop = comparison_as_built(wanted);

	if (wanted->kind == ROUTE_GROUP)
		return built->kind == ROUTE_GROUP && is_same_group(comparison, wanted, built);
	return is_same_hop(&hop, built);
}

static void
compare_route(struct comparison *comparison, const struct route *route)
{
	const struct route_hop *wanted = &comparison->routes->hops[route->hop];
	uint64_t value = fib_value(comparison->fib, route);
	char kernel[COMPARISON_TEXT] = "", built[COMPARISON_TEXT] = "";

	comparison->counts->compared++;
	if (value != FIB_NO_ROUTE && is_same(comparison, wanted, &comparison->tables->hops[value]))
		return;
	if (value == FIB_NO_ROUTE)
		comparison->counts->missing++;
	else
		comparison->counts->different++;
	comparison_describe_wanted(comparison, wanted, kernel);
	comparison_describe_built(comparison, value, built);
	comparison_write_line(comparison, route->version, route->prefix, route->length, kernel,
			      built);
}

/* A prefix that the tables have. */
static void
compare_built(void *context, const struct route *built)
{
	struct comparison *comparison = context;
	uint64_t value = 1 + (uint64_t)built->hop;
	char text[COMPARISON_TEXT] = "";

	comparison->counts->lookups += 2;
	if (!fib_agrees(comparison->fib, built)) {
		comparison->counts->wrong_lookups++;
		comparison_describe_built(comparison, value, text);
		comparison_write_line(comparison, built->version, built->prefix, built->length,
				      text, "another answer to its first or last address");
	}
	if (comparison->routes->nb_routes > 0 &&
	    bsearch(built, comparison->routes->list, comparison->routes->nb_routes, sizeof(*built),
		    route_compare) != NULL)
		return;
	comparison->counts->extra++;
	comparison_describe_built(comparison, value, text);
	comparison_write_line(comparison, built->version, built->prefix, built->length, "no route",
			      text);
}

/* Lookup tables without routes, of a VRF that the tables have not. */
static const struct fib no_fib;

/* Return the place of a kernel's table among the tables; where it has none, one that is not used. */
static unsigned int
place_of(const struct router_tables *tables, uint32_t table)
{
	unsigned int place = 0;

	while (place < tables->nb_vrfs && tables->vrfs[place].table != table)
		place++;
	return place;
}

static const struct fib *
fib_at(const struct router_tables *tables, unsigned int place)
{
	return place < tables->nb_vrfs ? &tables->fibs[place] : &no_fib;
}

/* Compare the routes of one table. */
static void
compare_table(struct comparison *comparison, const struct routes *routes, const struct fib *fib,
	      const char *vrf)
{
	comparison->routes = routes;
	comparison->fib = fib;
	comparison->vrf = vrf;
	if (routes->nb_routes > 0)
		qsort(routes->list, routes->nb_routes, sizeof(*routes->list), route_compare);
	for (uint32_t i = 0; i < routes->nb_routes; i++)
		compare_route(comparison, &routes->list[i]);
	fib_walk(fib, compare_built, comparison);
}

void
router_compare(const struct router_tables *tables, const struct routes *routes,
	       const char *const *names, FILE *file, struct router_difference_counts *counts)
{
	struct comparison comparison = {
		.tables = tables, .names = names, .file = file, .counts = counts};
	unsigned int nb = routes->vrfs == NULL ? 1 : routes->nb_vrfs;
	bool is_compared[2 + ROUTES_VRFS_MAX] = {false};
	const struct routes none = {.nb_routes = 0};

	*counts = (struct router_difference_counts){0};
	for (unsigned int i = 0; i < nb; i++) {
		struct routes part = routes_of(routes, i);
		unsigned int at =
			place_of(tables, routes->vrfs == NULL ? 0 : routes->vrfs[i].table);

		is_compared[at] = true;
		compare_table(&comparison, &part, fib_at(tables, at),
			      routes->vrfs == NULL ? "" : routes->vrfs[i].name);
	}
	for (unsigned int i = 0; i < tables->nb_vrfs; i++)
		if (!is_compared[i])
			compare_table(&comparison, &none, &tables->fibs[i], tables->vrfs[i].name);
}

static bool
holds(const struct route *route, const struct router_sample *sample)
{
	if (route->version != sample->version)
		return false;
	for (unsigned int bit = 0; bit < route->length; bit++)
		if ((route->prefix[bit / 8] ^ sample->address[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
}

static uint32_t
table_of(const struct routes *routes, const struct route *route)
{
	return routes->vrfs == NULL ? 0 : routes->vrfs[route->vrf].table;
}

/* The hop of a sample by the kernel's answers, or NULL: none of them is a route that is followed. */
static const struct route_hop *
answered_hop(const struct routes *answers, const struct router_sample *sample)
{
	const struct route *best = NULL;

	for (uint32_t i = 0; i < answers->nb_routes; i++) {
		const struct route *route = &answers->list[i];

		if ((best == NULL || route->length > best->length) && holds(route, sample) &&
		    table_of(answers, route) == sample->table)
			best = route;
	}
	return best == NULL ? NULL : &answers->hops[best->hop];
}

static uint64_t
looked_up(const struct fib *fib, const struct router_sample *sample)
{
	uint32_t number = be32_load(sample->address);
	uint64_t value = FIB_NO_ROUTE;
	uint8_t octets[1][16];

	memcpy(octets[0], sample->address, sizeof(octets[0]));
	if (sample->version == 4)
		fib_lookup_v4(fib, &number, &value, 1);
	else
		fib_lookup_v6(fib, octets, &value, 1);
	return value;
}

/* Return whether a flow may have this next hop by what was built. */
static bool
has_hop(const struct comparison *comparison, const struct route_hop *wanted,
	const struct router_hop *built)
{
	struct router_hop hop = comparison_as_built(wanted);

	/* A neighbour of unknown address is no member, and any other member may be the kernel's. */
	if (wanted->kind != ROUTE_FORWARD || built->kind == ROUTE_KERNEL)
		return true;
	if (built->kind != ROUTE_GROUP)
		return is_same_hop(&hop, built);
	for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
		if (is_same_hop(&hop, &comparison->tables->hops[built->buckets[b]]))
			return true;
	return false;
}

/* Return whether the tables answer as the kernel; text: its answer. */
static bool
is_answered(const struct comparison *comparison, const struct router_sample *sample, uint64_t value,
	    char *text)
{
	const struct router_hop *built = &comparison->tables->hops[value];
	const struct route_hop *wanted;

	switch (sample->answer) {
	case FEED_NO_ROUTE:
		snprintf(text, COMPARISON_TEXT, "no route");
		/* A route "throw" is none for the kernel, to which its packets go. */
		return value == FIB_NO_ROUTE || built->kind == ROUTE_KERNEL;
	case FEED_BLACKHOLE:
		snprintf(text, COMPARISON_TEXT, "dropped");
		return built->kind == ROUTE_BLACKHOLE;
	case FEED_REFUSED:
		snprintf(text, COMPARISON_TEXT, "unreachable");
		return built->kind == ROUTE_KERNEL;
	case FEED_UNASKED:
		return true;
	case FEED_ROUTE:
	case FEED_FLOW:
		break;
	}
	wanted = answered_hop(comparison->routes, sample);
	if (wanted == NULL) {
		snprintf(text, COMPARISON_TEXT, "a route that is not followed");
		return false;
	}
	comparison_describe_wanted(comparison, wanted, text);
	if (value == FIB_NO_ROUTE)
		return false;
	return sample->answer == FEED_FLOW ? has_hop(comparison, wanted, built)
					   : is_same(comparison, wanted, built);
}

void
router_compare_samples(const struct router_tables *tables, const struct router_samples *samples,
		       const struct routes *answers, const char *const *names, FILE *file,
		       struct router_difference_counts *counts)
{
	struct comparison comparison = {.tables = tables,
					.routes = answers,
					.names = names,
					.file = file,
					.counts = counts};

	for (uint32_t i = 0; i < samples->nb; i++) {
		const struct router_sample *sample = &samples->list[i];
		unsigned int at = place_of(tables, sample->table);
		uint64_t value = looked_up(fib_at(tables, at), sample);
		char kernel[COMPARISON_TEXT] = "", built[COMPARISON_TEXT] = "";

		comparison.vrf = at < tables->nb_vrfs ? tables->vrfs[at].name : "?";
		counts->samples += sample->answer != FEED_UNASKED;
		if (is_answered(&comparison, sample, value, kernel))
			continue;
		counts->wrong_samples++;
		comparison_describe_built(&comparison, value, built);
		comparison_write_line(&comparison, sample->version, sample->address,
				      sample->version == 4 ? 32 : 128, kernel, built);
	}
}
