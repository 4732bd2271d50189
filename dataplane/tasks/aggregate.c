/* SPDX-License-Identifier: Apache-2.0 */
/* aggregate: from many rings to one port, in full bursts. Frames that do not fill a burst wait for
 * more until the lcore has come round once without any: a port's send is paid for by the call. */
#include <string.h>

#include "core/task.h"

struct aggregate {
	struct rte_mbuf *waiting[TASK_BURST];
};

static int
aggregate_init(struct task *task, const struct config_section *section __rte_unused)
{
	task->wants_idle = true;
	return 0;
}

static void
flush(struct task *task)
{
	struct aggregate *aggregate = task->priv;
	uint16_t n = (uint16_t)task->stats.held;

	task->stats.held = 0;
	task_send(task, 0, aggregate->waiting, n);
}

static void
aggregate_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct aggregate *aggregate = task->priv;

	if (n == 0 && task->stats.held > 0)
		flush(task);
	while (n > 0) {
		uint16_t held = (uint16_t)task->stats.held;
		uint16_t taken = RTE_MIN(n, (uint16_t)(TASK_BURST - held));

		memcpy(&aggregate->waiting[held], mbufs, taken * sizeof(*mbufs));
		task->stats.held += taken;
		mbufs += taken;
		n -= taken;
		if (task->stats.held == TASK_BURST)
			flush(task);
	}
}

static void
aggregate_close(struct task *task)
{
	struct aggregate *aggregate = task->priv;

	rte_pktmbuf_free_bulk(aggregate->waiting, (unsigned int)task->stats.held);
}

static const struct task_ops aggregate = {
	.name = "aggregate",
	.private_size = sizeof(struct aggregate),
	.takes_input = true,
	.max_out = 1,
	.init = aggregate_init,
	.handle = aggregate_handle,
	.close = aggregate_close,
};

TASK_REGISTER(aggregate)
