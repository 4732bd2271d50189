/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

const char *const kernel_refusal_names[KERNEL_REFUSALS] = {
	[KERNEL_RULE] = "refused_rule",
	[KERNEL_TABLE] = "refused_table",
	[KERNEL_MPLS] = "refused_mpls",
	[KERNEL_SEG6] = "refused_seg6",
	[KERNEL_ENCAP] = "refused_encapsulation",
	[KERNEL_MULTICAST] = "refused_multicast",
	[KERNEL_TOS] = "refused_tos",
	[KERNEL_SOURCE] = "refused_source",
	[KERNEL_MTU] = "refused_mtu",
	[KERNEL_WAYS] = "refused_next_hops",
	[KERNEL_MASTER] = "refused_master",
	[KERNEL_VLAN] = "refused_vlan",
	[KERNEL_UPPER] = "refused_interface",
	[KERNEL_VRF] = "refused_vrf",
	[KERNEL_VRF_ROUTE] = "refused_vrf_route",
	[KERNEL_DEFAULTS] = "refused_defaults",
};

const char *const kernel_refusal_texts[KERNEL_REFUSALS] = {
	[KERNEL_RULE] = "policy rules are not followed: the main table decides",
	[KERNEL_TABLE] = "routes of tables other than main, local and those of VRFs are not "
			 "used",
	[KERNEL_MPLS] = "routes with MPLS labels are left to the kernel",
	[KERNEL_SEG6] = "routes with segment routing are left to the kernel",
	[KERNEL_ENCAP] = "routes with an encapsulation are left to the kernel",
	[KERNEL_MULTICAST] = "multicast routes are left to the kernel",
	[KERNEL_TOS] = "routes for a type of service are not used",
	[KERNEL_SOURCE] = "routes for a source prefix are not used",
	[KERNEL_MTU] = "routes with an MTU of their own are left to the kernel",
	[KERNEL_WAYS] = "routes with more than 64 next hops are left to the kernel",
	[KERNEL_MASTER] = "bridges and bonds of interfaces are not followed: the main table "
			  "decides",
	[KERNEL_VLAN] = "VLANs of 802.1ad, VLANs in VLANs and VLAN 0 are left to the kernel",
	[KERNEL_UPPER] = "interfaces on top of a port that are no VLANs are not followed",
	[KERNEL_VRF] = "VRFs beyond 64, and those with the table local, are left to the kernel: ",
	[KERNEL_VRF_ROUTE] = "routes to a VRF itself are left to the kernel; name its interface",
	[KERNEL_DEFAULTS] =
		"of several IPv4 default routes of one metric the first is used, whatever the "
		"kernel has found out about their gateways",
};

void
kernel_open(struct kernel *kernel, const uint32_t *indexes, unsigned int nb)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->nb_links = nb;
	for (unsigned int i = 0; i < nb; i++)
		kernel->links[i] = (struct kernel_link){.index = indexes[i], .port = (uint8_t)i};
	kernel->changes.is_all = true;
	memset(kernel->local_rule, 0xff, sizeof(kernel->local_rule));
	memset(kernel->vrf_rule, 0xff, sizeof(kernel->vrf_rule));
	table_open(&kernel->vlans, sizeof(uint32_t), sizeof(struct kernel_link));
	table_open(&kernel->neighbours, sizeof(struct kernel_neighbour_key),
		   sizeof(struct kernel_neighbour));
	table_open(&kernel->nexthops, sizeof(uint32_t), sizeof(struct kernel_nexthop));
	table_open(&kernel->routes, sizeof(struct kernel_route_key), sizeof(struct kernel_route));
	table_open(&kernel->gone_groups, sizeof(uint32_t), sizeof(uint32_t));
}

