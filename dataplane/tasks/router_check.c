/* SPDX-License-Identifier: Apache-2.0 */
#include "router_check.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <rte_rib.h>
#include <rte_rib6.h>

#include "pktlib/bytes.h"
#include "pktlib/ecmp.h"

#define LINES_MAX 10000
#define TEXT_BYTES 256
#define WAY_BYTES 64 /* of a next hop's text, with its separator */

struct comparison {
	const struct router_tables *tables;
	const struct routes *routes;
	const struct route *sorted;
	const char *const *names;
	FILE *file;
	uint32_t lines;
	struct router_difference_counts *counts;
};

/* A hop of routes as the tables have hops. */
static struct router_hop
as_built(const struct route_hop *from)
{
	struct router_hop hop = {.kind = from->kind, .port = from->port, .vlan = from->vlan};

	memcpy(hop.macs, from->target, sizeof(from->target));
	memcpy(hop.macs + sizeof(from->target), from->source, sizeof(from->source));
	if (from->kind == ROUTE_FORWARD)
		hop.mtu = from->mtu == 0 ? UINT16_MAX : from->mtu;
	return hop;
}

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
			struct router_hop wanted = as_built(&routes->hops[member->hop]);
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
	struct router_hop hop = as_built(wanted);

	if (wanted->kind == ROUTE_GROUP)
		return built->kind == ROUTE_GROUP && is_same_group(comparison, wanted, built);
	return is_same_hop(&hop, built);
}

/* Write "by INTERFACE to MAC", with the VLAN where there is one. Return its length, cut or not. */
static size_t
describe_way(const struct comparison *comparison, uint8_t port, uint16_t vlan, const uint8_t *mac,
	     char *text, size_t size)
{
	char tag[24] = "";

	if (vlan != 0)
		snprintf(tag, sizeof(tag), " with VLAN %u", vlan);
	return (size_t)snprintf(text, size, "by %s%s to %02x:%02x:%02x:%02x:%02x:%02x",
				comparison->names[port], tag, mac[0], mac[1], mac[2], mac[3],
				mac[4], mac[5]);
}

static void
describe_hop(const struct comparison *comparison, const struct router_hop *hop, char *text)
{
	static const char *const kinds[] = {
		[ROUTE_GROUP] = "several next hops",
		[ROUTE_BLACKHOLE] = "dropped",
		[ROUTE_LOCAL] = "to the router itself",
		[ROUTE_NEIGHBOUR] = "to a neighbour of unknown address",
		[ROUTE_KERNEL] = "by the kernel",
	};
	size_t at;

	if (hop->kind != ROUTE_FORWARD) {
		snprintf(text, TEXT_BYTES, "%s", kinds[hop->kind]);
		return;
	}
	at = describe_way(comparison, hop->port, hop->vlan, hop->macs, text, TEXT_BYTES);
	snprintf(text + at, TEXT_BYTES - at, ", MTU %u", hop->mtu);
}

/* The members of a group, as many as there is room for. */
static void
describe_members(const struct comparison *comparison, const struct router_hop *group, char *text)
{
	uint16_t named[ECMP_MEMBERS_MAX];
	unsigned int nb = 0;
	size_t at = 0;

	for (unsigned int b = 0; b < ECMP_BUCKETS && nb < ECMP_MEMBERS_MAX; b++) {
		const struct router_hop *hop;
		unsigned int i = 0;

		while (i < nb && named[i] != group->buckets[b])
			i++;
		if (i < nb)
			continue;
		named[nb++] = group->buckets[b];
		hop = &comparison->tables->hops[group->buckets[b]];
		if (hop->kind != ROUTE_FORWARD || at + WAY_BYTES > TEXT_BYTES)
			continue;
		if (at > 0)
			at += (size_t)snprintf(text + at, TEXT_BYTES - at, "; ");
		at += describe_way(comparison, hop->port, hop->vlan, hop->macs, text + at,
				   TEXT_BYTES - at);
	}
}

