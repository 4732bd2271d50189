/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes.h"

#include <linux/lwtunnel.h>
#include <linux/rtnetlink.h>
#include <string.h>

int
attributes_keep(const struct nlattr *attribute, void *data)
{
	struct attributes *attributes = data;
	uint16_t type = mnl_attr_get_type(attribute);

	if (type < ATTRIBUTES_MAX)
		attributes->of[type] = attribute;
	return MNL_CB_OK;
}

const void *
attributes_open(const struct nlmsghdr *message, size_t size, struct attributes *attributes)
{
	memset(attributes, 0, sizeof(*attributes));
	if (mnl_nlmsg_get_payload_len(message) < size)
		return NULL;
	mnl_attr_parse(message, (unsigned int)size, attributes_keep, attributes);
	return mnl_nlmsg_get_payload(message);
}

bool
attributes_u32(const struct attributes *attributes, unsigned int type, uint32_t *value)
{
	const struct nlattr *attribute = attributes->of[type];

	if (attribute == NULL)
		return true;
	if (mnl_attr_get_payload_len(attribute) != sizeof(*value))
		return false;
	memcpy(value, mnl_attr_get_payload(attribute), sizeof(*value));
	return true;
}

bool
attributes_octets(const struct nlattr *attribute, void *octets, size_t size)
{
	if (attribute == NULL || mnl_attr_get_payload_len(attribute) != size)
		return false;
	memcpy(octets, mnl_attr_get_payload(attribute), size);
	return true;
}

void
attributes_nested(const struct attributes *from, unsigned int type, struct attributes *nested)
{
	memset(nested, 0, sizeof(*nested));
	if (from->of[type] != NULL)
		mnl_attr_parse_nested(from->of[type], attributes_keep, nested);
}

bool
attributes_is(const struct nlattr *attribute, const char *text)
{
	size_t size = strlen(text) + 1;

	return attribute != NULL && mnl_attr_get_payload_len(attribute) == size &&
	       memcmp(mnl_attr_get_payload(attribute), text, size) == 0;
}

uint8_t
attributes_version(uint8_t family)
{
	return family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0;
}

enum kernel_effect
message_malformed(struct kernel *kernel)
{
	kernel->malformed++;
	return KERNEL_SAME;
}

enum kernel_effect
message_refuse(struct kernel *kernel, const struct nlmsghdr *message, enum kernel_refusal refusal)
{
	bool is_new = message->nlmsg_type == RTM_NEWROUTE || message->nlmsg_type == RTM_NEWRULE ||
		      message->nlmsg_type == RTM_NEWNEXTHOP || message->nlmsg_type == RTM_NEWLINK;

	kernel->refused[refusal] += is_new;
	return KERNEL_SAME;
}

enum kernel_refusal
attributes_encapsulation(const struct nlattr *type)
{
	uint16_t is = mnl_attr_get_payload_len(type) == sizeof(is) ? mnl_attr_get_u16(type) : 0;

	if (is == LWTUNNEL_ENCAP_MPLS)
		return KERNEL_MPLS;
	return is == LWTUNNEL_ENCAP_SEG6 || is == LWTUNNEL_ENCAP_SEG6_LOCAL ? KERNEL_SEG6
									    : KERNEL_ENCAP;
}

bool
attributes_gateway(const struct attributes *attributes, unsigned int type, uint8_t version,
		   struct kernel_way *way)
{
	static const uint8_t none[16];

	if (attributes->of[type] == NULL)
		return true;
	if (!attributes_octets(attributes->of[type], way->gateway, version == 4 ? 4 : 16))
		return false;
	if (memcmp(way->gateway, none, sizeof(none)) != 0)
		way->version = version;
	return true;
}
