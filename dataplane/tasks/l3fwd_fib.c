/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "core/config.h"
#include "l3fwd_fib.h"
#include "pktlib/bytes.h"

/* Entries of two octets, one bit of which says what the rest is: half as much to bring near as with
 * four, and room for more neighbours than a router has. */
#define TBL8_MAX 32767u
/* rte_fib reserves more than it takes, and rounds. */
#define TBL8_SPARE 64u

struct shared {
	struct l3fwd_fib fib;
	char *path;
	unsigned int users;
	unsigned int number; /* rte_fib wants names */
	struct shared *next;
};

static struct shared *all;
static unsigned int nb_made;

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

static uint32_t
tbl8s(uint32_t need)
{
	/* An insertion counts what a prefix takes alone, whatever is shared. */
	return 2 * need + TBL8_SPARE;
}

int
l3fwd_fib_check(const struct config_section *section, const char *path, unsigned int nb_out)
{
	const struct routes_complaint complaint = {fault, (void *)(uintptr_t)section};
	struct routes routes;
	uint32_t need;
	int ret = 0;

	if (routes_read(&routes, path, &complaint) > 0)
		return -1;
	for (uint32_t i = 0; i < routes.nb_hops && ret == 0; i++) {
		if (routes.hops[i].port < nb_out)
			continue;
		config_fault(section, "tx", "hop %u of the routes leaves by port %u; there are %u",
			     routes.hops[i].id, routes.hops[i].port, nb_out);
		ret = -1;
	}
	for (uint8_t version = 4; version <= 6; version += 2) {
		routes_count(&routes, version, &need);
		if (tbl8s(need) <= TBL8_MAX)
			continue;
		config_fault(section, "routes",
			     "IPv%u routes longer than 24 bits need %u tables; there are %u",
			     version, tbl8s(need), TBL8_MAX);
		ret = -1;
	}
	routes_free(&routes);
	return ret;
}

static int
add_v4(struct shared *shared, const struct routes *routes, int socket_id)
{
	uint32_t need, nb = routes_count(routes, 4, &need);
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = L3FWD_NO_HOP,
		.max_routes = (int)nb + 1,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = tbl8s(need)},
	};
	char name[32];

	if (nb == 0)
		return 0;
	snprintf(name, sizeof(name), "l3fwd%u_4", shared->number);
	shared->fib.v4 = rte_fib_create(name, socket_id, &conf);
	if (shared->fib.v4 == NULL)
		return -rte_errno;
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];
		int ret;

		if (route->version != 4)
			continue;
		ret = rte_fib_add(shared->fib.v4, be32_load(route->prefix), route->length,
				  1 + (uint64_t)route->hop);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
add_v6(struct shared *shared, const struct routes *routes, int socket_id)
{
	uint32_t need, nb = routes_count(routes, 6, &need);
	struct rte_fib6_conf conf = {
		.type = RTE_FIB6_TRIE,
		.default_nh = L3FWD_NO_HOP,
		.max_routes = (int)nb + 1,
		.trie = {.nh_sz = RTE_FIB6_TRIE_2B, .num_tbl8 = tbl8s(need)},
	};
	char name[32];

	if (nb == 0)
		return 0;
	snprintf(name, sizeof(name), "l3fwd%u_6", shared->number);
	shared->fib.v6 = rte_fib6_create(name, socket_id, &conf);
	if (shared->fib.v6 == NULL)
		return -rte_errno;
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];
		int ret;

		if (route->version != 6)
			continue;
		/* The parameter has another type from DPDK 24.11 on. */
		ret = rte_fib6_add(shared->fib.v6, (const void *)route->prefix, route->length,
				   1 + (uint64_t)route->hop);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
add_hops(struct l3fwd_fib *fib, const struct routes *routes, int socket_id)
{
	fib->hops = rte_zmalloc_socket("l3fwd_hops", (1 + routes->nb_hops) * sizeof(*fib->hops),
				       RTE_CACHE_LINE_SIZE, socket_id);
	if (fib->hops == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < routes->nb_hops; i++) {
		struct l3fwd_hop *hop = &fib->hops[1 + i];

		memcpy(hop->macs, routes->hops[i].target, RTE_ETHER_ADDR_LEN);
		memcpy(hop->macs + RTE_ETHER_ADDR_LEN, routes->hops[i].source, RTE_ETHER_ADDR_LEN);
		hop->port = routes->hops[i].port;
	}
	fib->nb_hops = routes->nb_hops;
	fib->nb_routes = routes->nb_routes;
	return 0;
}

static void
release(struct shared *shared)
{
	rte_fib_free(shared->fib.v4);
	rte_fib6_free(shared->fib.v6);
	rte_free(shared->fib.hops);
	free(shared->path);
	free(shared);
}

static struct shared *
build(const char *path, int socket_id)
{
	const struct routes_complaint complaint = {.say = print};
	struct shared *shared = calloc(1, sizeof(*shared));
	struct routes routes;
	int ret;

	if (shared == NULL || routes_read(&routes, path, &complaint) > 0) {
		free(shared);
		return NULL;
	}
	shared->number = nb_made++;
	shared->path = strdup(path);
	ret = shared->path == NULL ? -ENOMEM : add_hops(&shared->fib, &routes, socket_id);
	if (ret == 0)
		ret = add_v4(shared, &routes, socket_id);
	if (ret == 0)
		ret = add_v6(shared, &routes, socket_id);
	routes_free(&routes);
	if (ret == 0)
		return shared;
	fprintf(stderr,
		"routes: no lookup tables of %s: %s; each of IPv4 and IPv6 takes 32 MiB and more\n",
		path, strerror(-ret));
	release(shared);
	return NULL;
}

const struct l3fwd_fib *
l3fwd_fib_get(const char *path, int socket_id)
{
	struct shared *shared = all;

	while (shared != NULL && strcmp(shared->path, path) != 0)
		shared = shared->next;
	if (shared == NULL) {
		shared = build(path, socket_id);
		if (shared == NULL)
			return NULL;
		shared->next = all;
		all = shared;
	}
	shared->users++;
	return &shared->fib;
}

void
l3fwd_fib_put(const struct l3fwd_fib *fib)
{
	struct shared **link = &all;

	while (&(*link)->fib != fib)
		link = &(*link)->next;
	if (--(*link)->users == 0) {
		struct shared *last = *link;

		*link = last->next;
		release(last);
	}
}
