/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "core/control.h"
#include "router_mirror_steps.h"
#include "router_neighbours.h"

/* A change that ends routes without a message is followed by others. After an address, daemons move their routes,
 * which a dump would hold up: it waits until they have, but not for ever. */
#define UNSURE_WAIT_NS UINT64_C(20000000)
#define DOUBT_WAIT_NS UINT64_C(200000000)
#define DOUBT_MOST_NS SECOND_NS

/* Notifications wait in their socket meanwhile. */
void
mirror_stop_listening(struct router_mirror *mirror)
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
	mirror_stop_listening(mirror);
	builder_begin(&mirror->builder, mirror->kernel);
}

/* Note whether the tables in force are of all that the kernel has reported; ends each callback. */
static void
note_step(struct router_mirror *mirror)
{
	enum build_stage stage = builder_stage(&mirror->builder);

	atomic_store(&mirror->in_step, mirror->builds > 0 && mirror->fresh == NULL &&
					       !mirror->is_unsure && !mirror->is_dirty &&
					       atomic_load(&mirror->nb_without) == 0 &&
					       (stage == BUILD_IDLE || stage == BUILD_SPARING));
}

/* Return whether tables are to be made of the state. */
static bool
may_build(const struct router_mirror *mirror)
{
	return mirror->is_dirty && !mirror->kernel->wants_dump;
}

/* Return whether new tables are to be tried for again, of the state as it is. */
static bool
may_try(const struct router_mirror *mirror)
{
	return mirror->builder.is_single && !mirror->builder.wants_spare &&
	       !mirror->kernel->wants_dump && builder_now_ns() >= mirror->builder.try_ns;
}

/* Begin to change the spare tables, if nothing but routes has changed and no dump is due. It costs by change, so there
 * is nothing to gain from waiting for more: those that come meanwhile are made together, next. */
static void
change_now(struct router_mirror *mirror)
{
	const struct builder *builder = &mirror->builder;
	uint64_t now = builder_now_ns();

	if (mirror->fresh != NULL || (mirror->is_unsure && now >= mirror->dump_ns))
		return;
	if (may_build(mirror) && !mirror->kernel->changes.is_all &&
	    builder_stage(&mirror->builder) == BUILD_IDLE && builder->can_change &&
	    !builder->wants_spare && now >= mirror->build_ns)
		begin_build(mirror);
}

void
mirror_notified(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum kernel_effect effect;
	int ret =
		feed_read_notified(&mirror->feed, mirror->kernel, &effect, &mirror->notifications);

	if (effect != KERNEL_SAME)
		mirror->is_dirty = true;
	if (effect == KERNEL_CHANGED && mirror->is_unsure)
		mirror_wait_dump(mirror, DOUBT_WAIT_NS);
	if (effect == KERNEL_DOUBTED)
		mirror_want_dump(mirror, DOUBT_WAIT_NS, DOUBT_MOST_NS);
	if (effect == KERNEL_UNSURE)
		mirror_want_dump(mirror, UNSURE_WAIT_NS, UNSURE_WAIT_NS);
	if (effect == KERNEL_NO_MEMORY)
		mirror_want_dump(mirror, SECOND_NS, SECOND_NS);
	if (ret != 0) {
		mirror->overruns++;
		mirror_want_dump(mirror, 0, 0);
	}
	refusals_say(&mirror->refusals, mirror->kernel, mirror->task->name);
	change_now(mirror);
	note_step(mirror);
}

void
mirror_listen(struct router_mirror *mirror)
{
	if (!mirror->is_listening)
		control_fd_add(mirror->task, feed_notified_fd(&mirror->feed), mirror_notified);
	mirror->is_listening = true;
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

/* Note whether there is memory for a second copy. */
static void
note_memory(struct router_mirror *mirror)
{
	const struct builder *builder = &mirror->builder;

	if (builder->is_single == atomic_load(&mirror->is_single))
		return;
	atomic_store(&mirror->is_single, builder->is_single);
	if (builder->is_single)
		fprintf(stderr,
			"wsdp: [task.%s] kernel: %s; without a second copy, changes are made in the "
			"tables in force\n",
			mirror->task->name, builder->error);
	else
		fprintf(stderr,
			"wsdp: [task.%s] kernel: there is memory for a second copy of the tables "
			"again\n",
			mirror->task->name);
}

/* Note what changes in the tables in force have come to. What has no room waits for a change, or for memory. */
static void
note_in_place(struct router_mirror *mirror)
{
	const struct builder *builder = &mirror->builder;

	if (builder->nb_without > 0 && atomic_load(&mirror->nb_without) == 0)
		fprintf(stderr,
			"wsdp: [task.%s] kernel: the tables in force have no room for %u routes; frames go "
			"by shorter prefixes\n",
			mirror->task->name, builder->nb_without);
	atomic_store(&mirror->nb_without, builder->nb_without);
	mirror->updates_in_place += builder->nb_changed > 0;
	mirror->in_place += builder->nb_changed;
}

/* New tables take as long whatever has changed: leave the CPU to others for as long. */
static void
end_build(struct router_mirror *mirror)
{
	const struct builder *builder = &mirror->builder;

	switch (builder->result) {
	case BUILD_NEW:
		mirror->builds++;
		atomic_store(&mirror->nb_without, 0);
		mirror->is_dirty |= builder->report.has_former;
		refusals_say_over(&mirror->refusals, &builder->report, mirror->task->name);
		mirror->build_ns = builder_now_ns() + builder->took_ns;
		break;
	case BUILD_CHANGED:
		mirror->updates++;
		mirror->updated += builder->nb_changed;
		break;
	case BUILD_FAILED:
		fail_build(mirror);
		mirror->build_ns = builder_now_ns() + SECOND_NS;
		break;
	case BUILD_IN_PLACE:
		note_in_place(mirror);
		refusals_say_over(&mirror->refusals, &builder->report, mirror->task->name);
		mirror->build_ns = builder_now_ns() + builder->took_ns;
		break;
	case BUILD_SPARED:
		break;
	case BUILD_AGAIN:
		mirror->is_dirty = true;
		break;
	}
	note_memory(mirror);
}

void
mirror_progressed(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum build_stage stage = builder_progress(&mirror->builder);

	if (stage != BUILD_BUILDING && stage != BUILD_DONE)
		return;
	if (!mirror->is_listening && mirror->fresh == NULL) {
		mirror->report = mirror->builder.report;
		neighbours_ask(&mirror->feed, mirror->kernel, &mirror->report);
		mirror_listen(mirror);
	}
	if (stage == BUILD_DONE) {
		end_build(mirror);
		builder_rest(&mirror->builder);
		change_now(mirror);
	}
	note_step(mirror);
}

void
mirror_build_due(struct router_mirror *mirror)
{
	if (builder_stage(&mirror->builder) != BUILD_IDLE || builder_now_ns() < mirror->build_ns)
		return;
	if (may_build(mirror) || may_try(mirror))
		begin_build(mirror);
	else if (mirror->builder.wants_spare)
		builder_begin(&mirror->builder, NULL);
}
