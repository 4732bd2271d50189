/* SPDX-License-Identifier: Apache-2.0 */
#include "router_builder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/reload.h"
#include "core/slice.h"
#include "core/task.h"
#include "router_in_place.h"
#include "router_tables_change.h"

#define SECOND_NS UINT64_C(1000000000)
/* Tables without memory for them may have taken seconds. */
#define TRY_WAIT_MAX_NS (64 * SECOND_NS)

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
	set_stage(builder, kernel == NULL ? BUILD_SPARING : BUILD_COMPILING);
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

/* Forget the routes, and the spare tables that go with them. */
static void
forget_routes(struct builder *builder)
{
	struct router_tables *spare;

	reload_hold();
	spare = router_space_take_spare(builder->space);
	reload_release();
	router_tables_free(spare);
	if (builder->has_routes)
		routes_free(&builder->routes);
	builder->has_routes = false;
}

/* Make new tables of the routes, with these interfaces. Where there is no memory for the room that is wished for, they
 * and all later ones do without. */
static struct router_tables *
make_tables(struct builder *builder, const struct router_links *links)
{
	struct router_space *space = builder->space;
	struct router_tables *tables = router_tables_make(space, &builder->routes, &builder->cancel,
							  builder->error, sizeof(builder->error));

	if (tables == NULL && (space->least[0] > 0 || space->least[1] > 0) &&
	    !atomic_load(&builder->cancel)) {
		memset(space->least, 0, sizeof(space->least));
		builder->error[0] = '\0';
		tables = router_tables_make(space, &builder->routes, &builder->cancel,
					    builder->error, sizeof(builder->error));
	}
	if (tables == NULL || router_links_copy(&tables->links, links, space->socket_id))
		return tables;
	snprintf(builder->error, sizeof(builder->error), "no memory for interfaces");
	router_tables_free(tables);
	return NULL;
}

/* Note whether there was memory for a second copy of the tables. */
static void
note_memory(struct builder *builder, bool is_single)
{
	builder->is_single = is_single;
	builder->try_wait_ns =
		is_single ? RTE_MIN(2 * builder->try_wait_ns + SECOND_NS, (uint64_t)TRY_WAIT_MAX_NS)
			  : 0;
	builder->try_ns = builder_now_ns() + builder->try_wait_ns;
}

/* Have the tables in force answer by the routes, with these interfaces. */
static enum build_result
change_in_place(struct builder *builder, struct router_links *links)
{
	size_t used = strlen(builder->error);
	struct in_place_report report;
	int ret =
		router_in_place(builder->space, &builder->routes, links, &builder->cancel, &report);

	builder->nb_changed = report.changed;
	builder->nb_without = report.without_room;
	if (ret != 0)
		snprintf(builder->error + used, sizeof(builder->error) - used,
			 "%sthe tables in force cannot be changed: %s", used == 0 ? "" : "; ",
			 strerror(-ret));
	return ret == 0 ? BUILD_IN_PLACE : BUILD_FAILED;
}

/* Put the routes in force, with these interfaces: in new tables, or, without memory for them, in those that are
 * there. */
static enum build_result
put_in_force(struct builder *builder, struct router_links *links)
{
	struct router_tables *tables = NULL;

	if (!builder->is_single || builder_now_ns() >= builder->try_ns) {
		tables = make_tables(builder, links);
		if (tables == NULL)
			note_memory(builder, true);
	}
	if (tables == NULL && !atomic_load(&builder->cancel))
		return change_in_place(builder, links);
	if (tables != NULL && reload_swap(builder->task, tables))
		return BUILD_NEW;
	router_tables_free(tables);
	return BUILD_FAILED;
}

/* Make all anew. The memory of a spare copy is for the new tables. */
static enum build_result
build_new(struct builder *builder)
{
	enum build_result result = BUILD_FAILED;
	struct router_links links;
	bool is_read;

	forget_routes(builder);
	builder->has_routes =
		compile(builder->kernel, &builder->ids, &builder->routes, &builder->report);
	kernel_forget_changes(builder->kernel);
	is_read = router_links_read(&links, builder->kernel, builder->space->socket_id);
	report_stage(builder, BUILD_BUILDING);
	if (builder->has_routes && is_read)
		result = put_in_force(builder, &links);
	else
		snprintf(builder->error, sizeof(builder->error), "out of memory");
	router_links_close(&links);
	if (result != BUILD_NEW)
		forget_routes(builder);
	return result;
}

