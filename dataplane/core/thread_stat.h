/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's scheduler did to a thread of this process. */
#ifndef WSDP_THREAD_STAT_H
#define WSDP_THREAD_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_stat {
	uint64_t involuntary_switches; /* it wanted to go on and was taken off its CPU */
	uint64_t wait_ns;              /* it was runnable and waited for a CPU */
	uint32_t cpu;                  /* it ran there last */
};

/* Read /proc/self/task/TID/{status,schedstat,stat}. Returns 0 or a negative errno; -ENOTSUP when
 * the kernel keeps no such statistics. */
int thread_stat_read(pid_t tid, struct thread_stat *stat);

#endif
