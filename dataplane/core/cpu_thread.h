/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that measure a CPU: each runs on just one, before what polls there. */
#ifndef WSDP_CPU_THREAD_H
#define WSDP_CPU_THREAD_H

#include <pthread.h>
#include <stdint.h>

#define CPU_THREAD_INHERIT 0 /* no real-time priority: that of the caller */

/* fifo_priority: under SCHED_FIFO, or CPU_THREAD_INHERIT. cpu: below CPU_SETSIZE. 0 or a negative
 * errno: -EPERM real-time priority is not for this process, -EINVAL the CPU is not. */
int cpu_thread_start(pthread_t *thread, uint32_t cpu, int fifo_priority, void *(*run)(void *),
		     void *arg);

#endif
