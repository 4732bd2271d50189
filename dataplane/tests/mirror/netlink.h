/* SPDX-License-Identifier: Apache-2.0 */
/* Messages as a kernel sends them, for tests. Addresses are texts; "" or NULL: none. */
#ifndef TESTS_MIRROR_NETLINK_H
#define TESTS_MIRROR_NETLINK_H

#include <stdint.h>

#include "mirror/hop_ids.h"
#include "mirror/kernel.h"

struct nlmsghdr;

/* The message under construction, which the next one overwrites. */
struct nlmsghdr *
link_message(uint16_t type, uint32_t index, unsigned int flags, const char *mac, uint32_t mtu);
/* Add to such a message what it is upon, and, where kind is "vlan", its tag. */
struct nlmsghdr *
upon(struct nlmsghdr *message, uint32_t lower, const char *kind, uint16_t protocol, uint16_t id);
/* A VRF of this table. */
struct nlmsghdr *
vrf_message(uint16_t type, uint32_t index, unsigned int flags, const char *name, uint32_t table);
/* Add to a link's message that it is in the VRF of this index, which has this table; 0: it does not say. */
struct nlmsghdr *in_vrf(struct nlmsghdr *message, uint32_t vrf, uint32_t table);
/* A rule of IPv4. table: 0 for the one by which VRFs have theirs. */
struct nlmsghdr *rule_message(uint16_t type, uint32_t priority, uint32_t table, uint16_t flags);
struct nlmsghdr *neighbour_message(uint16_t type, uint32_t link, const char *address,
				   const char *mac, uint16_t state);

struct route_message {
	const char *prefix; /* "10.0.0.0/8" */
	uint32_t table;     /* 0: main */
	uint8_t type;       /* 0: unicast */
	uint32_t link;
	const char *gateway;
	uint32_t priority;
	uint32_t nexthop;
	uint16_t flags;          /* of the message */
	const char *gateways[4]; /* several: by links[] */
	uint32_t links[4];
	uint8_t weights[4];
	uint16_t encapsulation;
	uint32_t mtu;
	uint8_t tos;
};

struct nlmsghdr *route_message(uint16_t type, const struct route_message *route);
struct nlmsghdr *nexthop_message(uint16_t type, uint32_t id, uint32_t link, const char *gateway);
/* members: ids up to a 0, each with a weight of 1. */
struct nlmsghdr *group_message(uint32_t id, const uint32_t *members);

/* The router of the tests: interfaces 11 and 12, up, with addresses 02:..:0b and 02:..:0c. */
void open_router(struct kernel *kernel);
/* Apply a message that is well-formed. */
enum kernel_effect take(struct kernel *kernel, const struct nlmsghdr *message);
/* Add a route, which changes the state. */
void add_route(struct kernel *kernel, const struct route_message *route);
/* Add a neighbour that answers. */
void know(struct kernel *kernel, uint32_t link, const char *address, const char *mac);
/* Free the state, and what was made of it. */
void close_router(struct kernel *kernel, struct hop_ids *ids, struct routes *routes);

#endif
