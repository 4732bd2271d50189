/* SPDX-License-Identifier: Apache-2.0 */
/* Pacing on a made-up clock: exact counts, no drift, and lateness that is reported. */
#include <stdlib.h>

#include "check.h"
#include "jitter.h"
#include "schedule.h"

#define HZ UINT64_C(2600000123)
#define START UINT64_C(0xfff0000000000000) /* far up, so that sums that overflow show */

static const struct load one_second = {
	.rate_ufps = UINT64_C(14880952380952), /* 10 Gbit/s of 64 octets */
	.duration_ns = NANOS_PER_S,
	.catchup_ns = 1000000,
	.span_ns = 2000,
	.burst = 32,
};

struct run {
	struct schedule schedule;
	uint64_t now;
	uint64_t bursts;
};

/* Poll every `step` cycles (with `noise` more, at random) until done. */
static struct run
play(const struct load *load, uint64_t step, uint64_t noise)
{
	struct tsc_clock clock = tsc_clock_of(HZ);
	struct run run = {.now = START};

	schedule_start(&run.schedule, load, &clock, run.now);
	while (!schedule_done(&run.schedule, run.now)) {
		uint16_t n = schedule_next(&run.schedule, run.now);

		CHECK(n <= load->burst);
		run.bursts += n > 0;
		schedule_offered(&run.schedule, n);
		run.now += step + (noise != 0 ? (uint64_t)rand() % noise : 0);
	}
	return run;
}

static void
check_closes(const struct run *run, const struct load *load)
{
	CHECK_EQ(run->schedule.intended,
		 schedule_frames_intended(load->rate_ufps, load->duration_ns));
	CHECK_EQ(run->schedule.offered + run->schedule.unsent, run->schedule.intended);
}

static void
test_every_rate_is_exact(void)
{
	static const uint64_t rates_ufps[] = {
		1, 333333, 1000000, 1500000, 999999999, UINT64_C(14880952380952),
	};

	for (unsigned int i = 0; i < sizeof(rates_ufps) / sizeof(*rates_ufps); i++) {
		struct load load = one_second;
		struct run run;

		load.rate_ufps = rates_ufps[i];
		run = play(&load, 1000, 300);
		check_closes(&run, &load);
		CHECK_EQ(run.schedule.unsent, 0);
		/* Done when the time is up, not earlier and not a burst later. */
		CHECK(run.now - START + 1300 * 2 >= HZ * (run.schedule.intended > 0) / 2);
		CHECK(run.now - START <= HZ + 2 * 1300);
	}
}

static void
test_intended_rounds(void)
{
	CHECK_EQ(schedule_frames_intended(1500000, NANOS_PER_S), 2);
	CHECK_EQ(schedule_frames_intended(1499999, NANOS_PER_S), 1);
	CHECK_EQ(schedule_frames_intended(UINT64_C(14880952380952), 60 * NANOS_PER_S), 892857143);
	CHECK_EQ(schedule_frames_intended(UINT64_C(1000000000000000), 86400 * NANOS_PER_S),
		 UINT64_C(86400000000000));
}

/* At any time of a day-long run, due is the exact quotient, or at most a cycle behind it. */
static void
test_no_drift(void)
{
	struct tsc_clock clock = tsc_clock_of(HZ);
	struct load load = one_second;
	struct schedule schedule;

	load.duration_ns = 0;
	schedule_start(&schedule, &load, &clock, START);
	for (uint64_t t = 1; t < 86400 * HZ; t += t / 7 + 1) {
		uint128 scale = (uint128)HZ * RATE_SCALE;
		uint64_t exact = (uint64_t)((uint128)t * load.rate_ufps / scale);
		uint64_t due = schedule_due(&schedule, START + t);

		CHECK(due == exact || schedule_due(&schedule, START + t + 1) >= exact);
		CHECK(due <= exact);
	}
}

