/* SPDX-License-Identifier: Apache-2.0 */
/* The reference SUT's arithmetic against a clock of our own: exact, to the frame and the cycle. */
#include <string.h>

#include "pktlib/check.h"
#include "tasks/impair_line.h"

#define TSC_HZ UINT64_C(2600000000)
#define NB_SLOTS 65536

static struct impair_slot slots[NB_SLOTS];

static struct impair_line
line_of(uint64_t rate_fps, uint64_t bucket_frames, uint64_t queue_frames, uint64_t delay_tsc)
{
	struct impair_line line = {.delay_tsc = delay_tsc, .queue_frames = queue_frames};

	token_bucket_init(&line.bucket, TSC_HZ, rate_fps, bucket_frames, 0);
	impair_line_init(&line, slots, NB_SLOTS);
	return line;
}

/* Let frames arrive in pairs, evenly, for `seconds`; return how many leave in that time. */
static uint64_t
forwarded(struct impair_line *line, uint64_t offered_fps, unsigned int seconds, uint64_t *dropped)
{
	uint64_t count = 0;
	void *frames[64];

	*dropped = 0;
	for (uint64_t k = 0; k < offered_fps * seconds; k++) {
		uint64_t now = (uint64_t)((unsigned __int128)(k / 2 * 2) * TSC_HZ / offered_fps);
		uint16_t n;

		*dropped += impair_line_arrive(line, line, now) != IMPAIR_TAKEN;
		while ((n = impair_line_depart(line, frames, 64, now)) > 0)
			count += n;
	}
	return count;
}

/* Rates that no clock divides: the long run must still be exact, to the bucket's depth. */
static void
test_rate_is_exact(void)
{
	static const uint64_t rates[] = {1, 3, 999, 14881, 999983, 1000000, 1488095};

	for (unsigned int i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct impair_line line = line_of(rates[i], 4, 16, 0);
		uint64_t dropped, offered = rates[i] * 2 + 100;
		uint64_t passed = forwarded(&line, offered, 3, &dropped);

		CHECK(passed >= rates[i] * 3 - 1);
		CHECK(passed <= rates[i] * 3 + 4);
		CHECK_EQ(passed + dropped + impair_line_held(&line), offered * 3);
	}
}

/* At its rate and below, nothing is lost; half a percent above, exactly the excess is. */
static void
test_knee_is_sharp(void)
{
	const uint64_t rate = 1000000, queue = 64, depth = 4;
	struct impair_line line = line_of(rate, depth, queue, 0);
	uint64_t dropped, offered = rate * 1005 / 1000, passed;

	CHECK(forwarded(&line, rate, 1, &dropped) >= rate - queue);
	CHECK_EQ(dropped, 0);
	line = line_of(rate, depth, queue, 0);
	passed = forwarded(&line, offered, 1, &dropped);
	CHECK(dropped >= offered - rate - queue - depth);
	CHECK(dropped <= offered - rate);
	CHECK_EQ(passed + dropped + impair_line_held(&line), offered);
}

static void
test_queue_and_bucket_depth(void)
{
	struct impair_line line = line_of(1000, 10, 5, 0);
	unsigned int taken = 0, full = 0;
	void *frames[64];

	/* All at once: the bucket lets 10 through, the queue keeps 5, the others are dropped. */
	for (unsigned int i = 0; i < 40; i++) {
		enum impair_verdict verdict = impair_line_arrive(&line, &line, 0);

		taken += verdict == IMPAIR_TAKEN;
		full += verdict == IMPAIR_QUEUE_FULL;
	}
	CHECK_EQ(taken, 15);
	CHECK_EQ(full, 25);
	CHECK_EQ(impair_line_depart(&line, frames, 64, 0), 10);
	CHECK_EQ(impair_line_held(&line), 5);
	/* One more each millisecond, not a cycle sooner. */
	for (uint64_t ms = 1; ms <= 5; ms++) {
		CHECK_EQ(impair_line_depart(&line, frames, 64, ms * TSC_HZ / 1000 - 1), 0);
		CHECK_EQ(impair_line_depart(&line, frames, 64, ms * TSC_HZ / 1000), 1);
	}
	/* No queue: a frame that cannot leave at once is dropped. */
	line = line_of(1000, 1, 0, 0);
	CHECK_EQ(impair_line_arrive(&line, &line, 0), IMPAIR_TAKEN);
	CHECK_EQ(impair_line_arrive(&line, &line, 0), IMPAIR_QUEUE_FULL);
	CHECK_EQ(impair_line_arrive(&line, &line, TSC_HZ / 1000), IMPAIR_TAKEN);
}

