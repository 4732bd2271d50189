/* SPDX-License-Identifier: Apache-2.0 */
/* VRFs, the interfaces that are in one, and the rules by which the kernel asks their tables. */
#include <ctype.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "attributes.h"

/* Priorities of the rules that each namespace has. */
enum { RULE_LOCAL = 0, RULE_MAIN = 32766, RULE_DEFAULT = 32767 };

void
message_step(struct kernel *kernel, const struct nlmsghdr *message)
{
	kernel->wants_dump |= (message->nlmsg_flags & NLM_F_MULTI) == 0;
}

uint32_t
message_table(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes, info, data;
	uint32_t table;

	if (attributes_open(message, sizeof(struct ifinfomsg), &attributes) == NULL ||
	    attributes.of[IFLA_MASTER] == NULL)
		return 0;
	attributes_nested(&attributes, IFLA_LINKINFO, &info);
	if (!attributes_is(info.of[IFLA_INFO_SLAVE_KIND], "vrf")) {
		message_refuse(kernel, message, KERNEL_MASTER);
		return 0;
	}
	attributes_nested(&info, IFLA_INFO_SLAVE_DATA, &data);
	if (!attributes_octets(data.of[IFLA_VRF_PORT_TABLE], &table, sizeof(table)))
		return KERNEL_NO_TABLE;
	/* A VRF may have the main table, and then separates nothing. */
	return table == RT_TABLE_MAIN ? 0 : table;
}

/* Read what is known of a VRF. Return false: the message is malformed. */
static bool
read_vrf(const struct ifinfomsg *link, const struct attributes *attributes, struct kernel_vrf *vrf)
{
	const struct nlattr *name = attributes->of[IFLA_IFNAME];
	struct attributes info, data;
	const char *text;

	memset(vrf, 0, sizeof(*vrf));
	vrf->index = (uint32_t)link->ifi_index;
	vrf->is_up = (link->ifi_flags & IFF_UP) != 0;
	attributes_nested(attributes, IFLA_LINKINFO, &info);
	attributes_nested(&info, IFLA_INFO_DATA, &data);
	if (name == NULL ||
	    !attributes_octets(data.of[IFLA_VRF_TABLE], &vrf->table, sizeof(vrf->table)))
		return false;
	if (vrf->table == RT_TABLE_MAIN)
		vrf->table = 0;
	text = mnl_attr_get_payload(name);
	for (unsigned int i = 0;
	     i < mnl_attr_get_payload_len(name) && text[i] != '\0' && i + 1 < sizeof(vrf->name);
	     i++)
		vrf->name[i] = isalnum((unsigned char)text[i]) || strchr("-_.", text[i]) != NULL
				       ? text[i]
				       : '?';
	return true;
}

/* Give a table a place. Return false: there is none. */
static bool
place_table(struct kernel *kernel, uint32_t table)
{
	if (table == RT_TABLE_LOCAL || table == KERNEL_NO_TABLE)
		return false;
	if (kernel_place(kernel, table) != KERNEL_NO_PLACE)
		return true;
	if (kernel->nb_tables == ROUTES_VRFS_MAX)
		return false;
	kernel->tables[++kernel->nb_tables] = table;
	return true;
}

/* Retire the place of a table that no VRF has any more: the kernel deletes routes of it without a message. */
static void
leave_table(struct kernel *kernel, uint32_t table)
{
	unsigned int place = kernel_place(kernel, table);

	if (place != 0 && place != KERNEL_NO_PLACE && kernel_vrf(kernel, table) == NULL)
		kernel->tables[place] = KERNEL_NO_TABLE;
}