static void
describe_built(const struct comparison *comparison, uint64_t value, char *text)
{
	const struct router_hop *hop = &comparison->tables->hops[value];

	if (value == FIB_NO_ROUTE)
		snprintf(text, TEXT_BYTES, "no route");
	else if (hop->kind == ROUTE_GROUP)
		describe_members(comparison, hop, text);
	else
		describe_hop(comparison, hop, text);
}

static void
describe_wanted(const struct comparison *comparison, const struct route_hop *wanted, char *text)
{
	const struct routes *routes = comparison->routes;
	size_t at = 0;

	if (wanted->kind != ROUTE_GROUP) {
		struct router_hop hop = as_built(wanted);

		describe_hop(comparison, &hop, text);
		return;
	}
	for (uint32_t i = 0; i < wanted->nb_members && at + WAY_BYTES <= TEXT_BYTES; i++) {
		const struct route_hop *hop =
			&routes->hops[routes->members[wanted->first_member + i].hop];

		if (at > 0)
			at += (size_t)snprintf(text + at, TEXT_BYTES - at, "; ");
		at += describe_way(comparison, hop->port, hop->vlan, hop->target, text + at,
				   TEXT_BYTES - at);
	}
}

static void
write_line(struct comparison *comparison, uint8_t version, const uint8_t *prefix, uint8_t length,
	   const char *kernel, const char *tables)
{
	char address[INET6_ADDRSTRLEN];

	if (comparison->lines++ >= LINES_MAX)
		return;
	inet_ntop(version == 4 ? AF_INET : AF_INET6, prefix, address, sizeof(address));
	fprintf(comparison->file, "{\"prefix\": \"%s/%u\", \"kernel\": \"%s\", \"fib\": \"%s\"}\n",
		address, length, kernel, tables);
}

static void
compare_route(struct comparison *comparison, const struct route *route)
{
	const struct route_hop *wanted = &comparison->routes->hops[route->hop];
	uint64_t value = fib_value(&comparison->tables->fib, route);
	char kernel[TEXT_BYTES] = "", built[TEXT_BYTES] = "";

	comparison->counts->compared++;
	if (value != FIB_NO_ROUTE && is_same(comparison, wanted, &comparison->tables->hops[value]))
		return;
	if (value == FIB_NO_ROUTE)
		comparison->counts->missing++;
	else
		comparison->counts->different++;
	describe_wanted(comparison, wanted, kernel);
	describe_built(comparison, value, built);
	write_line(comparison, route->version, route->prefix, route->length, kernel, built);
}

/* A prefix that the tables have. */
static void
compare_built(struct comparison *comparison, const struct route *built, uint64_t value)
{
	char text[TEXT_BYTES] = "";

	comparison->counts->lookups += 2;
	if (!fib_agrees(&comparison->tables->fib, built)) {
		comparison->counts->wrong_lookups++;
		describe_built(comparison, value, text);
		write_line(comparison, built->version, built->prefix, built->length, text,
			   "another answer to its first or last address");
	}
	if (bsearch(built, comparison->sorted, comparison->routes->nb_routes, sizeof(*built),
		    route_compare) != NULL)
		return;
	comparison->counts->extra++;
	describe_built(comparison, value, text);
	write_line(comparison, built->version, built->prefix, built->length, "no route", text);
}

static void
compare_built_v4(struct comparison *comparison)
{
	struct rte_rib *rib = rte_fib_get_rib(comparison->tables->fib.v4);
	struct rte_rib_node *node = rte_rib_lookup_exact(rib, 0, 0);

	if (node == NULL)
		node = rte_rib_get_nxt(rib, 0, 0, NULL, RTE_RIB_GET_NXT_ALL);
	while (node != NULL) {
		struct route built = {.version = 4};
		uint64_t value;
		uint32_t ip;

		rte_rib_get_ip(node, &ip);
		rte_rib_get_depth(node, &built.length);
		rte_rib_get_nh(node, &value);
		be32_store(built.prefix, ip);
		compare_built(comparison, &built, value);
		node = rte_rib_get_nxt(rib, 0, 0, built.length == 0 ? NULL : node,
				       RTE_RIB_GET_NXT_ALL);
	}
}

