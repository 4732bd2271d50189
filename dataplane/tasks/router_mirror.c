/* SPDX-License-Identifier: Apache-2.0 */
#include "router_mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/control.h"
#include "core/telemetry_reply.h"
#include "router_builder.h"
#include "router_checker.h"
#include "router_neighbours.h"
#include "router_refusals.h"
#include "router_sampler.h"

#define SECOND_NS UINT64_C(1000000000)
/* A change that ends routes without a message is followed by others. */
#define UNSURE_WAIT_NS 20000000
#define BACKOFF_NS UINT64_C(10000000)
#define BACKOFF_MAX_NS (5 * SECOND_NS)
#define REFRESH_NS SECOND_NS
#define CATCH_UPS_MAX 32 /* readings before others have their turn */

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
	uint64_t dump_ns, build_ns, backoff_ns, refresh_ns;
	struct refusals refusals;
	struct compile_report report;
	uint64_t dumps, interrupted, overruns, notifications, builds, failures;
	uint64_t updates, updated; /* changes in a spare copy, and their routes */

	struct builder builder;
	struct checker checker; /* one client's at a time */
	struct sampler sampler;
};

static struct router_mirror *mirrors;

static struct router_mirror *
mirror_of(int fd)
{
	struct router_mirror *mirror = mirrors;

	while (mirror != NULL && fd != mirror->builder.event &&
	       fd != feed_notified_fd(&mirror->feed) && fd != feed_dumped_fd(&mirror->feed))
		mirror = mirror->next;
	return mirror;
}

static struct kernel *
new_kernel(const struct router_mirror *mirror)
{
	struct kernel *kernel = malloc(sizeof(*kernel));

	if (kernel != NULL)
		kernel_open(kernel, mirror->indexes, mirror->nb);
	return kernel;
}

static void
free_kernel(struct kernel *kernel)
{
	if (kernel != NULL)
		kernel_close(kernel);
	free(kernel);
}

static void
want_dump(struct router_mirror *mirror, uint64_t wait_ns)
{
	uint64_t due = builder_now_ns() + wait_ns;

	atomic_store(&mirror->in_step, false);
	if (!mirror->is_unsure || due < mirror->dump_ns)
		mirror->dump_ns = due;
	mirror->is_unsure = true;
}

/* Notifications wait in their socket meanwhile. */
static void
stop_listening(struct router_mirror *mirror)
{
	if (mirror->is_listening)
		control_fd_remove(feed_notified_fd(&mirror->feed));
	mirror->is_listening = false;
}

static void
begin_build(struct router_mirror *mirror)
{
	atomic_store(&mirror->in_step, false);
	mirror->is_dirty = false;
	stop_listening(mirror);
	builder_begin(&mirror->builder, mirror->kernel);
}

/* Note whether the tables in force are of all that the kernel has reported; ends each callback. */
static void
note_step(struct router_mirror *mirror)
{
	enum build_stage stage = builder_stage(&mirror->builder);

	atomic_store(&mirror->in_step, mirror->builds > 0 && mirror->fresh == NULL &&
					       !mirror->is_unsure && !mirror->is_dirty &&
					       (stage == BUILD_IDLE || stage == BUILD_SPARING));
}

/* Return whether tables are to be made of the state. */
static bool
may_build(const struct router_mirror *mirror)
{
	return mirror->is_dirty && !mirror->kernel->wants_dump;
}

/* Return whether nothing but routes has changed, which takes no longer than waiting for more. */
static bool
can_change_now(struct router_mirror *mirror)
{
	return may_build(mirror) && !mirror->kernel->changes.is_all &&
	       builder_stage(&mirror->builder) == BUILD_IDLE && mirror->builder.can_change &&
	       !mirror->builder.wants_spare && builder_now_ns() >= mirror->build_ns;
}

static void
notified(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum kernel_effect effect;
	int ret =
		feed_read_notified(&mirror->feed, mirror->kernel, &effect, &mirror->notifications);

	if (effect != KERNEL_SAME)
		mirror->is_dirty = true;
	if (effect == KERNEL_UNSURE)
		want_dump(mirror, UNSURE_WAIT_NS);
	if (effect == KERNEL_NO_MEMORY)
		want_dump(mirror, SECOND_NS);
	if (ret != 0) {
		mirror->overruns++;
		want_dump(mirror, 0);
	}
	refusals_say(&mirror->refusals, mirror->kernel, mirror->task->name);
	if (can_change_now(mirror))
		begin_build(mirror);
	note_step(mirror);
}

static void
listen_again(struct router_mirror *mirror)
{
	if (!mirror->is_listening)
		control_fd_add(mirror->task, feed_notified_fd(&mirror->feed), notified);
	mirror->is_listening = true;
}