/* Routes of a table that gets a VRF, or loses it, are to be read, or to be forgotten. */
enum kernel_effect
message_vrf(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct ifinfomsg *link = attributes_open(message, sizeof(*link), &attributes);
	struct kernel_vrf *known = kernel->vrfs, *end = kernel->vrfs + kernel->nb_vrfs;
	struct kernel_vrf now, former = {.table = KERNEL_NO_TABLE};

	if (link == NULL)
		return message_malformed(kernel);
	while (known < end && known->index != (uint32_t)link->ifi_index)
		known++;
	if (message->nlmsg_type == RTM_DELLINK) {
		message_step(kernel, message);
		if (known == end)
			return KERNEL_UNSURE;
		former = *known;
		memmove(known, known + 1, (size_t)(end - known - 1) * sizeof(*known));
		kernel->nb_vrfs--;
		leave_table(kernel, former.table);
		return KERNEL_UNSURE;
	}
	if (!read_vrf(link, &attributes, &now))
		return message_malformed(kernel);
	if (known < end && memcmp(known, &now, sizeof(now)) == 0)
		return KERNEL_SAME;
	if (known < end)
		former = *known;
	if (known == kernel->vrfs + ROUTES_VRFS_MAX || !place_table(kernel, now.table)) {
		memcpy(kernel->refused_vrf, now.name, sizeof(now.name));
		return message_refuse(kernel, message, KERNEL_VRF);
	}
	kernel->nb_vrfs += known == end;
	*known = now;
	leave_table(kernel, former.table);
	if (former.table == now.table && now.is_up)
		return KERNEL_CHANGED;
	message_step(kernel, message);
	return KERNEL_UNSURE;
}

/* Return whether a rule concerns all packets. */
static bool
is_for_all(const struct fib_rule_hdr *rule, const struct attributes *attributes)
{
	static const uint16_t selectors[] = {FRA_SRC,    FRA_DST,         FRA_IIFNAME,
					     FRA_FWMARK, FRA_OIFNAME,     FRA_TUN_ID,
					     FRA_L3MDEV, FRA_IP_PROTO,    FRA_UID_RANGE,
					     FRA_GOTO,   FRA_SPORT_RANGE, FRA_DPORT_RANGE};

	for (unsigned int i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++)
		if (attributes->of[selectors[i]] != NULL)
			return false;
	return rule->action == FR_ACT_TO_TBL && rule->tos == 0 &&
	       (rule->flags & FIB_RULE_INVERT) == 0;
}

/* Note a rule for a table that is followed. Only a dump reports all of them. */
static enum kernel_effect
note_rule(const struct kernel *kernel, const struct nlmsghdr *message, uint32_t priority,
	  uint32_t *lowest)
{
	if (message->nlmsg_type == RTM_NEWRULE && priority < *lowest)
		*lowest = priority;
	if ((message->nlmsg_flags & NLM_F_MULTI) != 0 || kernel->nb_vrfs == 0)
		return KERNEL_SAME;
	return KERNEL_UNSURE;
}

/* Only those that every kernel has are expected: local, main, default, and one for all VRFs. */
enum kernel_effect
message_rule(struct kernel *kernel, const struct nlmsghdr *message)
{
	struct attributes attributes;
	const struct fib_rule_hdr *rule = attributes_open(message, sizeof(*rule), &attributes);
	uint32_t priority = 0, table;
	unsigned int family;

	if (rule == NULL)
		return message_malformed(kernel);
	table = rule->table;
	if (!attributes_u32(&attributes, FRA_PRIORITY, &priority) ||
	    !attributes_u32(&attributes, FRA_TABLE, &table))
		return message_malformed(kernel);
	if (attributes_version(rule->family) == 0)
		return KERNEL_SAME;
	family = rule->family == AF_INET6;
	if (attributes.of[FRA_L3MDEV] != NULL)
		return note_rule(kernel, message, priority, &kernel->vrf_rule[family]);
	if (table == RT_TABLE_LOCAL && is_for_all(rule, &attributes))
		return note_rule(kernel, message, priority, &kernel->local_rule[family]);
	if (priority == RULE_LOCAL || priority == RULE_MAIN || priority == RULE_DEFAULT)
		return KERNEL_SAME;
	return message_refuse(kernel, message, KERNEL_RULE);
}
