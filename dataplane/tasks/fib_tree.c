/* SPDX-License-Identifier: Apache-2.0 */
#include "fib_tree.h"

#include <rte_errno.h>

#include "pktlib/bytes.h"

static uint64_t
value_v4(const struct rte_rib_node *node)
{
	uint64_t value = 0;

	if (node != NULL)
		rte_rib_get_nh(node, &value);
	return value;
}

static uint64_t
value_v6(const struct rte_rib6_node *node)
{
	uint64_t value = 0;

	if (node != NULL)
		rte_rib6_get_nh(node, &value);
	return value;
}

static struct rte_rib_node *
find_v4(struct rte_rib *tree, const struct route *prefix)
{
	return tree == NULL ? NULL
			    : rte_rib_lookup_exact(tree, be32_load(prefix->prefix), prefix->length);
}

/* The parameter of rte_rib6 has another type from DPDK 24.11 on. */
static void *
octets_of(const struct route *prefix)
{
	return (void *)(uintptr_t)prefix->prefix;
}

static struct rte_rib6_node *
find_v6(struct rte_rib6 *tree, const struct route *prefix)
{
	return tree == NULL ? NULL : rte_rib6_lookup_exact(tree, octets_of(prefix), prefix->length);
}

int
fib_tree_set_v4(struct rte_rib *tree, const struct route *prefix, uint64_t value)
{
	uint32_t address = be32_load(prefix->prefix);
	struct rte_rib_node *node = find_v4(tree, prefix);

	if (value == 0) {
		rte_rib_remove(tree, address, prefix->length);
		return 0;
	}
	if (node == NULL)
		node = rte_rib_insert(tree, address, prefix->length);
	return node == NULL ? -rte_errno : rte_rib_set_nh(node, value);
}

int
fib_tree_set_v6(struct rte_rib6 *tree, const struct route *prefix, uint64_t value)
{
	struct rte_rib6_node *node = find_v6(tree, prefix);

	if (value == 0) {
		rte_rib6_remove(tree, octets_of(prefix), prefix->length);
		return 0;
	}
	if (node == NULL)
		node = rte_rib6_insert(tree, octets_of(prefix), prefix->length);
	return node == NULL ? -rte_errno : rte_rib6_set_nh(node, value);
}

uint64_t
fib_tree_value_v4(struct rte_rib *tree, const struct route *prefix)
{
	return value_v4(find_v4(tree, prefix));
}

uint64_t
fib_tree_value_v6(struct rte_rib6 *tree, const struct route *prefix)
{
	return value_v6(find_v6(tree, prefix));
}

uint64_t
fib_tree_above_v4(struct rte_rib *tree, const struct route *prefix)
{
	return value_v4(rte_rib_lookup_parent(find_v4(tree, prefix)));
}

uint64_t
fib_tree_above_v6(struct rte_rib6 *tree, const struct route *prefix)
{
	return value_v6(rte_rib6_lookup_parent(find_v6(tree, prefix)));
}
