/* SPDX-License-Identifier: Apache-2.0 */
/* Inter-arrival jitter as RFC 3550 section 6.4.1 and appendix A.8 define it, in TSC cycles. */
#ifndef PKTLIB_JITTER_H
#define PKTLIB_JITTER_H

#include <stdbool.h>
#include <stdint.h>

struct jitter {
	bool started;
	int64_t transit; /* the last frame's */
	uint64_t scaled; /* 16 x the estimate: keeps the division exact to a cycle */
};

/* Add a frame by its transit time: J += (|D| - J) / 16. */
static inline void
jitter_add(struct jitter *jitter, int64_t transit)
{
	int64_t difference = transit - jitter->transit;

	if (__builtin_expect(!jitter->started, 0)) {
		jitter->started = true;
		difference = 0;
	}
	jitter->transit = transit;
	jitter->scaled +=
		(uint64_t)(difference < 0 ? -difference : difference) - ((jitter->scaled + 8) >> 4);
}

static inline uint64_t
jitter_cycles(const struct jitter *jitter)
{
	return jitter->scaled >> 4;
}

#endif
