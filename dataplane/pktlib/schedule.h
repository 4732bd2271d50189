/* SPDX-License-Identifier: Apache-2.0 */
/* Pace a run: compute when each frame is due, free of drift and exact to the frame.
 *
 * Frame k (from 1) is due k / rate after the start. Frames due are computed from the time since the
 * start, not from the time since the last poll, so errors never add up; the number intended over
 * the whole run is round(rate x duration), from integers. A frame that could not be offered within
 * catch-up time of its due time is `unsent`. At the end of a run offered + unsent == intended.
 *
 * Frames are handed over in bursts: as soon as `group` of them are due, and all that are due up to
 * `burst`. The group is the burst that the rate fills within `span_ns`, so that no frame waits
 * longer than that for company.
 */
#ifndef PKTLIB_SCHEDULE_H
#define PKTLIB_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "tsc_clock.h"

#define RATE_SCALE UINT64_C(1000000) /* rates are counted in millionths of a frame/s */
#define LOAD_DURATION_MAX_NS (UINT64_C(366) * 86400 * NANOS_PER_S)
#define LOAD_AFTER_MAX_NS NANOS_PER_S /* how long before its first frame a run may be started */

struct load {
	uint64_t rate_ufps;   /* 10^-6 frames/s; 0: as fast as possible */
	uint64_t duration_ns; /* 0: until stopped */
	uint64_t catchup_ns;
	uint64_t span_ns;
	uint16_t burst;
};

struct schedule {
	uint64_t start;            /* TSC */
	uint64_t end;              /* TSC; UINT64_MAX: never */
	uint64_t frames_per_cycle; /* fixed point, 64 fractional bits */
	uint64_t allowance; /* cycles a frame may be late: catch-up time and the group's wait */
	uint64_t intended;  /* UINT64_MAX while there is no end to it */
	uint64_t offered;
	uint64_t unsent;
	uint16_t group;
	uint16_t burst;
	bool paced;
};

/* Return whether a clock of this frequency can pace this rate: less than one frame a cycle. */
bool schedule_can_pace(uint64_t rate_ufps, uint64_t tsc_hz);

/* round(rate x duration), halves up. */
uint64_t schedule_frames_intended(uint64_t rate_ufps, uint64_t duration_ns);

void schedule_start(struct schedule *schedule, const struct load *load,
		    const struct tsc_clock *clock, uint64_t now);

/* Frames due at `now`; never more than intended. */
static inline uint64_t
schedule_due(const struct schedule *schedule, uint64_t now)
{
	if (now >= schedule->end)
		return schedule->intended;
	return (uint64_t)(((uint128)(now - schedule->start) * schedule->frames_per_cycle) >> 64);
}

/* Return how many frames to hand over now, 0..burst; count as unsent what is too late. */
uint16_t schedule_next(struct schedule *schedule, uint64_t now);

/* n of these were handed over, taken or refused; one may be before it is due. */
static inline void
schedule_offered(struct schedule *schedule, uint16_t n)
{
	schedule->offered += n;
}

/* Return whether every frame has been offered or given up. `now` ends a run without a rate. */
bool schedule_done(const struct schedule *schedule, uint64_t now);

/* The run ends here: nothing more was intended than was offered or given up. */
static inline void
schedule_stop(struct schedule *schedule)
{
	schedule->intended = schedule->offered + schedule->unsent;
}

#endif
