/* SPDX-License-Identifier: Apache-2.0 */
/* The IP packets of a burst by version: destinations in a row, so that one call looks up all. */
#ifndef WSDP_IP_BURST_H
#define WSDP_IP_BURST_H

#include <string.h>

#include "core/task.h"
#include "fib.h"
#include "pktlib/ip_forward.h"

struct ip_burst {
	uint32_t v4[TASK_BURST];
	uint8_t v6[TASK_BURST][16];
	uint64_t values[TASK_BURST];
	uint8_t at4[TASK_BURST], at6[TASK_BURST]; /* whose the addresses are */
	uint16_t n4, n6;
	uint64_t value_of[TASK_BURST]; /* by frame of the burst, of those that were added */
};

static inline void
ip_burst_begin(struct ip_burst *burst)
{
	burst->n4 = burst->n6 = 0; /* an initializer would clear all of it */
}

/* Look up the destination of a frame that ip_judge has seen: number i of the burst. */
static inline void
ip_burst_add(struct ip_burst *burst, const uint8_t *frame, uint8_t version, uint8_t i)
{
	if (version == 4) {
		burst->at4[burst->n4] = i;
		burst->v4[burst->n4++] = ip_destination_v4(frame);
	} else {
		burst->at6[burst->n6] = i;
		memcpy(burst->v6[burst->n6++], ip_destination_v6(frame), 16);
	}
}

static inline void
ip_burst_look_up(struct ip_burst *burst, const struct fib *fib)
{
	if (burst->n4 > 0) {
		fib_lookup_v4(fib, burst->v4, burst->values, burst->n4);
		for (uint16_t i = 0; i < burst->n4; i++)
			burst->value_of[burst->at4[i]] = burst->values[i];
	}
	if (burst->n6 > 0) {
		fib_lookup_v6(fib, burst->v6, burst->values, burst->n6);
		for (uint16_t i = 0; i < burst->n6; i++)
			burst->value_of[burst->at6[i]] = burst->values[i];
	}
}

/* Send frames by the outputs of their hops. */
static inline void
ip_burst_send(struct task *task, struct rte_mbuf **mbufs, const uint8_t *outs, uint16_t n)
{
	if (n > 0 && task->nb_out == 1)
		task_send(task, 0, mbufs, n);
	else if (n > 0)
		task_send_each(task, mbufs, outs, n);
}

#endif
