/* SPDX-License-Identifier: Apache-2.0 */
/* Choose flows as a NIC with RSS spreads them over its queues.
 *
 * Rings between programs (vhost-user, virtio-user) have no RSS: each pair of queues is one ring. So
 * generators, one a queue, divide the flows of a stream as a NIC does: by the Toeplitz hash of
 * addresses and ports, with the key of all drivers' documentation, through a table of 128 entries
 * that name the queues in turn.
 */
#ifndef TASKS_GEN_RSS_H
#define TASKS_GEN_RSS_H

#include <stdint.h>

#include "pktlib/frame.h"

/* Return the queue, out of `queues`, of a flow of frames like these. */
uint16_t gen_rss_queue(const struct frame_template *t, const struct frame_spec *spec, uint32_t flow,
		       uint16_t queues);

#endif
