/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_common.h>
#include <rte_errno.h>

#include "fib.h"
#include "pktlib/bytes.h"

/* One bit of an entry says what the rest is: the number of a hop, or of a table. */
#define TABLES_OF_2_OCTETS 32767u
_Static_assert(ROUTES_HOPS_MAX < TABLES_OF_2_OCTETS, "2 octets hold the number of any hop");
/* rte_fib refuses to take the last one, and rounds. */
#define TABLES_SPARE 64u
#define TABLE_ENTRIES 256u
#define FIRST_ENTRIES (UINT64_C(1) << 24)
/* rte_rib: up to two nodes a prefix, each an object of a mempool, which DPDK spreads over memory channels by
 * an odd number of cache lines, and its place in the ring. */
#define NODES_A_ROUTE 2u
#define NODE_BYTES (192u + 16u)

/* Room for changes: a quarter of what there is, and at least this. */
#define ROUTES_ROOM 4096u
#define TABLES_ROOM 1024u
/* As many as four routes of the public tables take: hardly one of IPv4 is longer than the first 24 bits. */
static const uint32_t tables_a_4_routes[] = {0, 7};
/* The same of small tables, which up to this many routes can have. */
#define ROUTES_ROOM_SMALL 256u
#define SMALL_ROUTES 1024u
/* Of these, one for each beginning and end of a prefix. */
#define START_BYTES 18u

static uint32_t
tables_of(uint8_t version, const struct routes_need *need)
{
	/* rte_fib takes one table for all prefixes that share it. rte_fib6 reserves for each prefix
	 * anew, and takes some only for a moment while it inserts. */
	if (version == 4)
		return need->tables + TABLES_SPARE;
	return RTE_MAX(need->reserved, 2 * need->tables) + TABLES_SPARE;
}

bool
fib_size(const struct routes *routes, uint8_t version, struct fib_room room, struct fib_size *size)
{
	const uint32_t least = room.least[version == 6];
	struct routes_need need;

	*size = (struct fib_size){0};
	if (!routes_need(routes, version, &need))
		return false;
	if (need.routes == 0 && least == 0)
		return true;
	size->routes = need.routes;
	size->tables = tables_of(version, &need);
	if (room.kind != ROOM_NONE) {
		size->routes += size->routes / 4 +
				(room.kind == ROOM_SMALL ? ROUTES_ROOM_SMALL : ROUTES_ROOM);
		size->tables += size->tables / 4 + TABLES_ROOM;
	}
	if (least > 0) {
		const uint32_t tables = least / 4 * tables_a_4_routes[version == 6];

		size->routes = RTE_MAX(size->routes, least + ROUTES_ROOM);
		size->tables = RTE_MAX(size->tables, tables + TABLES_ROOM);
	}
	size->is_small = room.kind == ROOM_SMALL && need.routes <= SMALL_ROUTES;
	size->entry_bytes = size->tables <= TABLES_OF_2_OCTETS ? 2 : 4;
	size->bytes = (uint64_t)size->routes * NODES_A_ROUTE * NODE_BYTES;
	if (size->is_small)
		size->bytes += (uint64_t)size->routes * NODES_A_ROUTE * 2 * START_BYTES;
	else
		size->bytes += (FIRST_ENTRIES + (uint64_t)size->tables * TABLE_ENTRIES) *
			       size->entry_bytes;
	return true;
}

/* A name that no table of this process has: rte_fib wants one of each. */
static void
name_table(char *name, size_t size, uint8_t version)
{
	static unsigned int nb_made;

	snprintf(name, size, "fib%u_%u", __atomic_fetch_add(&nb_made, 1, __ATOMIC_RELAXED),
		 version);
}

static bool
is_canceled(const atomic_bool *cancel)
{
	return cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed);
}

static int
build_v4(struct fib *fib, const struct routes *routes, const struct fib_size *size, int socket_id,
	 const atomic_bool *cancel)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = FIB_NO_ROUTE,
		.max_routes = (int)size->routes + 1,
		.dir24_8 = {.nh_sz = size->entry_bytes == 2 ? RTE_FIB_DIR24_8_2B
							    : RTE_FIB_DIR24_8_4B,
			    .num_tbl8 = size->tables},
	};
	char name[32];

	name_table(name, sizeof(name), 4);
	rte_errno = 0; /* not each of its failures sets it */
	fib->v4 = rte_fib_create(name, socket_id, &conf);
	if (fib->v4 == NULL)
		return rte_errno == 0 ? -ENOMEM : -rte_errno;
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];
		int ret;

		if (route->version != 4)
			continue;
		if (is_canceled(cancel))
			return -ECANCELED;
		ret = rte_fib_add(fib->v4, be32_load(route->prefix), route->length,
				  1 + (uint64_t)route->hop);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
