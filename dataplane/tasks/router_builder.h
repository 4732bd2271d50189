/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that makes tables of the kernel's state and puts them in force, next to those that are. */
#ifndef WSDP_ROUTER_BUILDER_H
#define WSDP_ROUTER_BUILDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mirror/compile.h"

struct router_space;
struct task;

/* Only while it compiles does it read the state of the kernel, which then is its own. */
enum build_stage { BUILD_IDLE, BUILD_COMPILING, BUILD_BUILDING, BUILD_DONE, BUILD_ENDING };

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
	struct kernel *kernel;

	/* Results: from BUILD_BUILDING on, the others from BUILD_DONE on. */
	struct compile_report report;
	bool is_built;
	uint64_t took_ns;
	char error[256];
};

/* Returns 0 or a negative errno, with nothing left. */
int builder_open(struct builder *builder, struct task *task, struct router_space *space);
void builder_close(struct builder *builder);

/* Where it is idle: begin. */
void builder_begin(struct builder *builder, struct kernel *kernel);
enum build_stage builder_stage(struct builder *builder);
/* Empty the event, then return the stage: one that follows is another event. */
enum build_stage builder_progress(struct builder *builder);
/* Results have been read. */
void builder_rest(struct builder *builder);

uint64_t builder_now_ns(void);

#endif