void
kernel_close(struct kernel *kernel)
{
	struct kernel_nexthop *nexthop = NULL;

	while ((nexthop = table_next(&kernel->nexthops, nexthop)) != NULL) {
		free(nexthop->members);
		free(nexthop->weights);
	}
	free(kernel->changes.list);
	free(kernel->changes.moved);
	table_close(&kernel->vlans);
	table_close(&kernel->neighbours);
	table_close(&kernel->nexthops);
	table_close(&kernel->routes);
	table_close(&kernel->gone_groups);
	for (unsigned int i = 0; i < KERNEL_CHAINS; i++)
		while (kernel->chains[i] != NULL) {
			struct kernel_ways *gone = kernel->chains[i];

			kernel->chains[i] = gone->next;
			free(gone);
		}
}

void
kernel_forget_routes(struct kernel *kernel)
{
	struct kernel_route *route = NULL;

	while ((route = table_next(&kernel->routes, route)) != NULL)
		kernel_ways_put(kernel, route->ways);
	table_close(&kernel->routes);
	kernel->changes.is_all = true;
}

void
kernel_forget_changes(struct kernel *kernel)
{
	kernel->changes.nb = kernel->changes.nb_moved = 0;
	kernel->changes.is_all = false;
}

/* Keep the rank of a key, in order. */
static void
note_rank(struct kernel *kernel, const struct kernel_route_key *key)
{
	struct kernel_rank *ranks = kernel->ranks;
	unsigned int at = 0, nb = kernel->nb_ranks;

	if (nb > KERNEL_RANKS_MAX)
		return;
	while (at < nb &&
	       (ranks[at].is_local > key->is_local ||
		(ranks[at].is_local == key->is_local && ranks[at].priority < key->priority)))
		at++;
	if (at < nb && ranks[at].is_local == key->is_local && ranks[at].priority == key->priority)
		return;
	kernel->nb_ranks++;
	if (nb == KERNEL_RANKS_MAX)
		return;
	memmove(&ranks[at + 1], &ranks[at], (nb - at) * sizeof(*ranks));
	ranks[at] = (struct kernel_rank){.is_local = key->is_local, .priority = key->priority};
}

void
kernel_note(struct kernel *kernel, const struct kernel_route_key *key)
{
	struct kernel_changes *changes = &kernel->changes;
	struct kernel_prefix *one;

	note_rank(kernel, key);
	/* Each VRF may have the routes of the table local, too. */
	changes->is_all |= key->is_local != 0 && kernel->nb_tables > 0;
	if (changes->is_all)
		return;
	if (changes->list == NULL)
		changes->list = calloc(KERNEL_CHANGES_MAX, sizeof(*changes->list));
	if (changes->list == NULL || changes->nb == KERNEL_CHANGES_MAX) {
		changes->is_all = true;
		return;
	}
	one = &changes->list[changes->nb++];
	one->version = key->version;
	one->length = key->length;
	one->vrf = key->vrf;
	memcpy(one->prefix, key->prefix, sizeof(one->prefix));
}

void
kernel_note_neighbour(struct kernel *kernel, const struct kernel_neighbour_key *key,
		      const struct kernel_neighbour *before)
{
	struct kernel_changes *changes = &kernel->changes;
	struct kernel_moved *one;

	if (changes->is_all)
		return;
	if (changes->moved == NULL)
		changes->moved = calloc(KERNEL_MOVED_MAX, sizeof(*changes->moved));
	/* What it was before the first of several changes counts. */
	for (uint32_t i = 0; changes->moved != NULL && i < changes->nb_moved; i++)
		if (memcmp(&changes->moved[i].key, key, sizeof(*key)) == 0)
			return;
	if (changes->moved == NULL || changes->nb_moved == KERNEL_MOVED_MAX) {
		changes->is_all = true;
		return;
	}
	one = &changes->moved[changes->nb_moved++];
	*one = (struct kernel_moved){.key = *key, .was_known = before != NULL};
	if (before != NULL) {
		memcpy(one->mac, before->mac, sizeof(one->mac));
		one->had_route = before->has_route != 0;
	}
}

