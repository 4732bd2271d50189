/* SPDX-License-Identifier: Apache-2.0 */
/* From netlink messages to the state that they report. */
#include <linux/fib_rules.h>
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <libmnl/libmnl.h>

#include "kernel.h"

#define ATTRIBUTES_MAX 64
#define LINK_FLAGS (IFF_UP | IFF_RUNNING | 0x10000 /* IFF_LOWER_UP */)
#define NEIGHBOUR_VALID \
	(NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

/* Priorities of the rules that each namespace has. */
enum { RULE_LOCAL = 0, RULE_MAIN = 32766, RULE_DEFAULT = 32767 };

struct attributes {
	const struct nlattr *of[ATTRIBUTES_MAX];
};

static int
keep(const struct nlattr *attribute, void *data)
{
	struct attributes *attributes = data;
	uint16_t type = mnl_attr_get_type(attribute);

	if (type < ATTRIBUTES_MAX)
		attributes->of[type] = attribute;
	return MNL_CB_OK;
}

/* Return the message's header of this size, or NULL: it is too short. */
static const void *
open_message(const struct nlmsghdr *message, size_t size, struct attributes *attributes)
{
	memset(attributes, 0, sizeof(*attributes));
	if (mnl_nlmsg_get_payload_len(message) < size)
		return NULL;
	mnl_attr_parse(message, (unsigned int)size, keep, attributes);
	return mnl_nlmsg_get_payload(message);
}

/* Read an attribute of 4 octets, if it is there. Return false: it has another size. */
static bool
read_u32(const struct attributes *attributes, unsigned int type, uint32_t *value)
{
	const struct nlattr *attribute = attributes->of[type];

	if (attribute == NULL)
		return true;
	if (mnl_attr_get_payload_len(attribute) != sizeof(*value))
		return false;
	memcpy(value, mnl_attr_get_payload(attribute), sizeof(*value));
	return true;
}

static bool
read_octets(const struct nlattr *attribute, void *octets, size_t size)
{
	if (attribute == NULL || mnl_attr_get_payload_len(attribute) != size)
		return false;
	memcpy(octets, mnl_attr_get_payload(attribute), size);
	return true;
}

static uint8_t
version_of(uint8_t family)
{
	return family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0;
}

static enum kernel_effect
malformed(struct kernel *kernel)
{
	kernel->malformed++;
	return KERNEL_SAME;
}

static enum kernel_effect
refuse(struct kernel *kernel, const struct nlmsghdr *message, enum kernel_refusal refusal)
{
	bool is_new = message->nlmsg_type == RTM_NEWROUTE || message->nlmsg_type == RTM_NEWRULE ||
		      message->nlmsg_type == RTM_NEWNEXTHOP;

	kernel->refused[refusal] += is_new;
	return KERNEL_SAME;
}

static enum kernel_effect
apply_link(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct ifinfomsg *info = open_message(message, sizeof(*info), &attributes);
	struct kernel_link now, *link;
	enum kernel_effect effect;
	uint8_t number;

	if (info == NULL)
		return malformed(kernel);
	number = kernel_link(kernel, (uint32_t)info->ifi_index);
	if (info->ifi_family != AF_UNSPEC || number == KERNEL_NO_LINK)
		return KERNEL_SAME;
	link = &kernel->links[number];
	now = (struct kernel_link){.index = link->index};
	if (message->nlmsg_type == RTM_NEWLINK) {
		now.flags = info->ifi_flags & LINK_FLAGS;
		if (!read_octets(attributes.of[IFLA_ADDRESS], now.mac, sizeof(now.mac)) ||
		    !read_u32(&attributes, IFLA_MTU, &now.mtu))
			return malformed(kernel);
	}
	if (memcmp(link, &now, sizeof(now)) == 0)
		return KERNEL_SAME;
	/* Routes by a link that goes down end without a message, and those that come back, too. */
	effect = now.flags == link->flags ? KERNEL_CHANGED : KERNEL_UNSURE;
	*link = now;
	return effect;
}

/* Routes with a source address that is gone end without a message. */
static enum kernel_effect
apply_address(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;

	if (open_message(message, sizeof(struct ifaddrmsg), &attributes) == NULL)
		return malformed(kernel);
	return message->nlmsg_type == RTM_DELADDR ? KERNEL_UNSURE : KERNEL_SAME;
}

static enum kernel_effect
apply_neighbour(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct kernel_neighbour_key key = {0};
	struct kernel_neighbour *neighbour;
	struct attributes attributes;
	const struct ndmsg *info = open_message(message, sizeof(*info), &attributes);
	uint8_t mac[6];
	bool is_known, is_same;

	if (info == NULL)
		return malformed(kernel);
	key.version = version_of(info->ndm_family);
	key.link = (uint32_t)info->ndm_ifindex;
	if (key.version == 0 || kernel_link(kernel, key.link) == KERNEL_NO_LINK ||
	    (info->ndm_flags & NTF_PROXY) != 0)
		return KERNEL_SAME;
	if (!read_octets(attributes.of[NDA_DST], key.address, key.version == 4 ? 4 : 16))
		return malformed(kernel);
	is_known = message->nlmsg_type == RTM_NEWNEIGH &&
		   (info->ndm_state & NEIGHBOUR_VALID) != 0 &&
		   read_octets(attributes.of[NDA_LLADDR], mac, sizeof(mac)) && (mac[0] & 1) == 0;
	neighbour = table_find(&kernel->neighbours, &key);
	if (!is_known) {
		if (neighbour == NULL)
			return KERNEL_SAME;
		table_remove(&kernel->neighbours, neighbour);
		return KERNEL_CHANGED;
	}
	is_same = neighbour != NULL && memcmp(neighbour->mac, mac, sizeof(mac)) == 0;
	if (neighbour == NULL)
		neighbour = table_put(&kernel->neighbours, &key);
	if (neighbour == NULL)
		return KERNEL_NO_MEMORY;
	memcpy(neighbour->mac, mac, sizeof(mac));
	neighbour->is_stale = (info->ndm_state & NUD_STALE) != 0;
	return is_same ? KERNEL_SAME : KERNEL_CHANGED;
}

/* Only those that every kernel has are expected: local, main, default. */
static enum kernel_effect
apply_rule(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct fib_rule_hdr *rule = open_message(message, sizeof(*rule), &attributes);
	uint32_t priority = 0;

	if (rule == NULL || !read_u32(&attributes, FRA_PRIORITY, &priority))
		return malformed(kernel);
	/* A VRF's own rule concerns its interfaces alone. */
	if (version_of(rule->family) == 0 || priority == RULE_LOCAL || priority == RULE_MAIN ||
	    priority == RULE_DEFAULT || attributes.of[FRA_L3MDEV] != NULL)
		return KERNEL_SAME;
	return refuse(kernel, message, KERNEL_RULE);
}

static enum kernel_refusal
encapsulation(const struct nlattr *type)
{
	uint16_t is = mnl_attr_get_payload_len(type) == sizeof(is) ? mnl_attr_get_u16(type) : 0;

	if (is == LWTUNNEL_ENCAP_MPLS)
		return KERNEL_MPLS;
	return is == LWTUNNEL_ENCAP_SEG6 || is == LWTUNNEL_ENCAP_SEG6_LOCAL ? KERNEL_SEG6
									    : KERNEL_ENCAP;
}

/* RTA_VIA: a gateway of another family than the route. */
static bool
read_via(const struct nlattr *via, struct kernel_way *way)
{
	const struct rtvia *of = mnl_attr_get_payload(via);
	size_t length = mnl_attr_get_payload_len(via), size;

	if (length < sizeof(of->rtvia_family))
		return false;
	way->version = version_of((uint8_t)of->rtvia_family);
	size = way->version == 4 ? 4 : 16;
	if (way->version == 0 || length != offsetof(struct rtvia, rtvia_addr) + size)
		return false;
	memcpy(way->gateway, of->rtvia_addr, size);
	return true;
}

/* Read the gateway, where there is one. */
static bool
read_gateway(const struct attributes *attributes, unsigned int type, uint8_t version,
	     struct kernel_way *way)
{
	static const uint8_t none[16];

	if (attributes->of[type] == NULL)
		return true;
	if (!read_octets(attributes->of[type], way->gateway, version == 4 ? 4 : 16))
		return false;
	if (memcmp(way->gateway, none, sizeof(none)) != 0)
		way->version = version;
	return true;
}

static enum kernel_effect
apply_nexthop(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct nhmsg *info = open_message(message, sizeof(*info), &attributes);
	const struct nlattr *group;
	struct kernel_way way = {.weight = 1};
	struct kernel_nexthop *nexthop;
	uint32_t id = 0;
	bool to_kernel = false;

	if (info == NULL || attributes.of[NHA_ID] == NULL || !read_u32(&attributes, NHA_ID, &id))
		return malformed(kernel);
	nexthop = table_find(&kernel->nexthops, &id);
	if (message->nlmsg_type == RTM_DELNEXTHOP) {
		if (nexthop == NULL)
			return KERNEL_SAME;
		kernel_ways_put(kernel, nexthop->ways);
		free(nexthop->members);
		free(nexthop->weights);
		table_remove(&kernel->nexthops, nexthop);
		/* Its routes end without a message. */
		return KERNEL_UNSURE;
	}
	way.is_dead = (info->nh_flags & RTNH_F_DEAD) != 0;
	group = attributes.of[NHA_GROUP];
	if (!read_u32(&attributes, NHA_OIF, &way.link) ||
	    (group != NULL && mnl_attr_get_payload_len(group) % sizeof(struct nexthop_grp) != 0) ||
	    (version_of(info->nh_family) != 0 &&
	     !read_gateway(&attributes, NHA_GATEWAY, version_of(info->nh_family), &way)))
		return malformed(kernel);
	if (attributes.of[NHA_ENCAP_TYPE] != NULL) {
		refuse(kernel, message, encapsulation(attributes.of[NHA_ENCAP_TYPE]));
		to_kernel = true;
	}
	if (nexthop == NULL)
		nexthop = table_put(&kernel->nexthops, &id);
	if (nexthop == NULL)
		return KERNEL_NO_MEMORY;
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
		return nexthop->ways == NULL ? KERNEL_NO_MEMORY : KERNEL_CHANGED;
	}
	nexthop->nb_members = mnl_attr_get_payload_len(group) / sizeof(struct nexthop_grp);
	nexthop->members = calloc(nexthop->nb_members + 1, sizeof(*nexthop->members));
	nexthop->weights = calloc(nexthop->nb_members + 1, sizeof(*nexthop->weights));
	if (nexthop->members == NULL || nexthop->weights == NULL)
		return nexthop->nb_members = 0, KERNEL_NO_MEMORY;
	for (uint32_t i = 0; i < nexthop->nb_members; i++) {
		struct nexthop_grp member;

		memcpy(&member, (const char *)mnl_attr_get_payload(group) + i * sizeof(member),
		       sizeof(member));
		nexthop->members[i] = member.id;
		nexthop->weights[i] = (uint16_t)(member.weight + 1);
	}
	return KERNEL_CHANGED;
}

