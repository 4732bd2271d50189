/* SPDX-License-Identifier: Apache-2.0 */
/* io: hand every frame on unchanged, as testpmd's io mode does. */
#include "core/task.h"

static void
io_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	task_send(task, 0, mbufs, n);
}

static const struct task_ops io = {
	.name = "io",
	.takes_input = true,
	.max_out = 1,
	.handle = io_handle,
};

TASK_REGISTER(io)
