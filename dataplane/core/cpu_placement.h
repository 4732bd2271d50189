/* SPDX-License-Identifier: Apache-2.0 */
/* What do two CPUs share: a core, a cache, or neither?
 *
 * Frames pass from CPU to CPU in cache lines, so what a path forwards hangs on it. In a virtual
 * machine it changes while the machine runs: the hypervisor puts its CPUs now on two threads of one
 * core, now on two cores, now on two chips, and nothing in the machine says so.
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
