/* SPDX-License-Identifier: Apache-2.0 */
#include "netlink.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <libmnl/libmnl.h>

#include "check.h"

static char room[4096];

static void *
begin(uint16_t type, size_t header)
{
	struct nlmsghdr *message;

	memset(room, 0, sizeof(room));
	message = mnl_nlmsg_put_header(room);
	message->nlmsg_type = type;
	return mnl_nlmsg_put_extra_header(message, header);
}

static struct nlmsghdr *
message_of(void)
{
	return (struct nlmsghdr *)(void *)room;
}

static void
read_mac(const char *text, uint8_t *mac)
{
	CHECK_EQ(sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2], &mac[3],
			&mac[4], &mac[5]),
		 6);
}

/* Return the family. */
static uint8_t
read_address(const char *text, uint8_t *octets)
{
	uint8_t family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;

	CHECK_EQ(inet_pton(family, text, octets), 1);
	return family;
}

static size_t
size_of(uint8_t family)
{
	return family == AF_INET ? 4 : 16;
}

struct nlmsghdr *
link_message(uint16_t type, uint32_t index, unsigned int flags, const char *mac, uint32_t mtu)
{
	struct ifinfomsg *info = begin(type, sizeof(*info));
	uint8_t octets[6];

	info->ifi_index = (int)index;
	info->ifi_flags = flags;
	read_mac(mac, octets);
	mnl_attr_put(message_of(), IFLA_ADDRESS, sizeof(octets), octets);
	mnl_attr_put_u32(message_of(), IFLA_MTU, mtu);
	return message_of();
}

struct nlmsghdr *
upon(struct nlmsghdr *message, uint32_t lower, const char *kind, uint16_t protocol, uint16_t id)
{
	struct nlattr *info, *data;

	mnl_attr_put_u32(message, IFLA_LINK, lower);
	info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, kind);
	data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
	mnl_attr_put_u16(message, IFLA_VLAN_PROTOCOL, htons(protocol));
	mnl_attr_put_u16(message, IFLA_VLAN_ID, id);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	return message;
}

struct nlmsghdr *
vrf_message(uint16_t type, uint32_t index, unsigned int flags, const char *name, uint32_t table)
{
	struct nlmsghdr *message = link_message(type, index, flags, "2:0:0:0:0:77", 65575);
	struct nlattr *info, *data;

	mnl_attr_put_strz(message, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, "vrf");
	data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
	mnl_attr_put_u32(message, IFLA_VRF_TABLE, table);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	return message;
}

/* Return the message's IFLA_LINKINFO, which is its last attribute, or a new one. */
static struct nlattr *
link_info(struct nlmsghdr *message)
{
	struct nlattr *attribute;

	mnl_attr_for_each(attribute, message, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(attribute) == IFLA_LINKINFO)
			return attribute;
	}
	return mnl_attr_nest_start(message, IFLA_LINKINFO);
}

struct nlmsghdr *
in_vrf(struct nlmsghdr *message, uint32_t vrf, uint32_t table)
{
	struct nlattr *info = link_info(message), *data;

	mnl_attr_put_strz(message, IFLA_INFO_SLAVE_KIND, "vrf");
	if (table != 0) {
		data = mnl_attr_nest_start(message, IFLA_INFO_SLAVE_DATA);
		mnl_attr_put_u32(message, IFLA_VRF_PORT_TABLE, table);
		mnl_attr_nest_end(message, data);
	}
	mnl_attr_nest_end(message, info);
	mnl_attr_put_u32(message, IFLA_MASTER, vrf);
	return message;
}

struct nlmsghdr *
rule_message(uint16_t type, uint32_t priority, uint32_t table, uint16_t flags)
{
	struct fib_rule_hdr *rule = begin(type, sizeof(*rule));

	rule->family = AF_INET;
	rule->action = FR_ACT_TO_TBL;
	message_of()->nlmsg_flags = flags;
	mnl_attr_put_u32(message_of(), FRA_PRIORITY, priority);
	if (table == 0)
		mnl_attr_put_u8(message_of(), FRA_L3MDEV, 1);
	else
		mnl_attr_put_u32(message_of(), FRA_TABLE, table);
	return message_of();
}

struct nlmsghdr *
neighbour_message(uint16_t type, uint32_t link, const char *address, const char *mac,
		  uint16_t state)
{
	struct ndmsg *info = begin(type, sizeof(*info));
	uint8_t octets[16];

	info->ndm_ifindex = (int)link;
	info->ndm_state = state;
	info->ndm_family = read_address(address, octets);
	mnl_attr_put(message_of(), NDA_DST, size_of(info->ndm_family), octets);
	if (mac != NULL) {
		read_mac(mac, octets);
		mnl_attr_put(message_of(), NDA_LLADDR, 6, octets);
	}
	return message_of();
}

/* A gateway of the route's family, or of the other one. */
static void
put_gateway(uint8_t family, const char *text)
{
	struct {
		uint16_t family;
		uint8_t octets[16];
	} via;

	if (text == NULL || text[0] == '\0')
		return;
	via.family = read_address(text, via.octets);
	if (via.family == family)
		mnl_attr_put(message_of(), RTA_GATEWAY, size_of(family), via.octets);
	else
		mnl_attr_put(message_of(), RTA_VIA, 2 + size_of((uint8_t)via.family), &via);
}

