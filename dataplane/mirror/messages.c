/* SPDX-License-Identifier: Apache-2.0 */
/* From netlink messages to the state that they report. */
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"

#define NEIGHBOUR_VALID \
	(NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

/* A nexthop_grp as of Linux 6.12. Earlier ones have 0 where the high octet of the weight is. */
struct group_member {
	uint32_t id;
	uint8_t weight;
	uint8_t weight_high;
	uint16_t reserved;
};

_Static_assert(sizeof(struct group_member) == sizeof(struct nexthop_grp), "layout of a group");

/* Routes with a source address that is gone end without a message. */
static enum kernel_effect
apply_address(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;

	if (attributes_open(message, sizeof(struct ifaddrmsg), &attributes) == NULL)
		return message_malformed(kernel);
	return message->nlmsg_type == RTM_DELADDR ? KERNEL_DOUBTED : KERNEL_SAME;
}

static enum kernel_effect
apply_neighbour(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct kernel_neighbour_key key = {0};
	struct kernel_neighbour *neighbour;
	struct attributes attributes;
	const struct ndmsg *info = attributes_open(message, sizeof(*info), &attributes);
	uint8_t mac[6];
	bool is_known, is_same;

	if (info == NULL)
		return message_malformed(kernel);
	key.version = attributes_version(info->ndm_family);
	key.link = (uint32_t)info->ndm_ifindex;
	if (key.version == 0 || kernel_link(kernel, key.link) == NULL ||
	    (info->ndm_flags & NTF_PROXY) != 0)
		return KERNEL_SAME;
	if (!attributes_octets(attributes.of[NDA_DST], key.address, key.version == 4 ? 4 : 16))
		return message_malformed(kernel);
	is_known =
		message->nlmsg_type == RTM_NEWNEIGH && (info->ndm_state & NEIGHBOUR_VALID) != 0 &&
		attributes_octets(attributes.of[NDA_LLADDR], mac, sizeof(mac)) && (mac[0] & 1) == 0;
	neighbour = table_find(&kernel->neighbours, &key);
	if (!is_known) {
		if (neighbour == NULL)
			return KERNEL_SAME;
		kernel_note_neighbour(kernel, &key, neighbour);
		table_remove(&kernel->neighbours, neighbour);
		return KERNEL_CHANGED;
	}
	is_same = neighbour != NULL && memcmp(neighbour->mac, mac, sizeof(mac)) == 0;
	if (!is_same)
		kernel_note_neighbour(kernel, &key, neighbour);
	if (neighbour == NULL)
		neighbour = table_put(&kernel->neighbours, &key);
	if (neighbour == NULL)
		return KERNEL_NO_MEMORY;
	memcpy(neighbour->mac, mac, sizeof(mac));
	neighbour->is_stale = (info->ndm_state & NUD_STALE) != 0;
	return is_same ? KERNEL_SAME : KERNEL_CHANGED;
}

/* Groups that are deleted one by one; for more, routes are made whole. */
#define GONE_GROUPS_MAX 4096

/* A group that comes with the same id must not have the hop of this one. */
static void
note_gone_group(struct kernel *kernel, uint32_t id)
{
	if (kernel->gone_groups.count == GONE_GROUPS_MAX ||
	    table_put(&kernel->gone_groups, &id) == NULL)
		kernel->changes.is_all = true;
}

/* Its routes end without a message; groups that it was in have one of their own. */
static enum kernel_effect
delete_nexthop(struct kernel *kernel, struct kernel_nexthop *nexthop)
{
	bool is_used = nexthop->nb_routes > 0;

	if (nexthop->ways == NULL)
		note_gone_group(kernel, nexthop->id);
	kernel_ways_put(kernel, nexthop->ways);
	free(nexthop->members);
	free(nexthop->weights);
	table_remove(&kernel->nexthops, nexthop);
	return is_used ? KERNEL_UNSURE : KERNEL_SAME;
}

static enum kernel_effect
apply_nexthop(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct nhmsg *info = attributes_open(message, sizeof(*info), &attributes);
	const struct nlattr *group;
	struct kernel_way way = {.weight = 1};
	struct kernel_nexthop *nexthop;
	uint32_t id = 0;
	bool to_kernel = false;
	enum kernel_effect effect;

	if (info == NULL || attributes.of[NHA_ID] == NULL ||
	    !attributes_u32(&attributes, NHA_ID, &id))
		return message_malformed(kernel);
	nexthop = table_find(&kernel->nexthops, &id);
	if (message->nlmsg_type == RTM_DELNEXTHOP)
		return nexthop == NULL ? KERNEL_SAME : delete_nexthop(kernel, nexthop);
	way.is_dead = (info->nh_flags & RTNH_F_DEAD) != 0;
	group = attributes.of[NHA_GROUP];
	if (!attributes_u32(&attributes, NHA_OIF, &way.link) ||
	    (group != NULL && mnl_attr_get_payload_len(group) % sizeof(struct nexthop_grp) != 0) ||
	    (attributes_version(info->nh_family) != 0 &&
	     !attributes_gateway(&attributes, NHA_GATEWAY, attributes_version(info->nh_family),
				 &way)))
		return message_malformed(kernel);
	if (attributes.of[NHA_ENCAP_TYPE] != NULL) {
		message_refuse(kernel, message,
			       attributes_encapsulation(attributes.of[NHA_ENCAP_TYPE]));
		to_kernel = true;
	}
	/* No route has a new one yet. */
	effect = nexthop == NULL && table_find(&kernel->gone_groups, &id) == NULL ? KERNEL_SAME
										  : KERNEL_CHANGED;
	if (nexthop == NULL) {
		nexthop = table_put(&kernel->nexthops, &id);
		if (nexthop == NULL)
			return KERNEL_NO_MEMORY;
		nexthop->born = ++kernel->nb_born;
	}
	kernel_ways_put(kernel, nexthop->ways);
	free(nexthop->members);
	free(nexthop->weights);
	nexthop->ways = NULL;
	nexthop->members = NULL;
	nexthop->weights = NULL;
	nexthop->nb_members = 0;
	if (group == NULL) {
		nexthop->ways = kernel_ways_get(kernel, &way, 1, to_kernel,
						attributes.of[NHA_BLACKHOLE] != NULL);
		return nexthop->ways == NULL ? KERNEL_NO_MEMORY : effect;
	}
	nexthop->nb_members = mnl_attr_get_payload_len(group) / sizeof(struct nexthop_grp);
	nexthop->members = calloc(nexthop->nb_members + 1, sizeof(*nexthop->members));
	nexthop->weights = calloc(nexthop->nb_members + 1, sizeof(*nexthop->weights));
	if (nexthop->members == NULL || nexthop->weights == NULL)
		return nexthop->nb_members = 0, KERNEL_NO_MEMORY;
	for (uint32_t i = 0; i < nexthop->nb_members; i++) {
		struct group_member member;
		uint32_t weight;

		memcpy(&member, (const char *)mnl_attr_get_payload(group) + i * sizeof(member),
		       sizeof(member));
		nexthop->members[i] = member.id;
		weight = (uint32_t)member.weight_high << 8 | member.weight;
		nexthop->weights[i] = (uint16_t)(weight < UINT16_MAX ? weight + 1 : UINT16_MAX);
	}
	return effect;
}

static enum kernel_effect
apply(struct kernel *kernel, const struct nlmsghdr *message)
{
	switch (message->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return message_link(kernel, message);
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return apply_address(kernel, message);
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		return apply_neighbour(kernel, message);
	case RTM_NEWRULE:
	case RTM_DELRULE:
		return message_rule(kernel, message);
	case RTM_NEWNEXTHOP:
	case RTM_DELNEXTHOP:
		return apply_nexthop(kernel, message);
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return message_route(kernel, message);
	default:
		return KERNEL_SAME;
	}
}

enum kernel_effect
kernel_apply(struct kernel *kernel, const struct nlmsghdr *message)
{
	uint16_t type = message->nlmsg_type;
	enum kernel_effect effect;

	/* All that a kernel sends is padded, and libmnl reads up to the padding's end. */
	if (message->nlmsg_len % NLMSG_ALIGNTO != 0)
		return message_malformed(kernel);
	effect = apply(kernel, message);
	/* Routes and neighbours are noted one by one. */
	if (effect > KERNEL_DOUBTED ||
	    (effect == KERNEL_CHANGED && type != RTM_NEWROUTE && type != RTM_DELROUTE &&
	     type != RTM_NEWNEIGH && type != RTM_DELNEIGH))
		kernel->changes.is_all = true;
	return effect;
}
