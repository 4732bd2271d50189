/* SPDX-License-Identifier: Apache-2.0 */
/* How fast are these CPUs, time and again?
 *
 * On each of them a thread wakes up every few milliseconds, before whatever polls there, and does a
 * piece of work that always costs the same. What else uses the core makes it take longer. In a
 * virtual machine there is no other way to know: another one on the core's other thread takes up to
 * half of what the core can do, and neither steal nor any counter in the guest shows it.
 *
 * The probe keeps samples and judges none: what the work takes at best, another knows.
 */
#ifndef WSDP_CONTENTION_PROBE_H
#define WSDP_CONTENTION_PROBE_H

#include <stdint.h>

#define CONTENTION_CPUS_MAX 64

/* Begin on these CPUs after so many ns, for so many, and sample once in period_ns. -EBUSY: it runs
 * already; -EINVAL: a CPU twice, none, or too many; -EPERM: real-time priority is not for this
 * process; or why a thread cannot run on one of them. */
int contention_probe_start(const uint32_t *cpus, unsigned int count, uint64_t after_ns,
			   uint64_t duration_ns, uint64_t period_ns);

/* Wait for its end, write the samples to a file and forget them: the format of
 * docs/reference/wsdp.md, without CPUs when none was started. Returns 0 or a negative errno, -EBUSY
 * where another thread waits for it already. */
int contention_probe_finish(const char *path);

#endif