static void
test_delay_is_exact_and_in_order(void)
{
	const uint64_t delay = 12345;
	struct impair_line line = line_of(0, 1, 0, delay);
	char frames[10];
	void *out[2];

	for (unsigned int i = 0; i < 10; i++)
		CHECK_EQ(impair_line_arrive(&line, &frames[i], i * 100), IMPAIR_TAKEN);
	for (unsigned int i = 0; i < 10; i++) {
		CHECK_EQ(impair_line_depart(&line, out, 2, i * 100 + delay - 1), 0);
		CHECK_EQ(impair_line_depart(&line, out, 2, i * 100 + delay), 1);
		CHECK(out[0] == &frames[i]);
	}
	/* A shorter delay does not let later frames overtake. */
	CHECK_EQ(impair_line_arrive(&line, &frames[0], 100000), IMPAIR_TAKEN);
	line.delay_tsc = 0;
	CHECK_EQ(impair_line_arrive(&line, &frames[1], 100001), IMPAIR_TAKEN);
	CHECK_EQ(impair_line_depart(&line, out, 2, 100000 + delay - 1), 0);
	CHECK_EQ(impair_line_depart(&line, out, 2, 100000 + delay), 2);
	CHECK(out[0] == &frames[0] && out[1] == &frames[1]);
}

/* Rate and delay together: the delay starts when the frame leaves the queue. */
static void
test_delay_after_queue(void)
{
	struct impair_line line = line_of(1000, 1, 10, 500);
	void *out[4];

	for (unsigned int i = 0; i < 3; i++)
		CHECK_EQ(impair_line_arrive(&line, &line, 0), IMPAIR_TAKEN);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK_EQ(impair_line_depart(&line, out, 4, i * TSC_HZ / 1000 + 499), 0);
		CHECK_EQ(impair_line_depart(&line, out, 4, i * TSC_HZ / 1000 + 500), 1);
	}
}

static void
test_loss_every(void)
{
	struct impair_line line = line_of(0, 1, 0, 0);
	void *out[1];

	line.loss_every = 7;
	for (unsigned int i = 1; i <= 7000; i++) {
		CHECK_EQ(impair_line_arrive(&line, &line, i),
			 i % 7 == 0 ? IMPAIR_LOST : IMPAIR_TAKEN);
		CHECK_EQ(impair_line_depart(&line, out, 1, i), i % 7 != 0);
	}
}

static void
test_delay_full(void)
{
	struct impair_line line = line_of(0, 1, 0, 1000);

	for (unsigned int i = 0; i < NB_SLOTS; i++)
		CHECK_EQ(impair_line_arrive(&line, &line, 0), IMPAIR_TAKEN);
	CHECK_EQ(impair_line_arrive(&line, &line, 0), IMPAIR_DELAY_FULL);
	CHECK_EQ(impair_line_held(&line), NB_SLOTS);
	CHECK(impair_line_slots(1000, 25) == 2048 && impair_line_slots(1000, 24) == 1024);
}

/* A rate set while it runs holds at once, and keeps what the bucket has. */
static void
test_change_of_rate(void)
{
	struct impair_line line = line_of(1000, 1, 1000, 0);
	uint64_t dropped;

	CHECK(forwarded(&line, 2000, 1, &dropped) >= 999);
	while (impair_line_held(&line) > 0) {
		void *out[64];

		impair_line_depart(&line, out, 64, UINT64_MAX);
	}
	line.bucket.time = 0;
	token_bucket_change(&line.bucket, 5000, 1, 0);
	line.queue_frames = 0;
	CHECK(forwarded(&line, 10000, 1, &dropped) >= 4999);
	CHECK(dropped >= 4998 && dropped <= 5001);
}

