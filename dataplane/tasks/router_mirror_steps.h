/* SPDX-License-Identifier: Apache-2.0 */
/* Of the mirror's own files: what it knows, and its steps. All run on the main thread. */
#ifndef WSDP_ROUTER_MIRROR_STEPS_H
#define WSDP_ROUTER_MIRROR_STEPS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "router_builder.h"
#include "router_mirror.h"
#include "router_refusals.h"
#include "router_sampler.h"

#define SECOND_NS UINT64_C(1000000000)

struct router_mirror {
	struct task *task;
	struct router_space *space;
	unsigned int nb;
	uint32_t indexes[TASK_MAX_OUT];
	const char *names[TASK_MAX_OUT];
	struct router_mirror *next;

	/* The main thread's. */
	struct feed feed;
	struct kernel *kernel; /* NULL before the first dump has ended */
	struct kernel *fresh;  /* of the dump that is under way */
	bool is_listening;     /* notifications are served */
	bool is_dirty;         /* the state has changed since it was compiled; see may_build */
	bool is_unsure;        /* a dump is wanted, from dump_ns on */
	/* See note_step. For who asks while the main thread goes from one of these to the next. */
	atomic_bool in_step;
	/* Of the builder, for who asks: changes are made in the tables in force, and what these have no room for. */
	atomic_bool is_single;
	_Atomic uint32_t nb_without;
	uint64_t dump_ns, dump_most_ns, build_ns, backoff_ns, refresh_ns;
	struct refusals refusals;
	struct compile_report report;
	uint64_t dumps, interrupted, overruns, notifications, builds, failures;
	uint64_t updates, updated;           /* changes in a spare copy, and their routes */
	uint64_t updates_in_place, in_place; /* changes in the tables in force, and their routes */

	struct builder builder;
	struct checker checker; /* one client's at a time */
	struct sampler sampler;
};

/* Return the mirror that a descriptor belongs to. */
struct router_mirror *mirror_of(int fd);

/* router_dumps.c. kernel: may be NULL. */
void mirror_free_kernel(struct kernel *kernel);
/* Have the state read whole: after wait_ns, or later where mirror_wait_dump puts it off, but within most_ns. */
void mirror_want_dump(struct router_mirror *mirror, uint64_t wait_ns, uint64_t most_ns);
/* Put a dump that is wanted off, until wait_ns from now if it may wait so long. */
void mirror_wait_dump(struct router_mirror *mirror, uint64_t wait_ns);
void mirror_begin_dump(struct router_mirror *mirror);
/* For control_fd_add: some of a dump has come. */
void mirror_dumped(struct task *task, int fd);

/* router_changes.c: when changes become tables. */
void mirror_listen(struct router_mirror *mirror);
void mirror_stop_listening(struct router_mirror *mirror);
/* For control_fd_add: notifications have come. */
void mirror_notified(struct task *task, int fd);
/* For control_fd_add: the builder has reached a stage. */
void mirror_progressed(struct task *task, int fd);
/* Begin what is due, if the builder is idle. */
void mirror_build_due(struct router_mirror *mirror);

#endif
