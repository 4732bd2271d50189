/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup tables of few routes, in little memory: the addresses at which the answer changes, in order, next to
 * DPDK's tree of prefixes. */
#ifndef WSDP_FIB_SMALL_H
#define WSDP_FIB_SMALL_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_rib.h>
#include <rte_rib6.h>

#include "pktlib/routes.h"

__extension__ typedef unsigned __int128 fib_address;

struct fib_small {
	struct rte_rib *v4; /* this or the other one */
	struct rte_rib6 *v6;
	fib_address *starts; /* the first is 0; up to the next one the answer is the same */
	uint16_t *values;
	uint32_t nb, room;
	bool is_settled; /* lookups answer as the tree does */
};

/* Make tables with room for so much; the answer to any address is 0. NULL: see rte_errno. */
struct fib_small *fib_small_make(const char *name, uint8_t version, uint32_t routes, int socket_id);
void fib_small_free(struct fib_small *small);
/* Set the value of a prefix in the tree; 0: it has none any more. Return 0 or a negative errno. */
int fib_small_set(struct fib_small *small, const struct route *prefix, uint64_t value);
/* Have lookups answer as the tree does. Return 0 or a negative errno. */
int fib_small_settle(struct fib_small *small);

/* small: NULL where there is no route. */
void fib_small_look_up_v4(const struct fib_small *small, const uint32_t *addresses,
			  uint64_t *values, uint16_t n);
void fib_small_look_up_v6(const struct fib_small *small, uint8_t (*addresses)[16], uint64_t *values,
			  uint16_t n);

#endif
