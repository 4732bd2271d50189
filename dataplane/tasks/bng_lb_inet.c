/* SPDX-License-Identifier: Apache-2.0 */
/* bng_lb_inet: spread the network's frames over workers, by their GRE key modulo the number of
 * outputs. What has no key where one belongs (ARP, damaged frames) goes to worker 0, which judges. */
#include <rte_prefetch.h>

#include "bng_send.h"
#include "bng_worker.h"
#include "core/task.h"

static void
bng_lb_inet_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	uint32_t workers = task->nb_out;
	uint8_t outputs[TASK_BURST];

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		outputs[i] = 0;
		if (likely(bng_down_has_headers(frame, mbufs[i]->data_len)))
			outputs[i] = bng_key_of(frame) % workers;
	}
	bng_scatter(task, mbufs, outputs, n);
}

static const struct task_ops bng_lb_inet = {
	.name = "bng_lb_inet",
	.takes_input = true,
	.max_out = BNG_MAX_OUT,
	.handle = bng_lb_inet_handle,
};

TASK_REGISTER(bng_lb_inet)
