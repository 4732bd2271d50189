/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that makes tables of the kernel's state and puts them in force, next to those that are: new ones,
 * or, where nothing but routes has changed, the spare ones with these changes, which then are made in the
 * former tables, too. */
#ifndef WSDP_ROUTER_BUILDER_H
#define WSDP_ROUTER_BUILDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mirror/compile.h"

struct router_space;
struct task;

/* Only while it compiles does it read the state of the kernel, which then is its own. BUILD_SPARING: a spare
 * copy of the tables in force is made. */
enum build_stage {
	BUILD_IDLE,
	BUILD_SPARING,
	BUILD_COMPILING,
	BUILD_BUILDING,
	BUILD_DONE,
	BUILD_ENDING
};

/* What came of it. */
enum build_result {
	BUILD_FAILED,  /* see error */
	BUILD_NEW,     /* new tables are in force */
	BUILD_CHANGED, /* changes of routes are */
	BUILD_SPARED,  /* there is a spare copy, or there is no memory for one */
	BUILD_AGAIN,   /* changes could not be made: only new tables can have them */
	BUILD_IN_PLACE /* changes are made in the tables in force: see is_single */
};

struct builder {
	struct task *task;
	struct router_space *space;
	int event; /* can be read after each stage */
	pthread_t thread;
	pthread_mutex_t lock; /* of the stage */
	pthread_cond_t changed;
	enum build_stage stage;
	atomic_bool cancel;
	struct hop_ids ids;
	struct kernel *kernel; /* NULL: make a spare copy */

	/* The thread's. Routes of the tables in force, whose list is there until there are spare ones. */
	struct routes routes;
	bool has_routes;

	/* Results: from BUILD_BUILDING on, the others from BUILD_DONE on. */
	struct compile_report report;
	enum build_result result;
	uint32_t nb_changed; /* routes, of BUILD_CHANGED and BUILD_IN_PLACE */
	uint32_t nb_without; /* routes for which the tables have no room; of BUILD_IN_PLACE */
	bool can_change;     /* routes in a spare copy */
	bool wants_spare;    /* a copy first */
	/* There is no memory for a second copy: see error. New tables are tried for again from try_ns on. */
	bool is_single;
	uint64_t try_ns, try_wait_ns;
	uint64_t took_ns;
	char error[256];
};

/* Returns 0 or a negative errno, with nothing left. */
int builder_open(struct builder *builder, struct task *task, struct router_space *space);
void builder_close(struct builder *builder);

/* Where it is idle: begin. kernel: NULL to make a spare copy of the tables in force. */
void builder_begin(struct builder *builder, struct kernel *kernel);
enum build_stage builder_stage(struct builder *builder);
/* Empty the event, then return the stage: one that follows is another event. */
enum build_stage builder_progress(struct builder *builder);
/* Results have been read. */
void builder_rest(struct builder *builder);

uint64_t builder_now_ns(void);

#endif
