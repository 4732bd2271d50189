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

/* Make the routes: of each prefix the kernel's best one, shorter prefixes first, and a route for each
 * neighbour on a link. Return false with nothing left: memory is short. */
bool compile(struct kernel *kernel, struct hop_ids *ids, struct routes *routes,
	     struct compile_report *report);

#endif