/* Once in each period nothing is served for a while: what arrives then waits to its end, and beyond
 * the queue it is lost. What was served before goes on. */
static void
test_stalls(void)
{
	struct impair_line line = line_of(0, 1, 3, 0);
	const uint64_t period = 1000, stall = 100;
	void *frames[8];

	line.stall_from = 5000;
	line.stall_period = period;
	line.stall_tsc = stall;
	for (uint64_t stalled = 5900; stalled < 5900 + 3 * period; stalled += period) {
		CHECK_EQ(impair_line_arrive(&line, &line, stalled - 1), IMPAIR_TAKEN);
		CHECK_EQ(impair_line_depart(&line, frames, 8, stalled - 1), 1);
		for (unsigned int i = 0; i < 3; i++)
			CHECK_EQ(impair_line_arrive(&line, &line, stalled + 30 * i), IMPAIR_TAKEN);
		CHECK_EQ(impair_line_arrive(&line, &line, stalled + 99), IMPAIR_QUEUE_FULL);
		CHECK_EQ(impair_line_depart(&line, frames, 8, stalled + 99), 0);
		CHECK_EQ(impair_line_depart(&line, frames, 8, stalled + 100), 3);
		CHECK_EQ(impair_line_arrive(&line, &line, stalled + 100), IMPAIR_TAKEN);
		CHECK_EQ(impair_line_depart(&line, frames, 8, stalled + 100), 1);
	}
}

/* A frame whose turn comes in a stall waits as well, whenever it arrived. */
static void
test_stalls_in_the_queue(void)
{
	struct impair_line line = line_of(TSC_HZ / 100, 1, 8, 0);
	void *frames[2];

	line.stall_period = 1000;
	line.stall_tsc = 100;
	CHECK_EQ(impair_line_arrive(&line, &line, 850), IMPAIR_TAKEN);
	CHECK_EQ(impair_line_arrive(&line, &line, 850), IMPAIR_TAKEN);
	CHECK_EQ(impair_line_depart(&line, frames, 2, 999), 1);
	CHECK_EQ(impair_line_depart(&line, frames, 2, 1000), 1);
}

/* A stall takes its share of the rate: it is not made up for. */
static void
test_stalls_take_from_the_rate(void)
{
	const uint64_t rate = 1000000;
	struct impair_line line = line_of(rate, 1, 64, 0);
	uint64_t dropped, passed;

	line.stall_period = TSC_HZ / 100;
	line.stall_tsc = TSC_HZ / 1000;
	passed = forwarded(&line, 2 * rate, 1, &dropped);
	CHECK(passed >= rate * 9 / 10 - 100 && passed <= rate * 9 / 10 + 100);
	CHECK_EQ(passed + dropped + impair_line_held(&line), 2 * rate);
}

/* In a stall without a queue all is lost; a delay holds no place in it. */
static void
test_stalls_without_a_queue(void)
{
	struct impair_line line = line_of(0, 1, 0, 50);
	void *frame;

	line.stall_period = 1000;
	line.stall_tsc = 100;
	CHECK_EQ(impair_line_arrive(&line, &line, 890), IMPAIR_TAKEN);
	CHECK_EQ(impair_line_arrive(&line, &line, 910), IMPAIR_QUEUE_FULL);
	CHECK_EQ(impair_line_depart(&line, &frame, 1, 940), 1);
	CHECK_EQ(impair_line_arrive(&line, &line, 1000), IMPAIR_TAKEN);
	CHECK_EQ(impair_line_depart(&line, &frame, 1, 1050), 1);
}

int
main(void)
{
	test_rate_is_exact();
	test_knee_is_sharp();
	test_queue_and_bucket_depth();
	test_delay_is_exact_and_in_order();
	test_delay_after_queue();
	test_loss_every();
	test_delay_full();
	test_change_of_rate();
	test_stalls();
	test_stalls_in_the_queue();
	test_stalls_take_from_the_rate();
	test_stalls_without_a_queue();
	return 0;
}