static void
put_multipath(uint8_t family, const struct route_message *route)
{
	struct nlattr *nest = mnl_attr_nest_start(message_of(), RTA_MULTIPATH);

	for (unsigned int i = 0; i < 4 && route->links[i] != 0; i++) {
		uint32_t at = message_of()->nlmsg_len;
		struct rtnexthop *hop = (void *)(room + at);

		message_of()->nlmsg_len += sizeof(*hop);
		put_gateway(family, route->gateways[i]);
		hop->rtnh_len = (uint16_t)(message_of()->nlmsg_len - at);
		hop->rtnh_hops = route->weights[i] == 0 ? 0 : (uint8_t)(route->weights[i] - 1);
		hop->rtnh_ifindex = (int)route->links[i];
	}
	mnl_attr_nest_end(message_of(), nest);
}

struct nlmsghdr *
route_message(uint16_t type, const struct route_message *route)
{
	struct rtmsg *info = begin(type, sizeof(*info));
	uint8_t octets[16];
	char address[64];
	unsigned int length;

	CHECK_EQ(sscanf(route->prefix, "%63[^/]/%u", address, &length), 2);
	info->rtm_family = read_address(address, octets);
	info->rtm_dst_len = (uint8_t)length;
	info->rtm_type = route->type == 0 ? RTN_UNICAST : route->type;
	info->rtm_tos = route->tos;
	message_of()->nlmsg_flags = route->flags;
	mnl_attr_put_u32(message_of(), RTA_TABLE, route->table == 0 ? RT_TABLE_MAIN : route->table);
	if (length > 0)
		mnl_attr_put(message_of(), RTA_DST, size_of(info->rtm_family), octets);
	if (route->priority != 0)
		mnl_attr_put_u32(message_of(), RTA_PRIORITY, route->priority);
	if (route->nexthop != 0)
		mnl_attr_put_u32(message_of(), RTA_NH_ID, route->nexthop);
	if (route->link != 0)
		mnl_attr_put_u32(message_of(), RTA_OIF, route->link);
	put_gateway(info->rtm_family, route->gateway);
	if (route->encapsulation != 0)
		mnl_attr_put_u16(message_of(), RTA_ENCAP_TYPE, route->encapsulation);
	if (route->mtu != 0) {
		struct nlattr *nest = mnl_attr_nest_start(message_of(), RTA_METRICS);

		mnl_attr_put_u32(message_of(), RTAX_MTU, route->mtu);
		mnl_attr_nest_end(message_of(), nest);
	}
	if (route->links[0] != 0)
		put_multipath(info->rtm_family, route);
	return message_of();
}

struct nlmsghdr *
nexthop_message(uint16_t type, uint32_t id, uint32_t link, const char *gateway)
{
	struct nhmsg *info = begin(type, sizeof(*info));
	uint8_t octets[16];

	mnl_attr_put_u32(message_of(), NHA_ID, id);
	if (link == 0) {
		mnl_attr_put(message_of(), NHA_BLACKHOLE, 0, NULL);
		return message_of();
	}
	mnl_attr_put_u32(message_of(), NHA_OIF, link);
	if (gateway != NULL) {
		info->nh_family = read_address(gateway, octets);
		mnl_attr_put(message_of(), NHA_GATEWAY, size_of(info->nh_family), octets);
	}
	return message_of();
}

struct nlmsghdr *
group_message(uint32_t id, const uint32_t *members)
{
	struct nexthop_grp group[8];
	unsigned int nb = 0;

	begin(RTM_NEWNEXTHOP, sizeof(struct nhmsg));
	memset(group, 0, sizeof(group));
	while (members[nb] != 0) {
		group[nb].id = members[nb];
		nb++;
	}
	mnl_attr_put_u32(message_of(), NHA_ID, id);
	mnl_attr_put(message_of(), NHA_GROUP, nb * sizeof(group[0]), group);
	return message_of();
}

void
open_router(struct kernel *kernel)
{
	static const uint32_t indexes[] = {11, 12};

	kernel_open(kernel, indexes, 2);
	CHECK_EQ(kernel_apply(kernel, link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 1500)),
		 KERNEL_UNSURE);
	CHECK_EQ(kernel_apply(kernel, link_message(RTM_NEWLINK, 12, IFF_UP, "2:0:0:0:0:c", 1400)),
		 KERNEL_UNSURE);
}

enum kernel_effect
take(struct kernel *kernel, const struct nlmsghdr *message)
{
	enum kernel_effect effect = kernel_apply(kernel, message);

	CHECK_EQ(kernel->malformed, 0);
	return effect;
}

void
add_route(struct kernel *kernel, const struct route_message *route)
{
	CHECK_EQ(take(kernel, route_message(RTM_NEWROUTE, route)), KERNEL_CHANGED);
}

void
know(struct kernel *kernel, uint32_t link, const char *address, const char *mac)
{
	take(kernel, neighbour_message(RTM_NEWNEIGH, link, address, mac, NUD_REACHABLE));
}

void
close_router(struct kernel *kernel, struct hop_ids *ids, struct routes *routes)
{
	routes_free(routes);
	hop_ids_close(ids);
	kernel_close(kernel);
}