/* A stall shorter than catch-up time costs nothing; what a longer one costs is exact. */
static void
check_stall(uint64_t stall_ns, uint64_t expected_unsent)
{
	struct tsc_clock clock = tsc_clock_of(HZ);
	struct load load = one_second;
	struct run run = {.now = START};
	bool stalled = false;

	load.rate_ufps = 1000000 * RATE_SCALE; /* one a us */
	load.duration_ns = NANOS_PER_S / 100;
	schedule_start(&run.schedule, &load, &clock, run.now);
	while (!schedule_done(&run.schedule, run.now)) {
		schedule_offered(&run.schedule, schedule_next(&run.schedule, run.now));
		run.now += 100;
		if (!stalled && run.now - START > HZ / 1000) {
			stalled = true;
			run.now += tsc_clock_cycles(&clock, stall_ns);
		}
	}
	check_closes(&run, &load);
	CHECK(run.schedule.unsent + 4 >= expected_unsent);
	CHECK(run.schedule.unsent <= expected_unsent + 4);
	if (expected_unsent == 0)
		CHECK_EQ(run.schedule.unsent, 0);
}

static void
test_stalls(void)
{
	check_stall(500000, 0);
	check_stall(990000, 0);
	check_stall(3000000, 2000);
	check_stall(50000000, 9000); /* far past the end: all that were left */
}

static void
test_too_slow_a_generator(void)
{
	struct load load = one_second;
	struct run run;

	load.duration_ns = NANOS_PER_S / 10;
	run = play(&load, 32 * 350, 0); /* half the rate */
	check_closes(&run, &load);
	CHECK(run.schedule.unsent > run.schedule.intended / 3);
	CHECK(run.now - START < HZ / 10 + HZ / 500);
}

static void
test_groups(void)
{
	struct load load = one_second;
	struct run run;

	load.duration_ns = NANOS_PER_S / 10;
	load.rate_ufps = 1000000 * RATE_SCALE;
	load.span_ns = 5000;
	run = play(&load, 100, 0);
	CHECK_EQ(run.bursts, 100000 / 5);
	load.span_ns = 0;
	run = play(&load, 100, 0);
	CHECK_EQ(run.bursts, 100000);
	load.span_ns = 1000000;
	run = play(&load, 100, 0);
	CHECK_EQ(run.bursts, 100000 / 32);
}

static void
test_as_fast_as_possible(void)
{
	struct load load = one_second;
	struct run run;

	load.rate_ufps = 0;
	run = play(&load, 1000, 0);
	CHECK_EQ(run.schedule.offered, (HZ + 999) / 1000 * 32);
	schedule_stop(&run.schedule);
	CHECK_EQ(run.schedule.intended, run.schedule.offered);
}

static void
test_limits(void)
{
	CHECK(schedule_can_pace(UINT64_C(1000000000000000), HZ));
	CHECK(!schedule_can_pace(HZ * RATE_SCALE, HZ));
}

/* RFC 3550 appendix A.8: constant transit settles at 0, an alternation of d at about d. */
static void
test_jitter(void)
{
	struct jitter jitter = {.started = false};

	for (unsigned int i = 0; i < 1000; i++)
		jitter_add(&jitter, 5000);
	CHECK_EQ(jitter_cycles(&jitter), 0);
	for (unsigned int i = 0; i < 1000; i++)
		jitter_add(&jitter, i % 2 ? 5000 : 5160);
	CHECK(jitter_cycles(&jitter) >= 159 && jitter_cycles(&jitter) <= 160);
	jitter = (struct jitter){.started = false};
	jitter_add(&jitter, -70);
	CHECK_EQ(jitter_cycles(&jitter), 0);
	jitter_add(&jitter, 90); /* |D| = 160, J = 160 / 16 */
	CHECK_EQ(jitter_cycles(&jitter), 10);
}

static void
test_clock(void)
{
	struct tsc_clock clock = tsc_clock_of(HZ);

	CHECK_EQ(tsc_clock_cycles(&clock, NANOS_PER_S), HZ);
	for (uint64_t s = 1; s <= 100; s++) {
		uint64_t ns = tsc_clock_ns(&clock, s * HZ);

		CHECK(ns <= s * NANOS_PER_S && ns + 1 >= s * NANOS_PER_S);
	}
}

int
main(void)
{
	srand(1);
	test_every_rate_is_exact();
	test_intended_rounds();
	test_no_drift();
	test_stalls();
	test_too_slow_a_generator();
	test_groups();
	test_as_fast_as_possible();
	test_limits();
	test_jitter();
	test_clock();
	return 0;
}