/* A route's next hops, as they are read. */
struct reading {
	uint8_t version;
	uint16_t nb;
	bool to_kernel;
	struct kernel_way ways[KERNEL_WAYS_MAX];
};

static bool
read_way(const struct attributes *attributes, struct reading *reading, struct kernel_way *way)
{
	if (attributes->of[RTA_VIA] != NULL)
		return read_via(attributes->of[RTA_VIA], way);
	return read_gateway(attributes, RTA_GATEWAY, reading->version, way);
}

/* RTA_MULTIPATH: a row of struct rtnexthop, each with attributes. */
static bool
read_multipath(struct kernel *kernel, const struct nlmsghdr *message,
	       const struct nlattr *multipath, struct reading *reading)
{
	const uint8_t *at = mnl_attr_get_payload(multipath);
	size_t left = mnl_attr_get_payload_len(multipath);

	while (left >= sizeof(struct rtnexthop)) {
		struct attributes attributes = {{NULL}};
		struct kernel_way way = {0};
		struct rtnexthop hop;
		size_t step;

		memcpy(&hop, at, sizeof(hop));
		if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > left)
			return false;
		mnl_attr_parse_payload(at + sizeof(hop), hop.rtnh_len - sizeof(hop), keep,
				       &attributes);
		way.link = (uint32_t)hop.rtnh_ifindex;
		way.weight = (uint16_t)(hop.rtnh_hops + 1);
		way.is_dead = (hop.rtnh_flags & RTNH_F_DEAD) != 0;
		if (!read_way(&attributes, reading, &way))
			return false;
		if (attributes.of[RTA_ENCAP_TYPE] != NULL) {
			refuse(kernel, message, encapsulation(attributes.of[RTA_ENCAP_TYPE]));
			reading->to_kernel = true;
		}
		if (reading->nb == KERNEL_WAYS_MAX) {
			refuse(kernel, message, KERNEL_WAYS);
			reading->to_kernel = true;
			return true;
		}
		reading->ways[reading->nb++] = way;
		step = RTNH_ALIGN(hop.rtnh_len);
		if (step >= left)
			return true;
		at += step;
		left -= step;
	}
	return left == 0;
}

