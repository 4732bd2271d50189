/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of prefixes that DPDK keeps next to lookup tables. */
#ifndef WSDP_FIB_TREE_H
#define WSDP_FIB_TREE_H

#include <stdint.h>
#include <rte_rib.h>
#include <rte_rib6.h>

#include "pktlib/routes.h"

/* Set the value of a prefix; 0: it has none any more. Lookup tables stay as they are. Return 0 or a negative errno. */
int fib_tree_set_v4(struct rte_rib *tree, const struct route *prefix, uint64_t value);
int fib_tree_set_v6(struct rte_rib6 *tree, const struct route *prefix, uint64_t value);
/* Return the value of exactly this prefix; 0: none. tree: may be NULL. */
uint64_t fib_tree_value_v4(struct rte_rib *tree, const struct route *prefix);
uint64_t fib_tree_value_v6(struct rte_rib6 *tree, const struct route *prefix);
/* Return the value of the longest prefix that holds this one, which the tree has; 0: none does. */
uint64_t fib_tree_above_v4(struct rte_rib *tree, const struct route *prefix);
uint64_t fib_tree_above_v6(struct rte_rib6 *tree, const struct route *prefix);

#endif
