/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK's sample application l3fwd with --lookup=fib, of the package dpdk-doc, in the harness.
 *
 * Its path of a burst is as it is, from the parsing to the transmit buffers of two ports; so are the
 * kinds of its tables, with entries of 4 octets. In its favour: the type of a packet is known as if a
 * NIC had reported it, tables are as large as the routes need, it is handed up to 64 frames a poll
 * where its own loop polls for 32, and it counts neither frames nor octets. Buffers are drained once
 * in 256 frames. */
#ifndef BENCH_DPDK_L3FWD_H
#define BENCH_DPDK_L3FWD_H

#include "core/task.h"
#include "pktlib/routes.h"

/* Build its tables: the output of a next hop is its port. Exits if they do not fit. */
void dpdk_l3fwd_start(const struct routes *routes);

/* n = 0: send what waits. */
void dpdk_l3fwd_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n);

#endif
