/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a router that follow the kernel's: read at first whole, then by notifications, on the main
 * thread. Another thread makes new tables next to those in force, or changes routes in a spare copy of them:
 * routes at once, and those that come meanwhile together after them; anything else once a tick, and no
 * sooner after new tables than these took. */
#ifndef WSDP_ROUTER_MIRROR_H
#define WSDP_ROUTER_MIRROR_H

#include <stdint.h>

#include "core/task.h"
#include "router_tables.h"

struct router_mirror;

/* On the main thread, in the network namespace to follow. indexes: of the interfaces, by output. NULL after
 * a message on stderr. */
struct router_mirror *
mirror_open(struct task *task, struct router_space *space, const uint32_t *indexes,
	    const char *const *names, unsigned int nb, uint32_t buffer_bytes);
void mirror_close(struct router_mirror *mirror);

/* Some milliseconds have passed. */
void mirror_tick(struct router_mirror *mirror);
void mirror_stats(const struct router_mirror *mirror, struct telemetry_out *out);
/* See struct task_ops. */
int mirror_check(struct router_mirror *mirror, const char *path, const atomic_bool *cancel,
		 struct telemetry_out *out);

#endif
