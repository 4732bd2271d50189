/* SPDX-License-Identifier: Apache-2.0 */
/* Are these CPUs as fast as they can be?
 *
 * On each of them a thread wakes up every few milliseconds, before whatever polls there, and does a
 * piece of work that always costs the same. What else uses the core makes it take longer. In a
 * virtual machine there is no other way to know: another one on the core's other thread takes up to
 * half of what the core can do, and neither steal nor any counter in the guest shows it.
 */
#ifndef WSDP_PULSE_H
#define WSDP_PULSE_H

#include <stdint.h>

#define PULSE_CPUS_MAX 64
#define PULSE_REMEMBERS 16

struct pulse_figures {
	uint32_t cpu;
	uint64_t beats;      /* how often it woke up */
	uint64_t slow_beats; /* those whose work took over 4% more than it did undisturbed */
	uint64_t work_ns;    /* a tenth of all took no longer */
	uint64_t ran_ns;     /* what all this has taken from the CPU */
};

/* What work takes undisturbed is what it took in the fastest tenth of this watch or of one of the
 * PULSE_REMEMBERS before, whichever is less: a core that is shared all the time gives no such tenth
 * itself, and a clock that has changed to stay is known after some watches.
 *
 * Begin on these CPUs after so many ns, for so many. -EBUSY: it runs already; -EINVAL: a CPU twice,
 * none, or too many; -EPERM: real-time priority is not for this process; or why a thread cannot
 * run on one of them. */
int pulse_start(const uint32_t *cpus, unsigned int count, uint64_t after_ns, uint64_t duration_ns);

/* Wait for its end and get `figures` for each CPU: their number, 0 when none was started. */
unsigned int pulse_finish(struct pulse_figures figures[PULSE_CPUS_MAX]);

#endif