/* RTAX_MTU of RTA_METRICS: not what the interface says. */
static bool
has_mtu(const struct nlattr *metrics)
{
	struct attributes attributes = {{NULL}};

	if (metrics == NULL)
		return false;
	mnl_attr_parse_nested(metrics, keep, &attributes);
	return attributes.of[RTAX_MTU] != NULL;
}

static bool
read_ways(struct kernel *kernel, const struct nlmsghdr *message, const struct rtmsg *info,
	  const struct attributes *attributes, struct reading *reading)
{
	struct kernel_way way = {.weight = 1, .is_dead = (info->rtm_flags & RTNH_F_DEAD) != 0};

	if (has_mtu(attributes->of[RTA_METRICS])) {
		refuse(kernel, message, KERNEL_MTU);
		reading->to_kernel = true;
	}
	if (attributes->of[RTA_MULTIPATH] != NULL)
		return read_multipath(kernel, message, attributes->of[RTA_MULTIPATH], reading);
	if (!read_u32(attributes, RTA_OIF, &way.link) || !read_way(attributes, reading, &way))
		return false;
	if (attributes->of[RTA_ENCAP_TYPE] != NULL) {
		refuse(kernel, message, encapsulation(attributes->of[RTA_ENCAP_TYPE]));
		reading->to_kernel = true;
	}
	reading->ways[reading->nb++] = way;
	return true;
}

