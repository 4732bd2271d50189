/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as messages of a kernel, one behind the other: each has some effect or none, and what
 * comes of them are routes whose hops and members are in range, a prefix once. */
#include <stdlib.h>
#include <string.h>
#include <libmnl/libmnl.h>

#include "fuzz_file.h"
#include "mirror/compile.h"

static void
check_routes(const struct routes *routes)
{
	require(routes->nb_hops <= ROUTES_HOPS_MAX);
	for (uint32_t i = 0; i < routes->nb_hops; i++) {
		const struct route_hop *hop = &routes->hops[i];

		require(hop->id < ROUTES_HOPS_MAX && hop->port < KERNEL_LINKS_MAX &&
			hop->vlan <= KERNEL_VLAN_MAX);
		for (uint32_t m = 0; m < hop->nb_members; m++) {
			const struct route_member *member = &routes->members[hop->first_member + m];

			require(hop->first_member + m < routes->nb_members);
			require(member->weight > 0 && member->hop < routes->nb_hops &&
				routes->hops[member->hop].kind == ROUTE_FORWARD);
		}
		require(hop->kind != ROUTE_GROUP || hop->nb_members > 0);
	}
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];

		require(route->hop < routes->nb_hops &&
			route->length <= (route->version == 4 ? 32 : 128));
		require(route->vrf <= ROUTES_VRFS_MAX &&
			(route->vrf == 0 || route->vrf < routes->nb_vrfs));
		for (uint32_t k = 0; k < i; k++)
			require(memcmp(routes->list[k].prefix, route->prefix, 16) != 0 ||
				routes->list[k].version != route->version ||
				routes->list[k].length != route->length ||
				routes->list[k].vrf != route->vrf);
	}
}

/* libmnl takes a length beyond INT_MAX for a negative one; a kernel's message has none. */
static void
apply_all(struct kernel *kernel, const char *octets, size_t size)
{
	const struct nlmsghdr *message = (const void *)octets;
	int left = (int)size;

	for (; mnl_nlmsg_ok(message, left) && message->nlmsg_len <= size;
	     message = mnl_nlmsg_next(message, &left))
		kernel_apply(kernel, message);
}

/* The same messages again: prefixes that change have hops in range. */
static void
check_changes(struct kernel *kernel, struct hop_ids *ids, struct routes *routes,
	      struct compile_report *report)
{
	struct route *list;
	uint32_t nb;

	if (!compile_changes(kernel, ids, routes, report, &list, &nb))
		return;
	for (uint32_t i = 0; i < nb; i++) {
		require(list[i].vrf == 0 || list[i].vrf < routes->nb_vrfs);
		require(list[i].hop == ROUTE_GONE || list[i].hop < routes->nb_hops);
	}
	free(list);
	check_routes(routes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	static const uint32_t indexes[] = {2, 3};
	struct kernel *kernel = malloc(sizeof(*kernel));
	/* Netlink is aligned, and its length is checked against what there is. */
	char *copy = malloc(size + 1);
	struct compile_report report;
	struct hop_ids ids;
	struct routes routes;

	require(kernel != NULL && copy != NULL);
	memcpy(copy, octets, size);
	kernel_open(kernel, indexes, 2);
	hop_ids_open(&ids);
	apply_all(kernel, copy, size);
	require(compile(kernel, &ids, &routes, &report));
	check_routes(&routes);
	kernel_forget_changes(kernel);
	apply_all(kernel, copy, size);
	check_changes(kernel, &ids, &routes, &report);
	routes_free(&routes);
	hop_ids_close(&ids);
	kernel_close(kernel);
	free(kernel);
	free(copy);
	return 0;
}