static void
begin_dump(struct router_mirror *mirror)
{
	mirror->is_unsure = false;
	stop_listening(mirror);
	feed_drop_notified(&mirror->feed);
	mirror->fresh = new_kernel(mirror);
	if (mirror->fresh != NULL && feed_dump(&mirror->feed) == 0)
		return;
	free_kernel(mirror->fresh);
	mirror->fresh = NULL;
	want_dump(mirror, SECOND_NS);
}

static void
give_up_dump(struct router_mirror *mirror, enum feed_state state)
{
	mirror->interrupted++;
	if (state == FEED_FAILED)
		fprintf(stderr, "wsdp: [task.%s] kernel: its state cannot be read; trying again\n",
			mirror->task->name);
	free_kernel(mirror->fresh);
	mirror->fresh = NULL;
	mirror->backoff_ns = RTE_MIN(2 * mirror->backoff_ns + BACKOFF_NS, BACKOFF_MAX_NS);
	want_dump(mirror, state == FEED_FAILED ? BACKOFF_MAX_NS : mirror->backoff_ns);
}

/* Take what has changed since the dump began: it may have a route and not yet its next-hop object. */
static void
catch_up(struct router_mirror *mirror)
{
	uint64_t before = UINT64_MAX;

	for (int i = 0; i < CATCH_UPS_MAX && mirror->notifications != before; i++) {
		before = mirror->notifications;
		notified(mirror->task, feed_notified_fd(&mirror->feed));
	}
}

static void
dumped(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum feed_state state;

	if (mirror->fresh == NULL)
		return feed_drop_dumped(&mirror->feed);
	state = feed_read_dump(&mirror->feed, mirror->fresh);
	if (state == FEED_WAITS)
		return;
	if (state != FEED_ENDED)
		return give_up_dump(mirror, state);
	free_kernel(mirror->kernel);
	mirror->kernel = mirror->fresh;
	mirror->fresh = NULL;
	mirror->backoff_ns = 0;
	mirror->dumps++;
	mirror->is_dirty = true;
	listen_again(mirror);
	catch_up(mirror);
}

static void
fail_build(struct router_mirror *mirror)
{
	if (mirror->builder.error[0] == '\0')
		return; /* wsdp is stopping */
	if (mirror->failures++ == 0)
		fprintf(stderr, "wsdp: [task.%s] kernel: %s; the former tables stay in force\n",
			mirror->task->name, mirror->builder.error);
	mirror->is_dirty = true;
}

/* A second copy is tried for once. */
static void
say_single(const struct router_mirror *mirror)
{
	if (mirror->builder.is_single)
		fprintf(stderr,
			"wsdp: [task.%s] kernel: %s; without a second copy each change takes as "
			"long as new tables\n",
			mirror->task->name, mirror->builder.error);
}

static void
end_build(struct router_mirror *mirror)
{
	const struct builder *builder = &mirror->builder;

	switch (builder->result) {
	case BUILD_NEW:
		mirror->builds++;
		mirror->is_dirty |= builder->report.has_former;
		refusals_say_over(&mirror->refusals, &builder->report, mirror->task->name);
		break;
	case BUILD_CHANGED:
		mirror->updates++;
		mirror->updated += builder->nb_changed;
		break;
	case BUILD_FAILED:
		fail_build(mirror);
		break;
	case BUILD_SPARED:
		return say_single(mirror);
	case BUILD_AGAIN:
		mirror->is_dirty = true;
		return say_single(mirror);
	}
	/* Leave the CPU to others for half of the time. */
	mirror->build_ns =
		builder_now_ns() + (builder->result == BUILD_FAILED ? SECOND_NS : builder->took_ns);
}

static void
progressed(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum build_stage stage = builder_progress(&mirror->builder);

	if (stage != BUILD_BUILDING && stage != BUILD_DONE)
		return;
	if (!mirror->is_listening && mirror->fresh == NULL) {
		mirror->report = mirror->builder.report;
		neighbours_ask(&mirror->feed, mirror->kernel, &mirror->report);
		listen_again(mirror);
	}
	if (stage == BUILD_DONE) {
		end_build(mirror);
		builder_rest(&mirror->builder);
	}
	note_step(mirror);
}

