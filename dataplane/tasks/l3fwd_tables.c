/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>

#include "core/config.h"
#include "l3fwd_tables.h"

#define MIB (UINT64_C(1) << 20)

struct shared {
	struct l3fwd_tables tables;
	char *path;
	unsigned int users;
	struct shared *next;
};

static struct shared *all;

static void
fault(void *context, const char *text)
{
	config_fault(context, "routes", "%s", text);
}

static void
print(void *context __rte_unused, const char *text)
{
	fprintf(stderr, "routes: %s\n", text);
}

/* Say why a task with this many outputs cannot use a hop of the file. *key: the argument to blame.
 * Return whether there is such a hop. */
static bool
is_unfit(const struct routes *routes, unsigned int nb_out, const char **key, char *text,
	 size_t size)
{
	for (uint32_t i = 0; i < routes->nb_hops; i++) {
		const struct route_hop *hop = &routes->hops[i];

		if (hop->kind != ROUTE_FORWARD || hop->mtu != 0) {
			*key = "routes";
			snprintf(text, size,
				 "hop %u of the routes has a kind or an MTU: a task of type "
				 "router takes it",
				 hop->id);
			return true;
		}
		if (hop->port >= nb_out) {
			*key = "tx";
			snprintf(text, size, "hop %u of the routes leaves by port %u; there are %u",
				 hop->id, hop->port, nb_out);
			return true;
		}
	}
	return false;
}

int
l3fwd_tables_check(const struct config_section *section, const char *path, unsigned int nb_out)
{
	const struct routes_complaint complaint = {fault, (void *)(uintptr_t)section};
	struct routes routes;
	const char *key;
	char text[128];
	int ret = 0;

	if (routes_read(&routes, path, &complaint) > 0)
		return -1;
	if (is_unfit(&routes, nb_out, &key, text, sizeof(text))) {
		config_fault(section, key, "%s", text);
		ret = -1;
	}
	routes_free(&routes);
	return ret;
}

static int
add_hops(struct l3fwd_tables *tables, const struct routes *routes, int socket_id)
{
	tables->hops = rte_zmalloc_socket("l3fwd_hops",
					  (1 + routes->nb_hops) * sizeof(*tables->hops),
					  RTE_CACHE_LINE_SIZE, socket_id);
	if (tables->hops == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < routes->nb_hops; i++) {
		const struct route_hop *from = &routes->hops[i];
		struct l3fwd_hop *hop = &tables->hops[1 + i];

		memcpy(hop->macs, from->target, sizeof(from->target));
		memcpy(hop->macs + sizeof(from->target), from->source, sizeof(from->source));
		hop->port = from->port;
	}
	tables->nb_hops = routes->nb_hops;
	tables->nb_routes = routes->nb_routes;
	return 0;
}

static void
release(struct shared *shared)
{
	fib_free(&shared->tables.fib);
	rte_free(shared->tables.hops);
	free(shared->path);
	free(shared);
}

/* Say why, and how much memory it takes. */
static void
complain(const char *path, const struct routes *routes, int socket_id, int error)
{
	struct fib_size v4, v6;

	fprintf(stderr, "routes: no lookup tables of %s: %s", path, strerror(-error));
	if (fib_size(routes, 4, FIB_EXACT, &v4) && fib_size(routes, 6, FIB_EXACT, &v6))
		fprintf(stderr,
			"; %u IPv4 routes take %" PRIu64 " MiB and %u IPv6 routes %" PRIu64
			" MiB of DPDK's memory on NUMA node %d",
			v4.routes, v4.bytes / MIB, v6.routes, v6.bytes / MIB, socket_id);
	fputs("\n", stderr);
}

/* The file is read again: it may have changed since it was checked. */
static struct shared *
build(const char *path, int socket_id, unsigned int nb_out)
{
	const struct routes_complaint complaint = {.say = print};
	struct shared *shared = calloc(1, sizeof(*shared));
	struct routes routes;
	const char *key;
	char text[128];
	int ret;

	if (shared == NULL || routes_read(&routes, path, &complaint) > 0) {
		free(shared);
		return NULL;
	}
	if (is_unfit(&routes, nb_out, &key, text, sizeof(text))) {
		fprintf(stderr, "routes: %s: %s\n", path, text);
		routes_free(&routes);
		free(shared);
		return NULL;
	}
	shared->path = strdup(path);
	ret = shared->path == NULL ? -ENOMEM : add_hops(&shared->tables, &routes, socket_id);
	if (ret == 0)
		ret = fib_build(&shared->tables.fib, &routes, FIB_EXACT, socket_id, NULL);
	if (ret != 0) {
		complain(path, &routes, socket_id, ret);
		release(shared);
		shared = NULL;
	}
	routes_free(&routes);
	return shared;
}

const struct l3fwd_tables *
l3fwd_tables_get(const char *path, int socket_id, unsigned int nb_out)
{
	struct shared *shared = all;

	while (shared != NULL && strcmp(shared->path, path) != 0)
		shared = shared->next;
	if (shared == NULL) {
		shared = build(path, socket_id, nb_out);
		if (shared == NULL)
			return NULL;
		shared->next = all;
		all = shared;
	}
	shared->users++;
	return &shared->tables;
}

void
l3fwd_tables_put(const struct l3fwd_tables *tables)
{
	struct shared **link = &all;

	while (&(*link)->tables != tables)
		link = &(*link)->next;
	if (--(*link)->users == 0) {
		struct shared *last = *link;

		*link = last->next;
		release(last);
	}
}
