/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sequence.h"

#define FLOWS 1000000

static struct sequence_tracker tracker;

static void
start(uint32_t flows)
{
	free(tracker.state);
	sequence_init(&tracker, flows, malloc(sequence_state_bytes(flows)));
}

static void
add(uint32_t flow, uint32_t sequence)
{
	if (sequence_add(&tracker, flow, sequence) == SEQUENCE_NEXT)
		sequence_count_in_order(&tracker, 1);
}

static void
add_all(const uint32_t *sequence, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		add(0, sequence[i]);
}

static void
check_counts(uint64_t received, uint64_t lost, uint64_t duplicated, uint64_t reordered)
{
	CHECK_EQ(tracker.counts.received, received);
	CHECK_EQ(sequence_lost(&tracker.counts), lost);
	CHECK_EQ(tracker.counts.duplicated, duplicated);
	CHECK_EQ(tracker.counts.reordered, reordered);
}

#define ADD(...) \
	add_all((uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void
test_in_order(void)
{
	start(1);
	ADD(0, 1, 2, 3);
	check_counts(4, 0, 0, 0);
}

static void
test_gaps_are_lost(void)
{
	start(1);
	ADD(2, 3, 7);
	check_counts(3, 5, 0, 0);
}

/* RFC 4737 section 3.3: a frame is reordered when it is below the next expected number. */
static void
test_reordered_is_not_lost(void)
{
	start(1);
	ADD(0, 2, 3, 1, 4);
	check_counts(5, 0, 0, 1);
}

static void
test_duplicates(void)
{
	start(1);
	ADD(0, 0, 1, 4, 2, 2, 4, 1);
	/* 3 never came; 0, 2, 4 and 1 came twice. */
	check_counts(4, 1, 4, 1);
}

static void
test_window_slides(void)
{
	start(1);
	for (uint32_t s = 0; s < 10 * tracker.window; s++)
		if (s % 3 != 0)
			add(0, s);
	CHECK_EQ(tracker.counts.duplicated, 0);
	/* All of the last window's numbers: those missing arrive now, the others again. */
	for (uint32_t s = 9 * tracker.window; s < 10 * tracker.window; s++)
		add(0, s);
	CHECK_EQ(tracker.counts.too_late, 0);
	CHECK_EQ(tracker.counts.duplicated + tracker.counts.reordered + 1, tracker.window);
	CHECK_EQ(tracker.counts.reordered, tracker.window / 3);
}

static void
test_older_than_the_window(void)
{
	start(1);
	ADD(5000, 5000 - 1023, 5000 - 1024);
	CHECK_EQ(tracker.counts.received, 2);
	CHECK_EQ(tracker.counts.reordered, 1);
	CHECK_EQ(tracker.counts.too_late, 1);
	CHECK_EQ(sequence_lost(&tracker.counts), 4999);
}

static void
test_numbers_wrap(void)
{
	start(1);
	sequence_reset(&tracker, false);
	ADD(UINT32_MAX - 1, UINT32_MAX, 1, 0, UINT32_MAX);
	check_counts(4, 0, 1, 1);
}

static void
test_begins_where_it_finds_it(void)
{
	start(2);
	sequence_reset(&tracker, false);
	ADD(1000, 1002);
	add(1, 50);
	check_counts(3, 1, 0, 0);
}

static void
test_flows_are_apart(void)
{
	start(FLOWS);
	CHECK_EQ(tracker.window, 64);
	CHECK(sequence_state_bytes(FLOWS) <= 16u << 20);
	CHECK_EQ(sequence_window(256), 1024);
	CHECK_EQ(sequence_window(1024), 256);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t flow = 0; flow < tracker.flows; flow++)
			if (round != 1 || flow % 1000 != 0)
				add(flow, round);
	check_counts(3000000 - 1000, 1000, 0, 0);
}

/* Against a model that remembers everything: random loss, duplication and displacement. */
static void
test_against_model(void)
{
	enum { SENT = 20000 };
	uint32_t order[2 * SENT];
	uint8_t seen[SENT] = {0};
	uint64_t received = 0, duplicated = 0, reordered = 0, highest = 0;
	unsigned int n = 0;

	srand(1);
	start(1);
	for (uint32_t s = 0; s < SENT; s++) {
		if (rand() % 10 == 0)
			continue;
		order[n++] = s;
		if (rand() % 20 == 0)
			order[n++] = s;
	}
	/* Shuffled within blocks, so that no frame is displaced beyond the window. */
	for (unsigned int i = 0; i + 100 < n; i++) {
		unsigned int other = i / 100 * 100 + (unsigned int)rand() % 100;
		uint32_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (unsigned int i = 0; i < n; i++) {
		uint32_t s = order[i];

		add(0, s);
		if (seen[s]) {
			duplicated++;
		} else {
			received++;
			reordered += s < highest;
		}
		seen[s] = 1;
		if (s + 1 > highest)
			highest = s + 1;
	}
	CHECK_EQ(tracker.counts.too_late, 0);
	check_counts(received, highest - received, duplicated, reordered);
}

int
main(void)
{
	test_in_order();
	test_gaps_are_lost();
	test_reordered_is_not_lost();
	test_duplicates();
	test_window_slides();
	test_older_than_the_window();
	test_numbers_wrap();
	test_begins_where_it_finds_it();
	test_flows_are_apart();
	test_against_model();
	free(tracker.state);
	return 0;
}
