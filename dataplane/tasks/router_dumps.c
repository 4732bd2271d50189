/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "core/control.h"
#include "router_mirror_steps.h"

#define BACKOFF_NS UINT64_C(10000000)
#define BACKOFF_MAX_NS (5 * SECOND_NS)
#define CATCH_UPS_MAX 32 /* readings before others have their turn */

static struct kernel *
new_kernel(const struct router_mirror *mirror)
{
	struct kernel *kernel = malloc(sizeof(*kernel));

	if (kernel != NULL)
		kernel_open(kernel, mirror->indexes, mirror->nb);
	return kernel;
}

void
mirror_free_kernel(struct kernel *kernel)
{
	if (kernel != NULL)
		kernel_close(kernel);
	free(kernel);
}

void
mirror_want_dump(struct router_mirror *mirror, uint64_t wait_ns, uint64_t most_ns)
{
	uint64_t now = builder_now_ns();

	atomic_store(&mirror->in_step, false);
	if (!mirror->is_unsure || now + wait_ns < mirror->dump_ns)
		mirror->dump_ns = now + wait_ns;
	if (!mirror->is_unsure || now + most_ns < mirror->dump_most_ns)
		mirror->dump_most_ns = now + most_ns;
	mirror->is_unsure = true;
}

void
mirror_wait_dump(struct router_mirror *mirror, uint64_t wait_ns)
{
	uint64_t due = RTE_MIN(builder_now_ns() + wait_ns, mirror->dump_most_ns);

	mirror->dump_ns = RTE_MAX(mirror->dump_ns, due);
}

void
mirror_begin_dump(struct router_mirror *mirror)
{
	mirror->is_unsure = false;
	mirror_stop_listening(mirror);
	feed_drop_notified(&mirror->feed);
	mirror->fresh = new_kernel(mirror);
	if (mirror->fresh != NULL && feed_dump(&mirror->feed) == 0)
		return;
	mirror_free_kernel(mirror->fresh);
	mirror->fresh = NULL;
	mirror_want_dump(mirror, SECOND_NS, SECOND_NS);
}

static void
give_up_dump(struct router_mirror *mirror, enum feed_state state)
{
	uint64_t wait_ns;

	mirror->interrupted++;
	if (state == FEED_FAILED)
		fprintf(stderr, "wsdp: [task.%s] kernel: its state cannot be read; trying again\n",
			mirror->task->name);
	mirror_free_kernel(mirror->fresh);
	mirror->fresh = NULL;
	mirror->backoff_ns = RTE_MIN(2 * mirror->backoff_ns + BACKOFF_NS, BACKOFF_MAX_NS);
	wait_ns = state == FEED_FAILED ? BACKOFF_MAX_NS : mirror->backoff_ns;
	mirror_want_dump(mirror, wait_ns, wait_ns);
}

/* Take what has changed since the dump began: it may have a route and not yet its next-hop object. */
static void
catch_up(struct router_mirror *mirror)
{
	uint64_t before = UINT64_MAX;

	for (int i = 0; i < CATCH_UPS_MAX && mirror->notifications != before; i++) {
		before = mirror->notifications;
		mirror_notified(mirror->task, feed_notified_fd(&mirror->feed));
	}
}

void
mirror_dumped(struct task *task __rte_unused, int fd)
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
	mirror_free_kernel(mirror->kernel);
	mirror->kernel = mirror->fresh;
	mirror->fresh = NULL;
	mirror->backoff_ns = 0;
	mirror->dumps++;
	mirror->is_dirty = true;
	mirror_listen(mirror);
	catch_up(mirror);
}