static void
compare_built_v6(struct comparison *comparison)
{
	static uint8_t zeros[16];
	struct rte_rib6 *rib = rte_fib6_get_rib(comparison->tables->fib.v6);
	struct rte_rib6_node *node = rte_rib6_lookup_exact(rib, (void *)zeros, 0);

	if (node == NULL)
		node = rte_rib6_get_nxt(rib, (void *)zeros, 0, NULL, RTE_RIB6_GET_NXT_ALL);
	while (node != NULL) {
		struct route built = {.version = 6};
		uint64_t value;

		rte_rib6_get_ip(node, (void *)built.prefix);
		rte_rib6_get_depth(node, &built.length);
		rte_rib6_get_nh(node, &value);
		compare_built(comparison, &built, value);
		node = rte_rib6_get_nxt(rib, (void *)zeros, 0, built.length == 0 ? NULL : node,
					RTE_RIB6_GET_NXT_ALL);
	}
}

void
router_compare(const struct router_tables *tables, const struct routes *routes,
	       const char *const *names, FILE *file, struct router_difference_counts *counts)
{
	struct comparison comparison = {.tables = tables,
					.routes = routes,
					.sorted = routes->list,
					.names = names,
					.file = file,
					.counts = counts};

	*counts = (struct router_difference_counts){0};
	if (routes->nb_routes > 0)
		qsort(routes->list, routes->nb_routes, sizeof(*routes->list), route_compare);
	for (uint32_t i = 0; i < routes->nb_routes; i++)
		compare_route(&comparison, &routes->list[i]);
	if (tables->fib.v4 != NULL)
		compare_built_v4(&comparison);
	if (tables->fib.v6 != NULL)
		compare_built_v6(&comparison);
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

/* The hop of a sample by the kernel's answers, or NULL: none of them is a route that is followed. */
static const struct route_hop *
answered_hop(const struct routes *answers, const struct router_sample *sample)
{
	const struct route *best = NULL;

	for (uint32_t i = 0; i < answers->nb_routes; i++) {
		const struct route *route = &answers->list[i];

		if ((best == NULL || route->length > best->length) && holds(route, sample))
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

/* Return whether the tables answer as the kernel; text: its answer. */
static bool
is_answered(const struct comparison *comparison, const struct router_sample *sample, uint64_t value,
	    char *text)
{
	const struct router_hop *built = &comparison->tables->hops[value];
	const struct route_hop *wanted;

	switch (sample->answer) {
	case FEED_NO_ROUTE:
		snprintf(text, TEXT_BYTES, "no route");
		/* A route "throw" is none for the kernel, to which its packets go. */
		return value == FIB_NO_ROUTE || built->kind == ROUTE_KERNEL;
	case FEED_BLACKHOLE:
		snprintf(text, TEXT_BYTES, "dropped");
		return built->kind == ROUTE_BLACKHOLE;
	case FEED_REFUSED:
		snprintf(text, TEXT_BYTES, "unreachable");
		return built->kind == ROUTE_KERNEL;
	case FEED_ROUTE:
		break;
	}
	wanted = answered_hop(comparison->routes, sample);
	if (wanted == NULL) {
		snprintf(text, TEXT_BYTES, "a route that is not followed");
		return false;
	}
	describe_wanted(comparison, wanted, text);
	return value != FIB_NO_ROUTE && is_same(comparison, wanted, built);
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
		uint64_t value = looked_up(&tables->fib, sample);
		char kernel[TEXT_BYTES] = "", built[TEXT_BYTES] = "";

		counts->samples++;
		if (is_answered(&comparison, sample, value, kernel))
			continue;
		counts->wrong_samples++;
		describe_built(&comparison, value, built);
		write_line(&comparison, sample->version, sample->address,
			   sample->version == 4 ? 32 : 128, kernel, built);
	}
}
