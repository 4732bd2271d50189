/* SPDX-License-Identifier: Apache-2.0 */
#include <rte_rib.h>
#include <rte_rib6.h>

#include "fib.h"
#include "pktlib/bytes.h"

struct walk {
	void (*visit)(void *context, const struct route *route);
	void *context;
};

static void
visit(const struct walk *walk, struct route *route, uint64_t value)
{
	route->hop = (uint16_t)(value - 1);
	walk->visit(walk->context, route);
}

static void
walk_v4(const struct walk *walk, struct rte_rib *rib)
{
	/* That of length 0 is not among those that follow. */
	struct rte_rib_node *node = rte_rib_lookup_exact(rib, 0, 0);

	if (node == NULL)
		node = rte_rib_get_nxt(rib, 0, 0, NULL, RTE_RIB_GET_NXT_ALL);
	while (node != NULL) {
		struct route route = {.version = 4};
		uint64_t value;
		uint32_t address;

		rte_rib_get_ip(node, &address);
		rte_rib_get_depth(node, &route.length);
		rte_rib_get_nh(node, &value);
		be32_store(route.prefix, address);
		visit(walk, &route, value);
		node = rte_rib_get_nxt(rib, 0, 0, route.length == 0 ? NULL : node,
				       RTE_RIB_GET_NXT_ALL);
	}
}

static void
walk_v6(const struct walk *walk, struct rte_rib6 *rib)
{
	static uint8_t zeros[16];
	/* The parameter has another type from DPDK 24.11 on. */
	struct rte_rib6_node *node = rte_rib6_lookup_exact(rib, (void *)zeros, 0);

	if (node == NULL)
		node = rte_rib6_get_nxt(rib, (void *)zeros, 0, NULL, RTE_RIB6_GET_NXT_ALL);
	while (node != NULL) {
		struct route route = {.version = 6};
		uint64_t value;

		rte_rib6_get_ip(node, (void *)route.prefix);
		rte_rib6_get_depth(node, &route.length);
		rte_rib6_get_nh(node, &value);
		visit(walk, &route, value);
		node = rte_rib6_get_nxt(rib, (void *)zeros, 0, route.length == 0 ? NULL : node,
					RTE_RIB6_GET_NXT_ALL);
	}
}

void
fib_walk(const struct fib *fib, void (*visit_one)(void *context, const struct route *route),
	 void *context)
{
	const struct walk walk = {visit_one, context};

	if (fib_rib_v4(fib) != NULL)
		walk_v4(&walk, fib_rib_v4(fib));
	if (fib_rib_v6(fib) != NULL)
		walk_v6(&walk, fib_rib_v6(fib));
}