void
mirror_tick(struct router_mirror *mirror)
{
	enum build_stage stage = builder_stage(&mirror->builder);
	uint64_t now = builder_now_ns();

	if (stage == BUILD_COMPILING || mirror->fresh != NULL)
		return;
	if (mirror->is_unsure && now >= mirror->dump_ns)
		return begin_dump(mirror);
	if (mirror->kernel == NULL)
		return;
	if (now >= mirror->refresh_ns) {
		mirror->refresh_ns = now + REFRESH_NS;
		neighbours_refresh(&mirror->feed, mirror->kernel);
		neighbours_ask(&mirror->feed, mirror->kernel, &mirror->report);
		if (atomic_load(&mirror->in_step))
			sampler_run(&mirror->sampler, mirror->kernel);
	}
	if (stage != BUILD_IDLE || now < mirror->build_ns)
		return;
	if (may_build(mirror))
		begin_build(mirror);
	else if (mirror->builder.wants_spare)
		builder_begin(&mirror->builder, NULL);
}

static void
release(struct router_mirror *mirror)
{
	feed_close(&mirror->feed);
	checker_close(&mirror->checker);
	sampler_close(&mirror->sampler);
	free_kernel(mirror->kernel);
	free_kernel(mirror->fresh);
	free(mirror);
}

static void
unserve(struct router_mirror *mirror)
{
	struct router_mirror **link = &mirrors;

	stop_listening(mirror);
	control_fd_remove(feed_dumped_fd(&mirror->feed));
	control_fd_remove(mirror->builder.event);
	while (*link != mirror)
		link = &(*link)->next;
	*link = mirror->next;
}

static int
serve(struct router_mirror *mirror)
{
	int ret;

	mirror->next = mirrors;
	mirrors = mirror;
	ret = control_fd_add(mirror->task, feed_dumped_fd(&mirror->feed), dumped);
	if (ret == 0)
		ret = control_fd_add(mirror->task, mirror->builder.event, progressed);
	if (ret != 0)
		unserve(mirror);
	return ret;
}

/* Returns 0 or a negative errno, with nothing but sockets open. */
static int
start(struct router_mirror *mirror, uint32_t buffer_bytes)
{
	int ret = feed_open(&mirror->feed, buffer_bytes);

	if (ret == 0)
		ret = checker_open(&mirror->checker, mirror->task->name, mirror->space,
				   mirror->indexes, mirror->names, mirror->nb);
	if (ret == 0)
		ret = sampler_open(&mirror->sampler, mirror->task->name, mirror->space,
				   mirror->indexes, mirror->names, mirror->nb);
	if (ret == 0)
		ret = builder_open(&mirror->builder, mirror->task, mirror->space);
	if (ret != 0)
		return ret;
	ret = serve(mirror);
	if (ret == 0)
		begin_dump(mirror);
	else
		builder_close(&mirror->builder);
	return ret;
}

struct router_mirror *
mirror_open(struct task *task, struct router_space *space, const uint32_t *indexes,
	    const char *const *names, unsigned int nb, uint32_t buffer_bytes)
{
	struct router_mirror *mirror = calloc(1, sizeof(*mirror));
	int ret;

	if (mirror == NULL)
		return NULL;
	mirror->task = task;
	mirror->space = space;
	mirror->nb = nb;
	memcpy(mirror->indexes, indexes, nb * sizeof(*indexes));
	memcpy(mirror->names, names, nb * sizeof(*names));
	ret = start(mirror, buffer_bytes);
	if (ret == 0)
		return mirror;
	fprintf(stderr, "wsdp: [task.%s] kernel: its routes cannot be followed: %s\n", task->name,
		strerror(-ret));
	release(mirror);
	return NULL;
}

void
mirror_close(struct router_mirror *mirror)
{
	unserve(mirror);
	builder_close(&mirror->builder);
	release(mirror);
}

void
mirror_stats(const struct router_mirror *mirror, struct telemetry_out *out)
{
	telemetry_u64(out, "in_step", atomic_load(&mirror->in_step));
	telemetry_u64(out, "dumps", mirror->dumps);
	telemetry_u64(out, "dumps_interrupted", mirror->interrupted);
	telemetry_u64(out, "notifications", mirror->notifications);
	telemetry_u64(out, "notifications_lost", mirror->overruns);
	telemetry_u64(out, "builds", mirror->builds);
	telemetry_u64(out, "build_failures", mirror->failures);
	telemetry_u64(out, "updates", mirror->updates);
	telemetry_u64(out, "updated_routes", mirror->updated);
	telemetry_u64(out, "spare_tables", mirror->space->spare != NULL);
	sampler_stats(&mirror->sampler, out);
	neighbours_stats(&mirror->report, out);
	telemetry_u64(out, "routes_by_kernel", atomic_load(&mirror->space->current)->nb_by_kernel);
	if (mirror->kernel != NULL)
		refusals_stats(mirror->kernel, out);
}

int
mirror_check(struct router_mirror *mirror, const char *path, const atomic_bool *cancel,
	     struct telemetry_out *out)
{
	return checker_run(&mirror->checker, path, cancel, out);
}
