/* SPDX-License-Identifier: Apache-2.0 */
/* Make the routes of a router, as pktlib/routes.h has them, of the state of a kernel. */
#ifndef MIRROR_COMPILE_H
#define MIRROR_COMPILE_H

#include "hop_ids.h"
#include "kernel.h"
#include "pktlib/routes.h"

/* A neighbour that routes need and whose address the kernel does not know. */
struct compile_wish {
	uint32_t link;
	uint8_t version, unused[3];
	uint8_t address[16];
};

#define COMPILE_WISHES_MAX 256

struct compile_report {
	uint32_t neighbours; /* host routes of neighbours */
	uint32_t
		over_neighbours; /* without one since there are too many; the kernel forwards to them */
	uint32_t over_hops;      /* routes left to the kernel since all ids are in use */
	bool has_former; /* ids were in use by former routes alone: made again, there is room for more */
	uint32_t nb_wishes;
	struct compile_wish wishes[COMPILE_WISHES_MAX];
};

/* The most host routes of neighbours: the other hops are for gateways and groups. */
#define COMPILE_NEIGHBOURS_MAX 3072

/* Make the routes of main and of the tables of VRFs: of each prefix the kernel's best one, shorter prefixes
 * first, and a route for each neighbour on a link: of too many, the first ones by the index of their interface,
 * the version and the address, those of main before those of VRFs. Return false with nothing left: memory is short. */
bool compile(struct kernel *kernel, struct hop_ids *ids, struct routes *routes,
	     struct compile_report *report);

/* Make the routes of the prefixes and neighbours that have changed since `routes` were made of the same state:
 * *list, of *nb, to be freed, where the hop of a prefix without a route is ROUTE_GONE. Hops that are new are
 * appended to `routes`, those of neighbours with another address have it, and neighbours that are needed are
 * added to the report. Return false with nothing left to free: the changes may concern other prefixes, or
 * memory or ids are short, so that all must be made anew. */
bool compile_changes(struct kernel *kernel, struct hop_ids *ids, struct routes *routes,
		     struct compile_report *report, struct route **list, uint32_t *nb);

#endif
