/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>

#include "core/config.h"
#include "router_hops.h"
#include "router_tables_change.h"

#define MIB (UINT64_C(1) << 20)

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

static void
count_routes(struct router_tables *tables, const struct routes *routes)
{
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];

		router_tables_count(tables, route, 1);
		tables->nb_by_kernel += routes->hops[route->hop].kind == ROUTE_KERNEL;
	}
}

/* Tables of VRFs are many, and small. */
static struct fib_room
room_of(const struct router_space *space, unsigned int vrf)
{
	struct fib_room room = FIB_ROOM;

	if (!space->has_room)
		return FIB_EXACT;
	memcpy(room.least, space->least, sizeof(room.least));
	return vrf == 0 ? room : FIB_SMALL;
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
		ret = router_hops_make(tables, routes, space);
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
