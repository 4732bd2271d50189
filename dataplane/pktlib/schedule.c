/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

bool
schedule_can_pace(uint64_t rate_ufps, uint64_t tsc_hz)
{
	return rate_ufps < (uint128)tsc_hz * RATE_SCALE;
}

uint64_t
schedule_frames_intended(uint64_t rate_ufps, uint64_t duration_ns)
{
	uint128 unit = (uint128)NANOS_PER_S * RATE_SCALE;

	return (uint64_t)(((uint128)rate_ufps * duration_ns + unit / 2) / unit);
}

/* The frames that fall due within span_ns, at least one and at most a burst. */
static uint16_t
group_of(const struct load *load)
{
	uint128 unit = (uint128)NANOS_PER_S * RATE_SCALE;
	uint64_t frames = (uint64_t)((uint128)load->rate_ufps * load->span_ns / unit);

	if (frames < 1)
		return 1;
	return frames < load->burst ? (uint16_t)frames : load->burst;
}

void
schedule_start(struct schedule *schedule, const struct load *load, const struct tsc_clock *clock,
	       uint64_t now)
{
	uint128 scaled_hz = (uint128)clock->hz * RATE_SCALE;

	*schedule = (struct schedule){
		.start = now,
		.end = UINT64_MAX,
		.intended = UINT64_MAX,
		.group = load->burst,
		.burst = load->burst,
		.paced = load->rate_ufps != 0,
	};
	if (load->duration_ns != 0)
		schedule->end = now + tsc_clock_cycles(clock, load->duration_ns);
	if (!schedule->paced)
		return;
	schedule->frames_per_cycle = (uint64_t)(((uint128)load->rate_ufps << 64) / scaled_hz);
	schedule->group = group_of(load);
	schedule->allowance = tsc_clock_cycles(clock, load->catchup_ns) +
			      (uint64_t)(schedule->group * scaled_hz / load->rate_ufps);
	if (load->duration_ns != 0)
		schedule->intended = schedule_frames_intended(load->rate_ufps, load->duration_ns);
}

static uint16_t
next_unpaced(const struct schedule *schedule, uint64_t now)
{
	return now >= schedule->end ? 0 : schedule->burst;
}

/* Give up the frames that were due before what may be caught up with. */
static void
give_up(struct schedule *schedule, uint64_t now)
{
	uint64_t done = schedule->offered + schedule->unsent;
	uint64_t too_late;

	if (now - schedule->start <= schedule->allowance)
		return;
	too_late = schedule_due(schedule, now - schedule->allowance);
	if (too_late > done)
		schedule->unsent += too_late - done;
}

uint16_t
schedule_next(struct schedule *schedule, uint64_t now)
{
	uint64_t due;
	uint64_t ready;

	if (!schedule->paced)
		return next_unpaced(schedule, now);
	due = schedule_due(schedule, now);
	if (due <= schedule->offered + schedule->unsent)
		return 0;
	ready = due - schedule->offered - schedule->unsent;
	if (ready < schedule->group && now < schedule->end)
		return 0;
	give_up(schedule, now);
	ready = due - schedule->offered - schedule->unsent;
	return ready < schedule->burst ? (uint16_t)ready : schedule->burst;
}

bool
schedule_done(const struct schedule *schedule, uint64_t now)
{
	if (!schedule->paced)
		return now >= schedule->end;
	return schedule->offered + schedule->unsent == schedule->intended;
}