build_v6(struct fib *fib, const struct routes *routes, const struct fib_size *size, int socket_id,
	 const atomic_bool *cancel)
{
	struct rte_fib6_conf conf = {
		.type = RTE_FIB6_TRIE,
		.default_nh = FIB_NO_ROUTE,
		.max_routes = (int)size->routes + 1,
		.trie = {.nh_sz = size->entry_bytes == 2 ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B,
			 .num_tbl8 = size->tables},
	};
	char name[32];

	name_table(name, sizeof(name), 6);
	rte_errno = 0;
	fib->v6 = rte_fib6_create(name, socket_id, &conf);
	if (fib->v6 == NULL)
		return rte_errno == 0 ? -ENOMEM : -rte_errno;
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];
		int ret;

		if (route->version != 6)
			continue;
		if (is_canceled(cancel))
			return -ECANCELED;
		/* The parameter has another type from DPDK 24.11 on. */
		ret = rte_fib6_add(fib->v6, (const void *)route->prefix, route->length,
				   1 + (uint64_t)route->hop);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
build_small(struct fib *fib, uint8_t version, const struct routes *routes,
	    const struct fib_size *size, int socket_id)
{
	struct fib_small *small;
	char name[32];
	int ret = 0;

	name_table(name, sizeof(name), version);
	small = fib_small_make(name, version, size->routes, socket_id);
	if (small == NULL)
		return rte_errno == 0 ? -ENOMEM : -rte_errno;
	fib->small[version == 6] = small;
	for (uint32_t i = 0; ret == 0 && i < routes->nb_routes; i++)
		if (routes->list[i].version == version)
			ret = fib_small_set(small, &routes->list[i],
					    1 + (uint64_t)routes->list[i].hop);
	return ret == 0 ? fib_small_settle(small) : ret;
}

/* Build the tables of a version, if it has routes or room for some. */
static int
build(struct fib *fib, uint8_t version, const struct routes *routes, const struct fib_size *size,
      int socket_id, const atomic_bool *cancel)
{
	if (size->routes == 0)
		return 0;
	if (size->is_small)
		return build_small(fib, version, routes, size, socket_id);
	return version == 4 ? build_v4(fib, routes, size, socket_id, cancel)
			    : build_v6(fib, routes, size, socket_id, cancel);
}

int
fib_build(struct fib *fib, const struct routes *routes, struct fib_room room, int socket_id,
	  const atomic_bool *cancel)
{
	struct fib_size v4, v6;
	int ret = 0;

	*fib = (struct fib){0};
	if (!fib_size(routes, 4, room, &v4) || !fib_size(routes, 6, room, &v6))
		return -ENOMEM;
	ret = build(fib, 4, routes, &v4, socket_id, cancel);
	if (ret == 0)
		ret = build(fib, 6, routes, &v6, socket_id, cancel);
	if (ret != 0)
		fib_free(fib);
	return ret;
}

void
fib_free(struct fib *fib)
{
	rte_fib_free(fib->v4);
	rte_fib6_free(fib->v6);
	fib_small_free(fib->small[0]);
	fib_small_free(fib->small[1]);
	*fib = (struct fib){0};
}

struct rte_rib *
fib_rib_v4(const struct fib *fib)
{
	if (fib->v4 != NULL)
		return rte_fib_get_rib(fib->v4);
	return fib->small[0] == NULL ? NULL : fib->small[0]->v4;
}

struct rte_rib6 *
fib_rib_v6(const struct fib *fib)
{
	if (fib->v6 != NULL)
		return rte_fib6_get_rib(fib->v6);
	return fib->small[1] == NULL ? NULL : fib->small[1]->v6;
}

int
fib_settle(struct fib *fib)
{
	int ret = fib->small[0] == NULL ? 0 : fib_small_settle(fib->small[0]);

	return ret != 0 || fib->small[1] == NULL ? ret : fib_small_settle(fib->small[1]);
}
