/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup tables (rte_fib and rte_fib6) of routes, as large as these need, or larger: for changes. */
#ifndef WSDP_FIB_H
#define WSDP_FIB_H

#include <stdatomic.h>
#include <stdint.h>
#include <rte_branch_prediction.h>
#include <rte_fib.h>
#include <rte_fib6.h>

#include "fib_small.h"
#include "pktlib/routes.h"

/* A lookup gives 1 + the number of a route's hop; this where there is no route. */
#define FIB_NO_ROUTE 0

/* NULL where there is neither a route nor room for one; `small`, of IPv4 and IPv6, instead of the others where there are few. */
struct fib {
	struct rte_fib *v4;
	struct rte_fib6 *v6;
	struct fib_small *small[2];
};

/* Sizes of the tables of a version. */
struct fib_size {
	uint32_t routes;
	uint32_t tables;      /* of 256 entries, behind the first 24 bits */
	uint32_t entry_bytes; /* 2 or 4; with 2, half as much to bring near */
	bool is_small;        /* without such tables: see fib_small.h */
	uint64_t bytes;       /* of all, with the tree of prefixes that DPDK keeps */
};

/* Room for more routes. least: the fewest IPv4 and IPv6 routes, in all, that there is room for; not of ROOM_SMALL. */
struct fib_room {
	enum {
		ROOM_NONE,
		ROOM_MORE,
		ROOM_SMALL, /* less of it, and little memory for few routes: see fib_small.h */
	} kind;
	uint32_t least[2];
};

#define FIB_EXACT ((struct fib_room){.kind = ROOM_NONE})
#define FIB_ROOM ((struct fib_room){.kind = ROOM_MORE})
#define FIB_SMALL ((struct fib_room){.kind = ROOM_SMALL})

/* Return false if memory is short. */
bool
fib_size(const struct routes *routes, uint8_t version, struct fib_room room, struct fib_size *size);

/* Build both. Return 0, or a negative errno with nothing left: -ECANCELED soon after *cancel, which
 * may be NULL. */
int fib_build(struct fib *fib, const struct routes *routes, struct fib_room room, int socket_id,
	      const atomic_bool *cancel);
void fib_free(struct fib *fib);

/* Return what the tables have for exactly this prefix; FIB_NO_ROUTE: nothing. */
uint64_t fib_value(const struct fib *fib, const struct route *prefix);
/* Set that value, or FIB_NO_ROUTE, in tables that nobody reads meanwhile. Return 0 or a negative errno: -ENOSPC and
 * -ENOMEM with all as before, -EIO where lookups answer otherwise than the tree of prefixes. */
int fib_change(struct fib *fib, const struct route *prefix, uint64_t value);
/* Return whether the first and the last address of a prefix are looked up as the tree of prefixes has them
 * that the tables were made of. */
bool fib_agrees(const struct fib *fib, const struct route *prefix);

/* After changes, and before any lookup: have lookups answer by them. Return as fib_change does. */
int fib_settle(struct fib *fib);
/* Call visit for each prefix that the tables have, in any order; its hop is that of the value. */
void fib_walk(const struct fib *fib, void (*visit)(void *context, const struct route *route),
	      void *context);
/* Return the trees of prefixes, or NULL: there is neither a route nor room for one. */
struct rte_rib *fib_rib_v4(const struct fib *fib);
struct rte_rib6 *fib_rib_v6(const struct fib *fib);

static inline void
fib_lookup_v4(const struct fib *fib, uint32_t *addresses, uint64_t *values, uint16_t n)
{
	if (likely(fib->v4 != NULL))
		rte_fib_lookup_bulk(fib->v4, addresses, values, n);
	else
		fib_small_look_up_v4(fib->small[0], addresses, values, n);
}

static inline void
fib_lookup_v6(const struct fib *fib, uint8_t (*addresses)[16], uint64_t *values, uint16_t n)
{
	if (likely(fib->v6 != NULL))
		/* The parameter has another type from DPDK 24.11 on. */
		rte_fib6_lookup_bulk(fib->v6, (void *)addresses, values, n);
	else
		fib_small_look_up_v6(fib->small[1], addresses, values, n);
}

#endif
