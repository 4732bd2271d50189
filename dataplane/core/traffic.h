/* SPDX-License-Identifier: Apache-2.0 */
/* Whether traffic of this process's own generators is under way.
 *
 * How long an lcore was away from its queues matters while frames flow. Before and after, control
 * requests take the CPU where it is shared, and that is no disturbance of what is measured. A
 * process without generators cannot know, and counts always.
 */
#ifndef WSDP_TRAFFIC_H
#define WSDP_TRAFFIC_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_uint traffic_generators; /* those that the process has */
extern atomic_uint traffic_senders;    /* those that are sending now */

static inline bool
traffic_matters(void)
{
	return atomic_load_explicit(&traffic_generators, memory_order_relaxed) == 0 ||
	       atomic_load_explicit(&traffic_senders, memory_order_relaxed) != 0;
}

#endif
