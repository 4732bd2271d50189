/* SPDX-License-Identifier: Apache-2.0 */
/* Of the readers of messages alone: attributes by type, and what all of them need. */
#ifndef MIRROR_ATTRIBUTES_H
#define MIRROR_ATTRIBUTES_H

#include <libmnl/libmnl.h>

#include "kernel.h"

#define ATTRIBUTES_MAX 64

struct attributes {
	const struct nlattr *of[ATTRIBUTES_MAX];
};

/* For mnl_attr_parse: the last attribute of each type. */
int attributes_keep(const struct nlattr *attribute, void *data);
/* Return the message's header of this size, or NULL: it is too short. */
const void *
attributes_open(const struct nlmsghdr *message, size_t size, struct attributes *attributes);
/* Read an attribute of 4 octets, if it is there. Return false: it has another size. */
bool attributes_u32(const struct attributes *attributes, unsigned int type, uint32_t *value);
/* Read an attribute that must be there. */
bool attributes_octets(const struct nlattr *attribute, void *octets, size_t size);
/* Open a nested attribute: none where it is not there. */
void attributes_nested(const struct attributes *from, unsigned int type, struct attributes *nested);
/* Return whether an attribute is this text. */
bool attributes_is(const struct nlattr *attribute, const char *text);
/* Read the gateway of a way, where there is one. */
bool attributes_gateway(const struct attributes *attributes, unsigned int type, uint8_t version,
			struct kernel_way *way);
/* Return the reason for which a way with this type of encapsulation is refused. */
enum kernel_refusal attributes_encapsulation(const struct nlattr *type);
/* Return 4, 6, or 0: another family. */
uint8_t attributes_version(uint8_t family);

/* Count such a message. Return KERNEL_SAME. */
enum kernel_effect message_malformed(struct kernel *kernel);
enum kernel_effect
message_refuse(struct kernel *kernel, const struct nlmsghdr *message, enum kernel_refusal refusal);

/* Note that a message is a step of a change of tables, unless it is of a dump. */
void message_step(struct kernel *kernel, const struct nlmsghdr *message);

/* RTM_NEWLINK and RTM_DELLINK. */
enum kernel_effect message_link(struct kernel *kernel, const struct nlmsghdr *message);
/* The same of a VRF. */
enum kernel_effect message_vrf(struct kernel *kernel, const struct nlmsghdr *message);
/* Return the table of the VRF that a link's message says it is in; 0: main; or KERNEL_NO_TABLE. */
uint32_t message_table(struct kernel *kernel, const struct nlmsghdr *message);
/* RTM_NEWRULE and RTM_DELRULE. */
enum kernel_effect message_rule(struct kernel *kernel, const struct nlmsghdr *message);
/* RTM_NEWROUTE and RTM_DELROUTE. */
enum kernel_effect message_route(struct kernel *kernel, const struct nlmsghdr *message);

#endif
