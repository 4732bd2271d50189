/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>

#include "core/config.h"
#include "pktlib/ecmp.h"
#include "router_tables.h"

#define MIB (UINT64_C(1) << 20)
_Static_assert(sizeof(struct router_hop) == RTE_CACHE_LINE_SIZE, "a hop is a cache line");

/* The first sentence of several, from its line on: an error of telemetry is short. */
struct first {
	char *text;
	size_t size;
};

static void
fault(void *context, const char *text)
{
	config_fault(context, "routes", "%s", text);
}

static void
keep_first(void *context, const char *text)
{
	struct first *first = context;
	const char *message = strstr(text, ": "), *line = message;

	if (first->text[0] != '\0' || message == NULL)
		return;
	while (line > text && line[-1] != ':')
		line--;
	snprintf(first->text, first->size, "line %s", line);
}

/* Return a hop that leaves by an output that there is not, or NULL. */
static const struct route_hop *
beyond_outputs(const struct routes *routes, unsigned int nb_out)
{
	for (uint32_t i = 0; i < routes->nb_hops; i++)
		if (routes->hops[i].kind == ROUTE_FORWARD && routes->hops[i].port >= nb_out)
			return &routes->hops[i];
	return NULL;
}

int
router_check(const struct config_section *section, const char *path, unsigned int nb_out)
{
	const struct routes_complaint complaint = {fault, (void *)(uintptr_t)section};
	const struct route_hop *hop;
	struct routes routes;

	if (routes_read(&routes, path, &complaint) > 0)
		return -1;
	hop = beyond_outputs(&routes, nb_out);
	if (hop != NULL)
		config_fault(section, "tx", "hop %u of the routes leaves by port %u; there are %u",
			     hop->id, hop->port, nb_out);
	routes_free(&routes);
	return hop == NULL ? 0 : -1;
}

void
router_tables_free(struct router_tables *tables)
{
	if (tables == NULL)
		return;
	for (unsigned int i = 0; i < ROUTER_FIBS; i++)
		fib_free(&tables->fibs[i]);
	router_links_close(&tables->links);
	rte_free(tables->hops);
	rte_free(tables->buckets);
	free(tables);
}

/* Return the place of a group of this id, or NULL. */
static const struct router_hop *
find_group(const struct router_tables *tables, uint16_t id)
{
	for (uint32_t i = 1; tables != NULL && i <= tables->nb_hops; i++)
		if (tables->hops[i].kind == ROUTE_GROUP && tables->hops[i].id == id)
			return &tables->hops[i];
	return NULL;
}

/* Fill a group's buckets; hops are compared by their ids, which tables of another time have too. */
static void
fill_group(uint16_t *buckets, const struct routes *routes, const struct route_hop *group,
	   const struct router_tables *former)
{
	const struct router_hop *before = find_group(former, group->id);
	uint16_t ids[ECMP_BUCKETS] = {0}, chosen[ECMP_BUCKETS], place_of[ROUTES_HOPS_MAX] = {0};
	struct ecmp_member members[ECMP_MEMBERS_MAX] = {0};

	for (uint32_t i = 0; i < group->nb_members; i++) {
		const struct route_member *member = &routes->members[group->first_member + i];

		members[i].hop = routes->hops[member->hop].id;
		members[i].weight = member->weight;
		place_of[members[i].hop] = 1 + member->hop;
	}
	for (unsigned int b = 0; before != NULL && b < ECMP_BUCKETS; b++)
		ids[b] = former->hops[before->buckets[b]].id;
	ecmp_fill(chosen, members, group->nb_members, before == NULL ? NULL : ids);
	for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
		buckets[b] = place_of[chosen[b]];
}

/* Fill the next place of a hop. */
static void
add_hop(struct router_tables *tables, const struct routes *routes,
	const struct router_tables *former)
{
	const struct route_hop *from = &routes->hops[tables->nb_hops++];
	struct router_hop *hop = &tables->hops[tables->nb_hops];

	memcpy(hop->macs, from->target, sizeof(from->target));
	memcpy(hop->macs + sizeof(from->target), from->source, sizeof(from->source));
	hop->kind = from->kind;
	hop->port = from->port;
	hop->vlan = from->vlan;
	if (from->kind == ROUTE_FORWARD)
		hop->mtu = from->mtu == 0 ? UINT16_MAX : from->mtu;
	hop->untagged_mtu = from->vlan == 0 ? hop->mtu : 0;
	hop->id = from->id;
	if (from->kind == ROUTE_GROUP) {
		uint16_t *buckets = &tables->buckets[tables->nb_groups++ * ECMP_BUCKETS];

		fill_group(buckets, routes, from, former);
		hop->buckets = buckets;
	}
}

/* Groups that changes may add. */
#define GROUPS_ROOM 64

static int
make_hops(struct router_tables *tables, const struct routes *routes,
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

/* Count a route more, or less. */
static void
count(struct router_tables *tables, const struct route *route, int more)
{
	struct router_vrf *vrf = &tables->vrfs[route->vrf];

	*(route->version == 4 ? &tables->nb_v4 : &tables->nb_v6) += (uint32_t)more;
	*(route->version == 4 ? &vrf->nb_v4 : &vrf->nb_v6) += (uint32_t)more;
}

static void
count_routes(struct router_tables *tables, const struct routes *routes)
{
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];

		count(tables, route, 1);
		tables->nb_by_kernel += routes->hops[route->hop].kind == ROUTE_KERNEL;
	}
}

