/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes.h"

#include <linux/rtnetlink.h>
#include <string.h>

/* RTA_VIA: a gateway of another family than the route. */
static bool
read_via(const struct nlattr *via, struct kernel_way *way)
{
	const struct rtvia *of = mnl_attr_get_payload(via);
	size_t length = mnl_attr_get_payload_len(via), size;

	if (length < sizeof(of->rtvia_family))
		return false;
	way->version = attributes_version((uint8_t)of->rtvia_family);
	size = way->version == 4 ? 4 : 16;
	if (way->version == 0 || length != offsetof(struct rtvia, rtvia_addr) + size)
		return false;
	memcpy(way->gateway, of->rtvia_addr, size);
	return true;
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
	return attributes_gateway(attributes, RTA_GATEWAY, reading->version, way);
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
		mnl_attr_parse_payload(at + sizeof(hop), hop.rtnh_len - sizeof(hop),
				       attributes_keep, &attributes);
		way.link = (uint32_t)hop.rtnh_ifindex;
		way.weight = (uint16_t)(hop.rtnh_hops + 1);
		way.is_dead = (hop.rtnh_flags & RTNH_F_DEAD) != 0;
		if (!read_way(&attributes, reading, &way))
			return false;
		if (attributes.of[RTA_ENCAP_TYPE] != NULL) {
			message_refuse(kernel, message,
				       attributes_encapsulation(attributes.of[RTA_ENCAP_TYPE]));
			reading->to_kernel = true;
		}
		if (reading->nb == KERNEL_WAYS_MAX) {
			message_refuse(kernel, message, KERNEL_WAYS);
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
	mnl_attr_parse_nested(metrics, attributes_keep, &attributes);
	return attributes.of[RTAX_MTU] != NULL;
}

/* What a message with next hops of its own says of them. */
static bool
read_ways(struct kernel *kernel, const struct nlmsghdr *message, const struct rtmsg *info,
	  const struct attributes *attributes, struct reading *reading)
{
	struct kernel_way way = {.weight = 1, .is_dead = (info->rtm_flags & RTNH_F_DEAD) != 0};

	if (attributes->of[RTA_MULTIPATH] != NULL)
		return read_multipath(kernel, message, attributes->of[RTA_MULTIPATH], reading);
	if (!attributes_u32(attributes, RTA_OIF, &way.link) || !read_way(attributes, reading, &way))
		return false;
	if (attributes->of[RTA_ENCAP_TYPE] != NULL) {
		message_refuse(kernel, message,
			       attributes_encapsulation(attributes->of[RTA_ENCAP_TYPE]));
		reading->to_kernel = true;
	}
	reading->ways[reading->nb++] = way;
	return true;
}

/* Return whether a route's next hop is a VRF, which would look up again. */
static bool
leads_to_vrf(const struct kernel *kernel, const struct reading *reading)
{
	for (uint16_t i = 0; i < reading->nb; i++)
		for (unsigned int v = 0; v < kernel->nb_vrfs; v++)
			if (reading->ways[i].link == kernel->vrfs[v].index)
				return true;
	return false;
}

/* Return the place of a table whose routes are used, or KERNEL_NO_PLACE. */
static unsigned int
place_of(const struct kernel *kernel, uint32_t table)
{
	if (table == RT_TABLE_MAIN || table == RT_TABLE_LOCAL)
		return 0;
	return table == 0 ? KERNEL_NO_PLACE : kernel_place(kernel, table);
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
	if (!attributes_u32(attributes, RTA_PRIORITY, &key->priority))
		return false;
	if (attributes->of[RTA_DST] == NULL)
		return key->length == 0;
	if (!attributes_octets(attributes->of[RTA_DST], key->prefix, octets))
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

/* A route has an object, or none (0), from here on. */
static void
enter_nexthop(struct kernel *kernel, struct kernel_route *route, uint32_t id)
{
	struct kernel_nexthop *object;

	route->nexthop = id;
	route->born = 0;
	object = kernel_object(kernel, route);
	if (object == NULL)
		return;
	route->born = object->born;
	object->nb_routes++;
}

static void
leave_nexthop(struct kernel *kernel, const struct kernel_route *route)
{
	struct kernel_nexthop *object = kernel_object(kernel, route);

	/* A route that came before its object is not counted. */
	if (object != NULL && route->born != 0)
		object->nb_routes--;
}

static void
remove_route(struct kernel *kernel, struct kernel_route *route)
{
	leave_nexthop(kernel, route);
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

static bool
has_way(const struct reading *reading, const struct kernel_way *way)
{
	for (uint16_t i = 0; i < reading->nb; i++)
		if (memcmp(&reading->ways[i], way, sizeof(*way)) == 0)
			return true;
	return false;
}

/* Return whether a message of IPv6 reports a route that is there with all its next hops. Others report one
 * of several routes of a key, and not whether the kernel uses it. */
static bool
is_whole(const struct kernel_route *route, uint8_t type, uint32_t nexthop,
	 const struct reading *reading)
{
	if (route->has_twins || route->type != type || route->nexthop != nexthop)
		return false;
	for (uint16_t i = 0; nexthop == 0 && i < route->ways->nb; i++)
		if (!has_way(reading, &route->ways->list[i]))
			return false;
	return true;
}

/* The kernel prefers the gateway whose neighbour answers (fib_select_default), which no message reports. */
static void
refuse_twin(struct kernel *kernel, const struct nlmsghdr *message,
	    const struct kernel_route_key *key)
{
	if (key->version == 4 && key->length == 0)
		message_refuse(kernel, message, KERNEL_DEFAULTS);
}

static enum kernel_effect
put_route(struct kernel *kernel, const struct nlmsghdr *message, const struct kernel_route_key *key,
	  uint8_t type, uint32_t nexthop, const struct reading *reading)
{
	struct kernel_route *route = table_find(&kernel->routes, key);
	struct kernel_ways *ways = NULL;
	bool has_twins = false;

	/* The kernel has deleted it with its object. */
	if (route != NULL && route->born != 0 && kernel_object(kernel, route) == NULL) {
		remove_route(kernel, route);
		route = NULL;
	}
	if (route != NULL && (message->nlmsg_flags & NLM_F_REPLACE) != 0) {
		if (route->has_twins)
			return KERNEL_UNSURE;
	} else if (route != NULL) {
		bool is_dump = (message->nlmsg_flags & NLM_F_MULTI) != 0;
		bool is_appended = key->version == 4 && (message->nlmsg_flags & NLM_F_APPEND) != 0;

		/* The first one is used. */
		if (is_dump || is_appended) {
			route->has_twins = true;
			refuse_twin(kernel, message, key);
			return KERNEL_SAME;
		}
		if (key->version == 6 && !is_whole(route, type, nexthop, reading))
			return KERNEL_UNSURE;
		has_twins = key->version == 4;
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
	leave_nexthop(kernel, route);
	enter_nexthop(kernel, route, nexthop);
	route->ways = ways;
	route->type = type;
	route->to_kernel = reading->to_kernel;
	route->has_twins = has_twins;
	if (has_twins)
		refuse_twin(kernel, message, key);
	return KERNEL_CHANGED;
}

enum kernel_effect
message_route(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct rtmsg *info = attributes_open(message, sizeof(*info), &attributes);
	struct kernel_route_key key = {0};
	struct reading reading = {0};
	uint32_t table, nexthop = 0;
	unsigned int place;
	enum kernel_effect effect;

	if (info == NULL)
		return message_malformed(kernel);
	if (info->rtm_family == RTNL_FAMILY_IPMR || info->rtm_family == RTNL_FAMILY_IP6MR)
		return message_refuse(kernel, message, KERNEL_MULTICAST);
	key.version = reading.version = attributes_version(info->rtm_family);
	if (key.version == 0 || (info->rtm_flags & RTM_F_CLONED) != 0 ||
	    info->rtm_type == RTN_MULTICAST)
		return KERNEL_SAME;
	table = info->rtm_table;
	if (!attributes_u32(&attributes, RTA_TABLE, &table) ||
	    !attributes_u32(&attributes, RTA_NH_ID, &nexthop) ||
	    !read_key(info, &attributes, table, &key))
		return message_malformed(kernel);
	if (is_on_link(&key))
		return KERNEL_SAME;
	place = place_of(kernel, table);
	if (place == KERNEL_NO_PLACE)
		return message_refuse(kernel, message, KERNEL_TABLE);
	key.vrf = (uint8_t)place;
	if (info->rtm_src_len != 0)
		return message_refuse(kernel, message, KERNEL_SOURCE);
	if (info->rtm_tos != 0)
		return message_refuse(kernel, message, KERNEL_TOS);
	if (has_mtu(attributes.of[RTA_METRICS])) {
		message_refuse(kernel, message, KERNEL_MTU);
		reading.to_kernel = true;
	}
	/* An object says what a route leads to, whatever the message repeats of it. */
	if (nexthop == 0 && !read_ways(kernel, message, info, &attributes, &reading))
		return message_malformed(kernel);
	if (info->rtm_type == RTN_UNICAST && leads_to_vrf(kernel, &reading))
		message_refuse(kernel, message, KERNEL_VRF_ROUTE);
	if (message->nlmsg_type == RTM_DELROUTE)
		effect = delete_route(kernel, &key, nexthop, &reading);
	else
		effect = put_route(kernel, message, &key, info->rtm_type, nexthop, &reading);
	if (effect == KERNEL_CHANGED)
		kernel_note(kernel, &key);
	return effect;
}
