/* SPDX-License-Identifier: Apache-2.0 */
#include "router_links.h"

#include <rte_malloc.h>

#include "mirror/kernel.h"

#define IFF_UP_FLAG 1u /* IFF_UP, whose header does not go with others */

void
router_links_open(struct router_links *links)
{
	links->nb_vlans = 0;
	for (unsigned int i = 0; i < TASK_MAX_OUT; i++) {
		links->macs[i] = ROUTER_DOWN;
		links->fibs[i] = 0;
		links->vlans[i] = NULL;
	}
}

/* Make room for the VLANs of an output. */
static bool
make_vlans(struct router_links *links, uint8_t port, int socket_id)
{
	if (links->vlans[port] == NULL)
		links->vlans[port] = rte_zmalloc_socket("router_vlans",
							ROUTER_VLANS * sizeof(*links->vlans[port]),
							RTE_CACHE_LINE_SIZE, socket_id);
	return links->vlans[port] != NULL;
}

static uint64_t
mac_of(const struct kernel_link *link)
{
	return (link->flags & IFF_UP_FLAG) != 0 ? router_mac(link->mac) : ROUTER_DOWN;
}

/* The place after those of all VRFs has no routes: the kernel gets what is looked up there. */
_Static_assert(KERNEL_NO_PLACE == ROUTES_VRFS_MAX + 1, "the last of router_tables.fibs");
static uint8_t
fib_of(const struct kernel *kernel, const struct kernel_link *link)
{
	return (uint8_t)kernel_place(kernel, link->table);
}

bool
router_links_read(struct router_links *links, const struct kernel *kernel, int socket_id)
{
	const struct kernel_link *link = NULL;

	router_links_open(links);
	for (unsigned int i = 0; i < kernel->nb_links; i++) {
		links->macs[i] = mac_of(&kernel->links[i]);
		links->fibs[i] = fib_of(kernel, &kernel->links[i]);
	}
	while ((link = table_next(&kernel->vlans, link)) != NULL) {
		if (!make_vlans(links, link->port, socket_id))
			return false;
		links->vlans[link->port][link->vlan] = mac_of(link) | (uint64_t)fib_of(kernel, link)
									      << ROUTER_FIB_SHIFT;
		links->nb_vlans++;
	}
	return true;
}

bool
router_links_copy(struct router_links *links, const struct router_links *from, int socket_id)
{
	router_links_open(links);
	memcpy(links->macs, from->macs, sizeof(links->macs));
	memcpy(links->fibs, from->fibs, sizeof(links->fibs));
	links->nb_vlans = from->nb_vlans;
	for (uint8_t port = 0; port < TASK_MAX_OUT; port++) {
		if (from->vlans[port] == NULL)
			continue;
		if (!make_vlans(links, port, socket_id))
			return false;
		memcpy(links->vlans[port], from->vlans[port],
		       ROUTER_VLANS * sizeof(*links->vlans[port]));
	}
	return true;
}

void
router_links_close(struct router_links *links)
{
	for (unsigned int i = 0; i < TASK_MAX_OUT; i++)
		rte_free(links->vlans[i]);
	router_links_open(links);
}