/* Tables of VRFs are many, and small. */
static enum fib_room
room_of(const struct router_space *space, unsigned int vrf)
{
	if (!space->has_room)
		return FIB_EXACT;
	return vrf == 0 ? FIB_ROOM : FIB_SMALL;
}

/* Note which tables there will be, and how large. Return false: memory is short. */
static bool
size_tables(struct router_tables *tables, const struct routes *routes,
	    const struct router_space *space)
{
	tables->nb_vrfs = routes->vrfs == NULL ? 1 : routes->nb_vrfs;
	for (unsigned int i = 0; i < tables->nb_vrfs; i++) {
		struct routes part = routes_of(routes, i);
		struct router_vrf *vrf = &tables->vrfs[i];
		struct fib_size v4, v6;

		if (!fib_size(&part, 4, room_of(space, i), &v4) ||
		    !fib_size(&part, 6, room_of(space, i), &v6))
			return false;
		vrf->bytes = v4.bytes + v6.bytes;
		tables->bytes += vrf->bytes;
		if (routes->vrfs == NULL)
			continue;
		vrf->table = routes->vrfs[i].table;
		memcpy(vrf->name, routes->vrfs[i].name, sizeof(vrf->name));
	}
	return true;
}

static int
build_tables(struct router_tables *tables, const struct routes *routes,
	     const struct router_space *space, const atomic_bool *cancel)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < tables->nb_vrfs; i++) {
		struct routes part = routes_of(routes, i);

		ret = fib_build(&tables->fibs[i], &part, room_of(space, i), space->socket_id,
				cancel);
	}
	return ret;
}

struct router_tables *
router_tables_make(const struct router_space *space, const struct routes *routes,
		   const atomic_bool *cancel, char *error, size_t size)
{
	struct router_tables *tables = calloc(1, sizeof(*tables));
	int ret = -ENOMEM;

	if (tables != NULL)
		router_links_open(&tables->links);
	if (tables != NULL && size_tables(tables, routes, space)) {
		count_routes(tables, routes);
		ret = make_hops(tables, routes, space);
	}
	if (ret == 0)
		ret = build_tables(tables, routes, space, cancel);
	if (ret == 0)
		return tables;
	if (tables == NULL || tables->bytes == 0)
		snprintf(error, size, "no tables: %s", strerror(-ret));
	else
		snprintf(error, size,
			 "no tables: %s; %u IPv4 and %u IPv6 routes take %" PRIu64
			 " MiB on node %d",
			 strerror(-ret), tables->nb_v4, tables->nb_v6, tables->bytes / MIB,
			 space->socket_id);
	router_tables_free(tables);
	return NULL;
}

static int
change(struct router_tables *tables, const struct route *route)
{
	struct fib *fib = &tables->fibs[route->vrf];
	uint64_t before = fib_value(fib, route);
	uint64_t after = route->hop == ROUTE_GONE ? FIB_NO_ROUTE : 1 + (uint64_t)route->hop;
	int ret = fib_change(fib, route, after);

	/* The first hop is none, and of another kind. */
	tables->nb_by_kernel += tables->hops[after].kind == ROUTE_KERNEL;
	tables->nb_by_kernel -= tables->hops[before].kind == ROUTE_KERNEL;
	count(tables, route, (after != FIB_NO_ROUTE) - (before != FIB_NO_ROUTE));
	return ret;
}

int
router_tables_change(struct router_tables *tables, const struct routes *routes,
		     const struct route *changes, uint32_t nb)
{
	bool is_changed[1 + ROUTES_VRFS_MAX] = {false};
	int ret = 0;

	/* Neighbours may have another address. */
	for (uint32_t i = 0; i < tables->nb_hops; i++)
		memcpy(tables->hops[1 + i].macs, routes->hops[i].target,
		       sizeof(routes->hops[i].target));
	while (tables->nb_hops < routes->nb_hops) {
		if (tables->nb_hops == tables->room_hops)
			return -ENOSPC;
		if (routes->hops[tables->nb_hops].kind == ROUTE_GROUP &&
		    tables->nb_groups == tables->room_groups)
			return -ENOSPC;
		/* Other tables have no group of its id. */
		add_hop(tables, routes, NULL);
	}
	for (uint32_t i = 0; ret == 0 && i < nb; i++) {
		ret = change(tables, &changes[i]);
		is_changed[changes[i].vrf] = true;
	}
	for (unsigned int i = 0; ret == 0 && i < tables->nb_vrfs; i++)
		if (is_changed[i])
			ret = fib_settle(&tables->fibs[i]);
	return ret;
}

struct router_tables *
router_tables_build(const struct router_space *space, const char *path, const atomic_bool *cancel,
		    char *error, size_t size)
{
	struct first first = {error, size};
	const struct routes_complaint complaint = {keep_first, &first};
	struct router_tables *tables = NULL;
	const struct route_hop *hop;
	struct routes routes;

	error[0] = '\0';
	if (routes_read(&routes, path, &complaint) > 0)
		return NULL;
	hop = beyond_outputs(&routes, space->nb_out);
	if (hop != NULL)
		snprintf(error, size, "hop %u leaves by port %u; there are %u", hop->id, hop->port,
			 space->nb_out);
	else
		tables = router_tables_make(space, &routes, cancel, error, size);
	routes_free(&routes);
	return tables;
}
