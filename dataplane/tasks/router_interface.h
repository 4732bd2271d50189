/* SPDX-License-Identifier: Apache-2.0 */
/* An interface of the kernel (TAP) whose other side is ours, and the network namespace that it is in. */
#ifndef WSDP_ROUTER_INTERFACE_H
#define WSDP_ROUTER_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/task.h"

struct host_interface {
	char name[IFNAMSIZ];
	uint32_t index;
	int fd; /* -1: not open */
	uint64_t from_kernel, to_kernel;
	uint64_t errors; /* frames that the kernel did not take, e.g. since the interface is down */
};

/* Move the calling thread to a network namespace. Returns a descriptor to move back by, or
 * a negative errno. */
int netns_enter(const char *path);
void netns_leave(int own);

/* Attach to the interface of this name. One that is not there is made, and gets address and MTU of the
 * output's port. Returns 0 or a negative errno. */
int interface_open(struct host_interface *interface, const struct task_out *out);
/* Say why it cannot be opened. Returns the error. */
int interface_complain(const struct host_interface *interface, int error);
/* Have the kernel see that the other end of its cable is there, or not. Returns 0 or a negative errno. */
int interface_set_carrier(const struct host_interface *interface, bool is_up);
/* Write a frame, with the VLAN tag that is in its mbuf. Returns whether the kernel took it. */
bool interface_write(const struct host_interface *interface, const struct rte_mbuf *mbuf);

/* Warn of a kernel that does not forward: it would answer nothing. */
void interface_check_forwarding(void);

#endif