static bool
read_key(const struct rtmsg *info, const struct attributes *attributes, uint32_t table,
	 struct kernel_route_key *key)
{
	unsigned int octets = key->version == 4 ? 4 : 16;

	key->is_local = table == RT_TABLE_LOCAL;
	key->length = info->rtm_dst_len;
	if (key->length > 8 * octets)
		return false;
	if (!read_u32(attributes, RTA_PRIORITY, &key->priority))
		return false;
	if (attributes->of[RTA_DST] == NULL)
		return key->length == 0;
	if (!read_octets(attributes->of[RTA_DST], key->prefix, octets))
		return false;
	for (unsigned int bit = key->length; bit < 8 * octets; bit++)
		if (key->prefix[bit / 8] & (0x80 >> bit % 8))
			return false;
	return true;
}

/* fe80::/10 and ff00::/8 are judged before any lookup. */
static bool
is_on_link(const struct kernel_route_key *key)
{
	return key->version == 6 &&
	       ((key->length >= 10 && key->prefix[0] == 0xfe && key->prefix[1] >> 6 == 2) ||
		(key->length >= 8 && key->prefix[0] == 0xff));
}

static void
remove_route(struct kernel *kernel, struct kernel_route *route)
{
	kernel_ways_put(kernel, route->ways);
	table_remove(&kernel->routes, route);
}

/* Which of several routes of one key is deleted, a message does not always say. */
static enum kernel_effect
delete_route(struct kernel *kernel, const struct kernel_route_key *key, uint32_t nexthop,
	     const struct reading *reading)
{
	struct kernel_route *route = table_find(&kernel->routes, key);
	bool is_unsure;

	if (route == NULL)
		return KERNEL_SAME;
	is_unsure = route->has_twins || route->nexthop != nexthop ||
		    (nexthop == 0 && (route->ways->nb != reading->nb ||
				      memcmp(route->ways->list, reading->ways,
					     reading->nb * sizeof(*reading->ways)) != 0));
	if (is_unsure)
		return KERNEL_UNSURE;
	remove_route(kernel, route);
	return KERNEL_CHANGED;
}

