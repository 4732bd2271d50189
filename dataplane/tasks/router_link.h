/* SPDX-License-Identifier: Apache-2.0 */
/* Follow the ports behind the kernel's interfaces: the link of a port is the carrier of its interface, and
 * its MTU is the most that the interface has. */
#ifndef WSDP_ROUTER_LINK_H
#define WSDP_ROUTER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/task.h"
#include "router_interface.h"

struct link_watch {
	int own_socket;    /* any, in the network namespace of wsdp */
	int kernel_socket; /* any, in that of the kernel's interfaces */
	uint64_t due_tsc;
	bool is_said; /* that a carrier cannot be set */
};

/* An output's port, and what its interface has of it. */
struct watched_link {
	bool is_port; /* false: a ring, whose link is always up */
	uint16_t port_id;
	uint16_t mtu;          /* 0: the port has none */
	unsigned int if_index; /* of the kernel's interface that the port sends by; 0: none */
	bool is_down;
	bool is_capped; /* once, by us */
};

/* In the network namespace of wsdp; then, in that of the interfaces. Return 0 or a negative errno. */
int link_watch_open(struct link_watch *watch);
int link_watch_enter(struct link_watch *watch);
void link_watch_close(struct link_watch *watch);

void link_begin(struct watched_link *link, const struct task_out *out);
/* Return whether it is time to follow each link. */
bool link_watch_due(struct link_watch *watch);
/* Tell an interface of its port's link, if that has changed, and cap its MTU. */
void link_follow(struct link_watch *watch, struct watched_link *link,
		 const struct host_interface *interface);

#endif
