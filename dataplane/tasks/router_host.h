/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel as a router's host: an interface (TAP) for each output. Frames that the router does not
 * forward reach the kernel by the interface of the input they came by, through a ring for each class; what
 * the kernel sends by an interface leaves by its output. The tables follow the kernel's, see
 * router_mirror.h. All of it runs on the main thread but host_punt and host_receive. */
#ifndef WSDP_ROUTER_HOST_H
#define WSDP_ROUTER_HOST_H

#include <rte_ring.h>

#include "core/task.h"
#include "router_interface.h"
#include "router_link.h"
#include "router_tables.h"

struct router_mirror;

/* Exceptions by what the host needs them for: none takes the share of another. */
enum punt_class {
	PUNT_PROTOCOL,
	PUNT_NEIGHBOUR,
	PUNT_LOCAL,
	PUNT_REST,
	PUNT_CLASSES,
	PUNT_DROP = PUNT_CLASSES
};

/* As the configuration has it; strings live as long as it. */
struct host_config {
	unsigned int nb;
	char names[TASK_MAX_OUT][IFNAMSIZ];
	const char *text;      /* of "kernel" */
	const char *netns;     /* file of a network namespace; NULL: that of wsdp */
	uint32_t buffer_bytes; /* for notifications */
	uint32_t least[2];     /* see struct fib_room */
};

struct router_host;

/* A task's part of a host. */
struct host_task {
	struct task *task;
	struct router_host *host;
	struct rte_ring *punts[PUNT_CLASSES];
	struct rte_ring *received; /* from the kernel; NULL: another task sends them */
	uint8_t interface_of[TASK_MAX_IN];
	struct host_task *next;
};

struct router_host {
	struct router_space *space;
	struct task *owner; /* on whose behalf descriptors are served */
	struct host_task *tasks;
	unsigned int nb;
	struct host_interface interfaces[TASK_MAX_OUT];
	struct watched_link links[TASK_MAX_OUT]; /* of their ports */
	struct link_watch watch;
	int timer;
	unsigned int idle_ticks;
	uint64_t
		no_room; /* frames from the kernel for which there was no mbuf or no place in the ring */
	struct router_mirror *mirror;
	struct router_host *next;
};

/* Attach a task; the first one makes the interfaces. NULL after a message on stderr. */
struct host_task *host_attach(struct task *task, const struct host_config *config);
void host_detach(struct host_task *host_task);

/* On the task's lcore: hand over a frame, whose VLAN tag may be in its mbuf, that came by the task's input
 * `from`. False: no room. */
static inline bool
host_punt(struct host_task *host_task, struct rte_mbuf *mbuf, enum punt_class class, uint8_t from)
{
	mbuf->hash.usr = from;
	return rte_ring_sp_enqueue(host_task->punts[class], mbuf) == 0;
}

/* On the task's lcore: take frames that the kernel sends, and their outputs. */
static inline uint16_t
host_receive(struct host_task *host_task, struct rte_mbuf **mbufs, uint8_t *outs)
{
	unsigned int n =
		rte_ring_sc_dequeue_burst(host_task->received, (void **)mbufs, TASK_BURST, NULL);

	for (unsigned int i = 0; i < n; i++)
		outs[i] = (uint8_t)mbufs[i]->hash.usr;
	return (uint16_t)n;
}

/* Figures of the host and its mirror. */
void host_stats(const struct router_host *host, struct telemetry_out *out);

#endif