static enum kernel_effect
put_route(struct kernel *kernel, const struct nlmsghdr *message, const struct kernel_route_key *key,
	  uint8_t type, uint32_t nexthop, const struct reading *reading)
{
	struct kernel_route *route = table_find(&kernel->routes, key);
	struct kernel_ways *ways = NULL;
	bool has_twins = false;

	if (route != NULL && (message->nlmsg_flags & NLM_F_REPLACE) == 0) {
		bool is_dump = (message->nlmsg_flags & NLM_F_MULTI) != 0;
		bool is_appended = key->version == 4 && (message->nlmsg_flags & NLM_F_APPEND) != 0;

		/* The first one is used. IPv6 reports all next hops of a prefix at once. */
		has_twins = key->version == 4 || is_dump;
		if (is_dump || is_appended) {
			route->has_twins = true;
			return KERNEL_SAME;
		}
	}
	if (nexthop == 0) {
		ways = kernel_ways_get(kernel, reading->ways, reading->nb, reading->to_kernel,
				       false);
		if (ways == NULL)
			return KERNEL_NO_MEMORY;
	}
	if (route == NULL)
		route = table_put(&kernel->routes, key);
	if (route == NULL) {
		kernel_ways_put(kernel, ways);
		return KERNEL_NO_MEMORY;
	}
	kernel_ways_put(kernel, route->ways);
	route->ways = ways;
	route->nexthop = nexthop;
	route->type = type;
	route->has_twins = has_twins;
	return KERNEL_CHANGED;
}

static enum kernel_effect
apply_route(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct rtmsg *info = open_message(message, sizeof(*info), &attributes);
	struct kernel_route_key key = {0};
	struct reading reading = {0};
	uint32_t table, nexthop = 0;

	if (info == NULL)
		return malformed(kernel);
	if (info->rtm_family == RTNL_FAMILY_IPMR || info->rtm_family == RTNL_FAMILY_IP6MR)
		return refuse(kernel, message, KERNEL_MULTICAST);
	key.version = reading.version = version_of(info->rtm_family);
	if (key.version == 0 || (info->rtm_flags & RTM_F_CLONED) != 0 ||
	    info->rtm_type == RTN_MULTICAST)
		return KERNEL_SAME;
	table = info->rtm_table;
	if (!read_u32(&attributes, RTA_TABLE, &table) ||
	    !read_u32(&attributes, RTA_NH_ID, &nexthop) ||
	    !read_key(info, &attributes, table, &key))
		return malformed(kernel);
	if (is_on_link(&key))
		return KERNEL_SAME;
	if (table != RT_TABLE_MAIN && table != RT_TABLE_LOCAL)
		return refuse(kernel, message, KERNEL_TABLE);
	if (info->rtm_src_len != 0)
		return refuse(kernel, message, KERNEL_SOURCE);
	if (info->rtm_tos != 0)
		return refuse(kernel, message, KERNEL_TOS);
	/* An object says what a route leads to, whatever the message repeats of it. */
	if (nexthop == 0 && !read_ways(kernel, message, info, &attributes, &reading))
		return malformed(kernel);
	if (message->nlmsg_type == RTM_DELROUTE)
		return delete_route(kernel, &key, nexthop, &reading);
	return put_route(kernel, message, &key, info->rtm_type, nexthop, &reading);
}

enum kernel_effect
kernel_apply(struct kernel *kernel, const struct nlmsghdr *message)
{
	/* All that a kernel sends is padded, and libmnl reads up to the padding's end. */
	if (message->nlmsg_len % NLMSG_ALIGNTO != 0)
		return malformed(kernel);
	switch (message->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return apply_link(kernel, message);
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return apply_address(kernel, message);
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		return apply_neighbour(kernel, message);
	case RTM_NEWRULE:
		return apply_rule(kernel, message);
	case RTM_NEWNEXTHOP:
	case RTM_DELNEXTHOP:
		return apply_nexthop(kernel, message);
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return apply_route(kernel, message);
	default:
		return KERNEL_SAME;
	}
}