/* Make a spare copy of the tables in force. Without memory for it, changes are made in these. */
static enum build_result
make_spare(struct builder *builder)
{
	const struct router_tables *current = atomic_load(&builder->space->current);
	struct router_tables *spare = make_tables(builder, &current->links);

	free(builder->routes.list);
	builder->routes.list = NULL;
	builder->routes.nb_routes = 0;
	note_memory(builder, spare == NULL);
	if (builder->is_single)
		forget_routes(builder);
	reload_hold();
	builder->space->spare = spare;
	reload_release();
	return BUILD_SPARED;
}

/* Put tables in force and take back the former ones. NULL: somebody may still read these, or `tables` are not
 * in force. */
static struct router_tables *
exchange(struct builder *builder, struct router_tables *tables, bool *is_swapped)
{
	struct router_space *space = builder->space;
	struct router_tables *former;

	reload_hold();
	space->kept = atomic_load(&space->current);
	reload_release();
	*is_swapped = reload_swap(builder->task, tables);
	reload_hold();
	space->kept = NULL;
	former = router_space_take_spare(space);
	reload_release();
	return former;
}

/* Make changes in the spare tables, put them in force, and make the changes in the former ones. */
static enum build_result
change_tables(struct builder *builder, const struct route *list, uint32_t nb)
{
	struct router_space *space = builder->space;
	struct router_tables *spare, *former;
	bool is_swapped;

	reload_hold();
	spare = router_space_take_spare(space);
	reload_release();
	if (spare == NULL || router_tables_change(spare, &builder->routes, list, nb) != 0) {
		router_tables_free(spare);
		forget_routes(builder);
		return BUILD_AGAIN;
	}
	former = exchange(builder, spare, &is_swapped);
	if (!is_swapped)
		router_tables_free(spare);
	builder->nb_changed = nb;
	if (former == NULL || router_tables_change(former, &builder->routes, list, nb) != 0) {
		router_tables_free(former);
		forget_routes(builder);
		return is_swapped ? BUILD_CHANGED : BUILD_FAILED;
	}
	reload_hold();
	space->spare = former;
	reload_release();
	return BUILD_CHANGED;
}

static enum build_result
build(struct builder *builder)
{
	enum build_result result;
	struct route *list;
	uint32_t nb;

	builder->error[0] = '\0';
	if (builder->kernel == NULL)
		return make_spare(builder);
	if (!builder->has_routes ||
	    !compile_changes(builder->kernel, &builder->ids, &builder->routes, &builder->report,
			     &list, &nb))
		return build_new(builder);
	kernel_forget_changes(builder->kernel);
	report_stage(builder, BUILD_BUILDING);
	if (builder->routes.list != NULL)
		make_spare(builder);
	result = change_tables(builder, list, nb);
	free(list);
	return result;
}

static void *
run(void *arg)
{
	struct builder *builder = arg;

	/* Without it, each turn begins later; no more depends on it. */
	(void)slice_shorten(true);
	for (;;) {
		enum build_stage stage;
		uint64_t began;

		pthread_mutex_lock(&builder->lock);
		while (builder->stage != BUILD_COMPILING && builder->stage != BUILD_SPARING &&
		       builder->stage != BUILD_ENDING)
			pthread_cond_wait(&builder->changed, &builder->lock);
		stage = builder->stage;
		pthread_mutex_unlock(&builder->lock);
		if (stage == BUILD_ENDING)
			return NULL;
		began = builder_now_ns();
		builder->result = build(builder);
		builder->took_ns = builder_now_ns() - began;
		builder->can_change = builder->has_routes;
		builder->wants_spare = builder->has_routes && builder->routes.list != NULL;
		report_stage(builder, BUILD_DONE);
	}
}

static void
release(struct builder *builder)
{
	if (builder->event >= 0)
		close(builder->event);
	if (builder->has_routes)
		routes_free(&builder->routes);
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
