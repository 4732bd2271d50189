/* SPDX-License-Identifier: Apache-2.0 */
#include "router_mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/control.h"
#include "core/slice.h"
#include "core/telemetry_reply.h"
#include "router_mirror_steps.h"
#include "router_neighbours.h"

#define REFRESH_NS SECOND_NS

static struct router_mirror *mirrors;

struct router_mirror *
mirror_of(int fd)
{
	struct router_mirror *mirror = mirrors;

	while (mirror != NULL && fd != mirror->builder.event &&
	       fd != feed_notified_fd(&mirror->feed) && fd != feed_dumped_fd(&mirror->feed))
		mirror = mirror->next;
	return mirror;
}

void
mirror_tick(struct router_mirror *mirror)
{
	enum build_stage stage = builder_stage(&mirror->builder);
	uint64_t now = builder_now_ns();

	if (stage == BUILD_COMPILING || mirror->fresh != NULL)
		return;
	if (mirror->is_unsure && now >= mirror->dump_ns)
		return mirror_begin_dump(mirror);
	if (mirror->kernel == NULL)
		return;
	if (now >= mirror->refresh_ns) {
		mirror->refresh_ns = now + REFRESH_NS;
		neighbours_refresh(&mirror->feed, mirror->kernel);
		neighbours_ask(&mirror->feed, mirror->kernel, &mirror->report);
		if (atomic_load(&mirror->in_step))
			sampler_run(&mirror->sampler, mirror->kernel);
	}
	mirror_build_due(mirror);
}

static void
release(struct router_mirror *mirror)
{
	feed_close(&mirror->feed);
	checker_close(&mirror->checker);
	sampler_close(&mirror->sampler);
	mirror_free_kernel(mirror->kernel);
	mirror_free_kernel(mirror->fresh);
	free(mirror);
}

static void
unserve(struct router_mirror *mirror)
{
	struct router_mirror **link = &mirrors;

	mirror_stop_listening(mirror);
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

	(void)slice_shorten(true); /* see router_builder.c */
	mirror->next = mirrors;
	mirrors = mirror;
	ret = control_fd_add(mirror->task, feed_dumped_fd(&mirror->feed), mirror_dumped);
	if (ret == 0)
		ret = control_fd_add(mirror->task, mirror->builder.event, mirror_progressed);
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
		mirror_begin_dump(mirror);
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

/* What memory for one copy of the tables means. */
static void
memory_stats(const struct router_mirror *mirror, struct telemetry_out *out)
{
	telemetry_u64(out, "in_place", atomic_load(&mirror->is_single));
	telemetry_u64(out, "routes_without_room", atomic_load(&mirror->nb_without));
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
	telemetry_u64(out, "updates_in_place", mirror->updates_in_place);
	telemetry_u64(out, "updated_routes_in_place", mirror->in_place);
	memory_stats(mirror, out);
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
	int ret = checker_run(&mirror->checker, path, cancel, out);

	if (ret == 0)
		memory_stats(mirror, out);
	return ret;
}
