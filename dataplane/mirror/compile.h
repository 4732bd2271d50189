/* SPDX-License-Identifier: Apache-2.0 */
/* Make the routes of a router, as pktlib/routes.h has them, of the state of a kernel. */
#ifndef MIRROR_COMPILE_H
#define MIRROR_COMPILE_H

#include "kernel.h"
#include "pktlib/routes.h"

/* Hops and groups of all routes that were made, so that each keeps its id: a flow keeps its hop of a group
 * whose id stays. */
struct compile_ids {
	struct table known;
	uint32_t turn;
	uint32_t used_in[ROUTES_HOPS_MAX]; /* turn in which the id was last used */
};

/* A neighbour that routes need and whose address the kernel does not know. */
struct compile_wish {
	uint32_t link;
	uint8_t version;
	uint8_t address[16];
};

#define COMPILE_WISHES_MAX 256

struct compile_report {
	uint32_t by_kernel;  /* routes that lead to the kernel: it forwards or answers */
	uint32_t neighbours; /* host routes of neighbours */
	uint32_t over_hops;  /* routes left to the kernel since all ids are in use */
	uint32_t nb_wishes;
	struct compile_wish wishes[COMPILE_WISHES_MAX];
};

void compile_open(struct compile_ids *ids);
void compile_close(struct compile_ids *ids);

/* Make the routes: of each prefix the kernel's best one, shorter prefixes first, and a route for each
 * neighbour on a link. Return false with nothing left: memory is short. */
bool compile(struct kernel *kernel, struct compile_ids *ids, struct routes *routes,
	     struct compile_report *report);

#endif