const struct kernel_link *
kernel_link(const struct kernel *kernel, uint32_t index)
{
	for (unsigned int i = 0; i < kernel->nb_links; i++)
		if (kernel->links[i].index == index)
			return &kernel->links[i];
	return table_find(&kernel->vlans, &index);
}

unsigned int
kernel_place(const struct kernel *kernel, uint32_t table)
{
	if (table == 0)
		return 0;
	if (table == KERNEL_NO_TABLE)
		return KERNEL_NO_PLACE;
	for (unsigned int place = 1; place <= kernel->nb_tables; place++)
		if (kernel->tables[place] == table)
			return place;
	return KERNEL_NO_PLACE;
}

unsigned int
kernel_place_of_link(const struct kernel *kernel, uint32_t index)
{
	const struct kernel_link *link = kernel_link(kernel, index);

	return link == NULL ? KERNEL_NO_PLACE : kernel_place(kernel, link->table);
}

const struct kernel_vrf *
kernel_vrf(const struct kernel *kernel, uint32_t table)
{
	const struct kernel_vrf *found = NULL;

	for (unsigned int i = 0; i < kernel->nb_vrfs; i++)
		if (kernel->vrfs[i].table == table && (found == NULL || !found->is_up))
			found = &kernel->vrfs[i];
	return found;
}

bool
kernel_is_local_first(const struct kernel *kernel, uint8_t version)
{
	unsigned int family = version == 6;

	return kernel->vrf_rule[family] == UINT32_MAX ||
	       kernel->local_rule[family] < kernel->vrf_rule[family];
}

struct kernel_nexthop *
kernel_object(const struct kernel *kernel, const struct kernel_route *route)
{
	struct kernel_nexthop *object =
		route->nexthop == 0 ? NULL : table_find(&kernel->nexthops, &route->nexthop);

	/* Another one may have its id. */
	return object == NULL || route->born == 0 || route->born == object->born ? object : NULL;
}

const struct kernel_neighbour *
kernel_neighbour(const struct kernel *kernel, uint32_t link, uint8_t version,
		 const uint8_t *address)
{
	struct kernel_neighbour_key key = {.link = link, .version = version};

	memcpy(key.address, address, version == 4 ? 4 : 16);
	return table_find(&kernel->neighbours, &key);
}

static struct kernel_ways **
chain_of(struct kernel *kernel, const struct kernel_way *list, uint16_t nb)
{
	const uint8_t *octets = (const uint8_t *)list;
	uint64_t hash = nb;

	for (size_t i = 0; i < nb * sizeof(*list); i++)
		hash = (hash ^ octets[i]) * UINT64_C(0x100000001b3);
	return &kernel->chains[(hash ^ hash >> 24) % KERNEL_CHAINS];
}

struct kernel_ways *
kernel_ways_get(struct kernel *kernel, const struct kernel_way *list, uint16_t nb, bool to_kernel,
		bool is_blackhole)
{
	struct kernel_ways **chain = chain_of(kernel, list, nb), *ways = *chain;
	size_t octets = nb * sizeof(*list);

	while (ways != NULL &&
	       (ways->nb != nb || ways->to_kernel != to_kernel ||
		ways->is_blackhole != is_blackhole || memcmp(ways->list, list, octets) != 0))
		ways = ways->next;
	if (ways == NULL) {
		ways = calloc(1, sizeof(*ways) + octets);
		if (ways == NULL)
			return NULL;
		ways->nb = nb;
		ways->to_kernel = to_kernel;
		ways->is_blackhole = is_blackhole;
		memcpy(ways->list, list, octets);
		ways->next = *chain;
		*chain = ways;
	}
	ways->users++;
	return ways;
}

void
kernel_ways_put(struct kernel *kernel, struct kernel_ways *ways)
{
	struct kernel_ways **link;

	if (ways == NULL || --ways->users > 0)
		return;
	link = chain_of(kernel, ways->list, ways->nb);
	while (*link != ways)
		link = &(*link)->next;
	*link = ways->next;
	free(ways);
}
