/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces of the router: those of its ports, and the VLANs of these. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "attributes.h"

#define LINK_FLAGS (IFF_UP | IFF_RUNNING | 0x10000 /* IFF_LOWER_UP */)

/* A message of an interface, and what it says. */
struct reading {
	const struct nlmsghdr *message;
	const struct ifinfomsg *info;
	struct attributes attributes;
};

/* Read what may change of an interface. Return false: the message is malformed. */
static bool
read_state(struct kernel *kernel, const struct reading *reading, struct kernel_link *now)
{
	now->flags = reading->info->ifi_flags & LINK_FLAGS;
	if (!attributes_octets(reading->attributes.of[IFLA_ADDRESS], now->mac, sizeof(now->mac)) ||
	    !attributes_u32(&reading->attributes, IFLA_MTU, &now->mtu))
		return false;
	now->table = message_table(kernel, reading->message);
	return true;
}

static enum kernel_effect
apply_port(struct kernel *kernel, const struct reading *reading, struct kernel_link *link)
{
	struct kernel_link now = {.index = link->index, .port = link->port};
	enum kernel_effect effect;

	if (reading->message->nlmsg_type == RTM_NEWLINK && !read_state(kernel, reading, &now))
		return message_malformed(kernel);
	if (memcmp(link, &now, sizeof(now)) == 0)
		return KERNEL_SAME;
	if (now.table != link->table)
		message_step(kernel, reading->message);
	/* Routes by a link that goes down end without a message, and those that come back, too. */
	effect = now.flags == link->flags && now.table == link->table ? KERNEL_CHANGED
								      : KERNEL_UNSURE;
	*link = now;
	return effect;
}

/* Return the interface upon which the message's one is, or NULL: it is none of ours. */
static const struct kernel_link *
lower_of(const struct kernel *kernel, const struct reading *reading)
{
	uint32_t index = 0;

	/* In another network namespace, the same index is another interface. */
	if (reading->attributes.of[IFLA_LINK] == NULL ||
	    reading->attributes.of[IFLA_LINK_NETNSID] != NULL ||
	    !attributes_u32(&reading->attributes, IFLA_LINK, &index))
		return NULL;
	return kernel_link(kernel, index);
}

/* Read port and VLAN of an interface. Return false: it is no VLAN of a port, or one that is refused. */
static bool
read_vlan(struct kernel *kernel, const struct reading *reading, struct kernel_link *now)
{
	const struct kernel_link *lower = lower_of(kernel, reading);
	struct attributes info, data;
	uint16_t protocol;

	if (lower == NULL)
		return false;
	attributes_nested(&reading->attributes, IFLA_LINKINFO, &info);
	if (!attributes_is(info.of[IFLA_INFO_KIND], "vlan")) {
		message_refuse(kernel, reading->message, KERNEL_UPPER);
		return false;
	}
	attributes_nested(&info, IFLA_INFO_DATA, &data);
	if (!attributes_octets(data.of[IFLA_VLAN_ID], &now->vlan, sizeof(now->vlan)) ||
	    !attributes_octets(data.of[IFLA_VLAN_PROTOCOL], &protocol, sizeof(protocol)) ||
	    ntohs(protocol) != ETH_P_8021Q || lower->vlan != 0 || now->vlan == 0 ||
	    now->vlan > KERNEL_VLAN_MAX) {
		message_refuse(kernel, reading->message, KERNEL_VLAN);
		return false;
	}
	now->port = lower->port;
	return true;
}

/* An interface that is no port's. Routes by one that goes down, or comes, may change without a message. */
static enum kernel_effect
apply_other(struct kernel *kernel, const struct reading *reading)
{
	struct kernel_link now = {.index = (uint32_t)reading->info->ifi_index};
	struct kernel_link *known = table_find(&kernel->vlans, &now.index);
	bool is_there = reading->message->nlmsg_type == RTM_NEWLINK, is_same;

	if (!is_there || !read_vlan(kernel, reading, &now)) {
		bool was_known = known != NULL;

		if (was_known)
			table_remove(&kernel->vlans, known);
		return was_known || !is_there || (reading->info->ifi_flags & IFF_UP) == 0
			       ? KERNEL_UNSURE
			       : KERNEL_SAME;
	}
	if (!read_state(kernel, reading, &now))
		return message_malformed(kernel);
	if (known != NULL && memcmp(known, &now, sizeof(now)) == 0)
		return KERNEL_SAME;
	if (known != NULL && known->table != now.table)
		message_step(kernel, reading->message);
	is_same = known != NULL && known->flags == now.flags && known->port == now.port &&
		  known->vlan == now.vlan && known->table == now.table;
	if (known == NULL)
		known = table_put(&kernel->vlans, &now.index);
	if (known == NULL)
		return KERNEL_NO_MEMORY;
	*known = now;
	return is_same ? KERNEL_CHANGED : KERNEL_UNSURE;
}

enum kernel_effect
message_link(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct reading reading = {.message = message};
	struct attributes info;

	reading.info = attributes_open(message, sizeof(*reading.info), &reading.attributes);
	if (reading.info == NULL)
		return message_malformed(kernel);
	if (reading.info->ifi_family != AF_UNSPEC)
		return KERNEL_SAME;
	for (unsigned int i = 0; i < kernel->nb_links; i++)
		if (kernel->links[i].index == (uint32_t)reading.info->ifi_index)
			return apply_port(kernel, &reading, &kernel->links[i]);
	attributes_nested(&reading.attributes, IFLA_LINKINFO, &info);
	if (attributes_is(info.of[IFLA_INFO_KIND], "vrf"))
		return message_vrf(kernel, message);
	return apply_other(kernel, &reading);
}
