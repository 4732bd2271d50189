/* SPDX-License-Identifier: Apache-2.0 */
/* Sample how fast CPUs are.
 *
 * On each of them a thread wakes up every few milliseconds, with priority over pollers, and does a
 * fixed amount of work. Other users of the core make it take longer. In a virtual machine nothing
 * else shows this: a neighbour on the core's other thread takes up to half of the core, without
 * steal time and without a counter in the guest.
 *
 * The probe keeps samples and does not judge them: the caller knows the shortest time of the
 * work.
 */
#ifndef WSDP_CONTENTION_PROBE_H
#define WSDP_CONTENTION_PROBE_H

#include <stdint.h>

#define CONTENTION_CPUS_MAX 64

/* Begin on these CPUs after after_ns, for duration_ns, with a sample every period_ns. -EBUSY: it
 * runs already; -EINVAL: a CPU twice, none, or too many; -EPERM: this process may not use real-time
 * priority; or why a thread cannot run on one of the CPUs. */
int contention_probe_start(const uint32_t *cpus, unsigned int count, uint64_t after_ns,
			   uint64_t duration_ns, uint64_t period_ns);

/* Wait for its end, write the samples to a file and forget them: the format of
 * docs/reference/wsdp.md, without CPUs when none was started. Returns 0 or a negative errno, -EBUSY
 * where another thread waits for it already. */
int contention_probe_finish(const char *path);

#endif
