/* SPDX-License-Identifier: Apache-2.0 */
/* A router with ports a and b whose interfaces, neighbours and routes come from messages as a kernel sends them.
 * The kernel itself is replaced: the linker calls __wrap_host_* instead of host_*. */
#ifndef TESTS_ROUTER_KERNEL_H
#define TESTS_ROUTER_KERNEL_H

#include "tasks/router_vlan.h"

#include "mirror/netlink.h"
#include "router_bench.h"
#include "tasks/router_host.h"

#define NO_TAG 0xffff

/* Reports the state before a router comes up, which is open_router's at first. */
extern void (*router_kernel_report)(struct kernel *kernel);
extern struct host_task router_kernel_attached;

/* Bring it up: frames come by the port `in`, which has the interface of a. */
struct bench router_kernel_up(void);

/* Put a tag into a frame of this length. Return the new length. */
uint16_t router_tag(uint8_t *frame, uint16_t length, uint16_t tci);
/* A frame to the interface with this address. */
void router_kernel_make(uint8_t *frame, uint32_t destination, uint8_t mac);
/* Let the router handle a frame whose tag is in it, or in its mbuf as of a NIC that strips tags. */
void router_kernel_handle(struct bench *bench, const uint8_t *frame, uint16_t length, uint16_t tci,
			  bool is_stripped);
/* Check that a frame leaves by a port, and without a tag next to it, which another task would take for its. */
void router_kernel_check_leaves(struct bench *bench, const char *port, const uint8_t *frame,
				uint16_t length);

#endif
