/* SPDX-License-Identifier: Apache-2.0 */
/* Measure what two CPUs share: a core, a cache, or neither.
 *
 * Frames pass from CPU to CPU in cache lines, so a path's rate depends on it. In a virtual machine
 * it changes at run time without notice: the hypervisor places two CPUs on two threads of one core,
 * on two cores, or on two chips.
 */
#ifndef WSDP_CPU_PLACEMENT_H
#define WSDP_CPU_PLACEMENT_H

#include <stdint.h>

struct cpu_placement {
	uint64_t core_to_core_ns; /* how long a cache line takes, one way */
	uint64_t slowdown_pct;    /* time for work that both do at once, of that for work alone: 100
				     on two cores, about 150 on two threads of one */
};

/* Both by the median of some batches, so that interruptions do not count. Takes some milliseconds of
 * the CPUs, before everything else that runs on them where this process may ask for that. Returns 0
 * or a negative errno: -EINVAL no such two CPUs for this process, -ETIMEDOUT they were not to be
 * had. */
int cpu_placement_measure(uint32_t a, uint32_t b, struct cpu_placement *placement);

#endif
