/* SPDX-License-Identifier: Apache-2.0 */
/* Read the routing state of a network namespace from its kernel: dumps on one socket, notifications on
 * another. All sockets are non-blocking. */
#ifndef MIRROR_FEED_H
#define MIRROR_FEED_H

#include <stdatomic.h>
#include <stddef.h>

#include "compile.h"
#include "kernel.h"

struct mnl_socket;

#define FEED_BUFFER_BYTES (128 * 1024) /* a dump has up to 32 KiB at once */

struct feed {
	struct mnl_socket *notified, *dumped; /* notified: NULL where only dumps are wanted */
	unsigned int step;                    /* of a dump */
	uint32_t sequence;
	bool is_broken;         /* the dump: it was interrupted, or the kernel refused it */
	bool is_without_routes; /* dumps are; may be set after feed_open */
	char *buffer;
};

/* buffer_bytes: room for notifications; 0: none are wanted. Returns 0 or a negative errno. In the calling
 * thread's network namespace. */
int feed_open(struct feed *feed, uint32_t buffer_bytes);
void feed_close(struct feed *feed);

/* Descriptors to wait for. */
int feed_notified_fd(const struct feed *feed);
int feed_dumped_fd(const struct feed *feed);

/* Forget the notifications that have come: a dump that begins after it reports what they do. */
void feed_drop_notified(struct feed *feed);
/* Ask for everything. Returns 0 or a negative errno. */
int feed_dump(struct feed *feed);

/* Forget what has come of a dump that was given up. */
void feed_drop_dumped(struct feed *feed);

enum feed_state {
	FEED_WAITS, /* more will come */
	FEED_ENDED,
	FEED_BROKEN, /* changes interrupted it: begin again */
	FEED_FAILED, /* the kernel or memory */
};

/* Take what has come of a dump, a few buffers at a time. */
enum feed_state feed_read_dump(struct feed *feed, struct kernel *kernel);
/* Wait for a whole dump, in the calling thread: 0, or a negative errno; -ECANCELED: *cancel is set. */
int feed_wait_dump(struct feed *feed, struct kernel *kernel, const atomic_bool *cancel);

/* The kernel's answer for an address. */
enum feed_answer {
	FEED_ROUTE, /* the state has it now */
	FEED_FLOW,  /* the state has one of its next hops now, as a route to the address */
	FEED_NO_ROUTE,
	FEED_BLACKHOLE,
	FEED_REFUSED, /* unreachable or prohibited: the kernel tells the sender */
	/* It cannot: a VRF that is down, a group too large for an answer, or, with next-hop objects, no IPv6 route. */
	FEED_UNASKED,
};

/* Ask the kernel for its route to an address, for interfaces in a VRF or, NULL, for others, and wait. Where a VRF
 * has no route, the kernel goes on to main, which is no route here. Returns an answer or a negative errno. */
int feed_ask_route(struct feed *feed, struct kernel *kernel, const struct kernel_vrf *vrf,
		   uint8_t version, const uint8_t *address);

/* Take notifications, a few buffers at a time; *effect becomes their strongest. *count grows by them.
 * Returns 0, or -ENOBUFS: some are lost, or another negative errno. */
int feed_read_notified(struct feed *feed, struct kernel *kernel, enum kernel_effect *effect,
		       uint64_t *count);

/* Have the kernel ask for a neighbour's address, or find out whether it still has it. */
void feed_ask_neighbour(struct feed *feed, const struct compile_wish *wish);

#endif
