/* SPDX-License-Identifier: Apache-2.0 */
#include "router_builder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/reload.h"
#include "core/task.h"
#include "router_tables.h"

#define SECOND_NS UINT64_C(1000000000)
#define IFF_UP_FLAG 1u /* IFF_UP, whose header does not go with others */

uint64_t
builder_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void
set_stage(struct builder *builder, enum build_stage stage)
{
	pthread_mutex_lock(&builder->lock);
	if (builder->stage != BUILD_ENDING)
		builder->stage = stage;
	pthread_cond_signal(&builder->changed);
	pthread_mutex_unlock(&builder->lock);
}

enum build_stage
builder_stage(struct builder *builder)
{
	enum build_stage stage;

	pthread_mutex_lock(&builder->lock);
	stage = builder->stage;
	pthread_mutex_unlock(&builder->lock);
	return stage;
}

enum build_stage
builder_progress(struct builder *builder)
{
	uint64_t times;

	(void)!read(builder->event, &times, sizeof(times));
	return builder_stage(builder);
}

void
builder_begin(struct builder *builder, struct kernel *kernel)
{
	builder->kernel = kernel;
	set_stage(builder, BUILD_COMPILING);
}

void
builder_rest(struct builder *builder)
{
	set_stage(builder, BUILD_IDLE);
}

/* On the thread: a stage is reached. */
static void
report_stage(struct builder *builder, enum build_stage stage)
{
	const uint64_t one = 1;

	set_stage(builder, stage);
	/* It cannot fail: the counter is read long before it is full. */
	(void)!write(builder->event, &one, sizeof(one));
}

/* Addresses that frames to the router have, by interface. */
static void
read_macs(const struct kernel *kernel, uint64_t *macs)
{
	for (unsigned int i = 0; i < TASK_MAX_OUT; i++) {
		bool is_up = i < kernel->nb_links && (kernel->links[i].flags & IFF_UP_FLAG) != 0;

		macs[i] = is_up ? router_mac(kernel->links[i].mac) : ROUTER_DOWN;
	}
}

static void
build(struct builder *builder)
{
	struct router_tables *tables;
	uint64_t macs[TASK_MAX_OUT];
	struct routes routes;
	bool is_compiled;

	builder->error[0] = '\0';
	builder->is_built = false;
	is_compiled = compile(builder->kernel, &builder->ids, &routes, &builder->report);
	read_macs(builder->kernel, macs);
	report_stage(builder, BUILD_BUILDING);
	if (!is_compiled) {
		snprintf(builder->error, sizeof(builder->error), "out of memory");
		return;
	}
	tables = router_tables_make(builder->space, &routes, &builder->cancel, builder->error,
				    sizeof(builder->error));
	routes_free(&routes);
	if (tables == NULL)
		return;
	memcpy(tables->macs, macs, sizeof(macs));
	builder->is_built = reload_swap(builder->task, tables);
	if (!builder->is_built)
		router_tables_free(tables);
}

static void *
run(void *arg)
{
	struct builder *builder = arg;

	for (;;) {
		enum build_stage stage;
		uint64_t began;

		pthread_mutex_lock(&builder->lock);
		while (builder->stage != BUILD_COMPILING && builder->stage != BUILD_ENDING)
			pthread_cond_wait(&builder->changed, &builder->lock);
		stage = builder->stage;
		pthread_mutex_unlock(&builder->lock);
		if (stage == BUILD_ENDING)
			return NULL;
		began = builder_now_ns();
		build(builder);
		builder->took_ns = builder_now_ns() - began;
		report_stage(builder, BUILD_DONE);
	}
}

static void
release(struct builder *builder)
{
	if (builder->event >= 0)
		close(builder->event);
	hop_ids_close(&builder->ids);
	pthread_mutex_destroy(&builder->lock);
	pthread_cond_destroy(&builder->changed);
}

int
builder_open(struct builder *builder, struct task *task, struct router_space *space)
{
	int ret = 0;

	memset(builder, 0, sizeof(*builder));
	builder->task = task;
	builder->space = space;
	pthread_mutex_init(&builder->lock, NULL);
	pthread_cond_init(&builder->changed, NULL);
	hop_ids_open(&builder->ids);
	builder->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (builder->event < 0)
		ret = -errno;
	if (ret == 0)
		ret = -pthread_create(&builder->thread, NULL, run, builder);
	if (ret != 0)
		release(builder);
	return ret;
}

void
builder_close(struct builder *builder)
{
	atomic_store(&builder->cancel, true);
	set_stage(builder, BUILD_ENDING);
	pthread_join(builder->thread, NULL);
	release(builder);
}
