/* SPDX-License-Identifier: Apache-2.0 */
/* Send the frames of a burst: to the output of their port or number, to the slow path, or
 * nowhere. */
#ifndef TASKS_BNG_SEND_H
#define TASKS_BNG_SEND_H

#include <stdint.h>

#include "core/task.h"
#include "pktlib/bng/verdict.h"

struct bng_settings;

/* Frames of a burst that are not simply forwarded. */
struct bng_aside {
	uint16_t nb;
	struct rte_mbuf *mbufs[TASK_BURST];
	uint8_t verdicts[TASK_BURST];
};

static inline void
bng_set_aside(struct bng_aside *aside, struct rte_mbuf *mbuf, enum bng_verdict verdict)
{
	aside->mbufs[aside->nb] = mbuf;
	aside->verdicts[aside->nb++] = (uint8_t)verdict;
}

/* Count what was set aside, and discard it or send it to the slow path. `arp` is called for ARP
 * frames, and owns them. */
void bng_worker_settle(struct task *task, const struct bng_settings *settings,
		       const struct bng_aside *aside, uint64_t *verdicts,
		       void (*arp)(struct task *task, struct rte_mbuf *mbuf));

/* Send each frame to the output of its port. */
void bng_worker_send(struct task *task, uint32_t nb_forward, struct rte_mbuf **mbufs,
		     const uint8_t *ports, uint16_t n);

/* Send each frame to the output of its number; TASK_MAX_OUT: discard it. */
void bng_scatter(struct task *task, struct rte_mbuf **mbufs, const uint8_t *outputs, uint16_t n);

#endif
