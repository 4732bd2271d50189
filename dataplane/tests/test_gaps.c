/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of an lcore: time beyond the work of its frames, logged where it begins. */
#include <unistd.h>
#include <rte_cycles.h>

#include "core/tsc.h"
#include "lcore_bench.h"

/* Return the log's only gap of at least this length, which must be there. */
static struct gap
gap_of(const struct gap_log *log, uint64_t least)
{
	struct gap found = {0};
	unsigned int count = 0;

	for (uint32_t i = 0; i < log->count; i++)
		if (log->gaps[i].excess_tsc >= least) {
			found = log->gaps[i];
			count++;
		}
	CHECK(count >= 1);
	return found;
}

/* Time that a control request keeps an lcore shows as a gap at its time; a reset forgets it. */
static void
test_gaps(void)
{
	struct bench bench = bench_overloaded();
	struct lcore *lcore = bench.app->lcores[0];
	const struct lcore_counts *counts = &lcore->counts_copy;
	uint64_t spin = FLOOD_SPIN_NS * tsc_hz() / NS_PER_S, before, after;
	struct gap gap;

	CHECK_EQ(app_launch(bench.app), 0);
	CHECK_EQ(bench_ask(lcore, lcore_reset, NULL, NULL, NULL), 0);
	before = rte_rdtsc();
	CHECK_EQ(bench_ask(lcore, lcore_control, bench_task(&bench, "flood"), "spin", NULL), 0);
	CHECK_EQ(bench_ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
	after = rte_rdtsc();
	/* The cost of the stretch's frames is no part of it. */
	gap = gap_of(&lcore->gap_log, spin / 2);
	CHECK(gap.begin_tsc <= after && gap.begin_tsc + gap.excess_tsc >= before);
	CHECK(gap.excess_tsc <= after - gap.begin_tsc);
	CHECK(counts->polls > 0 && counts->busy_polls <= counts->polls);
	CHECK(counts->busy_tsc <= counts->total_tsc);
	before = rte_rdtsc();
	CHECK_EQ(bench_ask(lcore, lcore_reset, NULL, NULL, NULL), 0);
	CHECK_EQ(bench_ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
	for (uint32_t i = 0; i < lcore->gap_log.count; i++)
		CHECK(lcore->gap_log.gaps[i].begin_tsc >= before);
	bench_down(&bench);
}

/* Time of a stretch beyond its work is a gap, for any amount of work; nothing else is. */
static void
test_gaps_are_excess(void)
{
	struct gap_log log;

	CHECK_EQ(gap_log_open(&log, 1000), 0);
	/* Work of 10 cycles a frame is no gap, however much of it there is. */
	gap_log_stretch(&log, 0, 100, 10);
	gap_log_stretch(&log, 100, 5000, 500);
	gap_log_stretch(&log, 5100, 5900, 500);
	CHECK_EQ(log.count, 0);
	/* Then 5,000 of work and 7,000 without. */
	gap_log_reset(&log);
	log.work_tsc = 10000;
	log.frames = 1000;
	gap_log_stretch(&log, 11000, 12000, 500);
	CHECK_EQ(log.count, 1);
	CHECK_EQ(log.gaps[0].begin_tsc, 11000);
	CHECK_EQ(log.gaps[0].excess_tsc, 7000);
	CHECK_EQ(log.gaps[0].frames, 500);
	/* It has not become what frames cost. */
	CHECK_EQ(log.work_tsc, 10000);
	/* Without a frame, all that idle rounds did not take. */
	gap_log_stretch(&log, 23000, 1001, 0);
	CHECK_EQ(log.count, 2);
	CHECK_EQ(log.gaps[1].excess_tsc, 1001);
	gap_log_stretch(&log, 24001, 1000, 0);
	CHECK_EQ(log.count, 2);
	gap_log_close(&log);
}

/* Gaps without space in the log are counted. */
static void
test_gaps_overflow(void)
{
	struct gap_log log;

	CHECK_EQ(gap_log_open(&log, 10), 0);
	for (uint64_t i = 0; i < GAP_LOG_RECORDS + 3; i++)
		gap_log_stretch(&log, i, 11, 0);
	CHECK_EQ(log.count, GAP_LOG_RECORDS);
	CHECK_EQ(log.overflowed, 3);
	CHECK_EQ(log.gaps[GAP_LOG_RECORDS - 1].begin_tsc, GAP_LOG_RECORDS - 1);
	gap_log_reset(&log);
	CHECK_EQ(log.count + log.overflowed, 0);
	gap_log_close(&log);
}

/* The average follows what frames cost, slowly. */
static void
test_gaps_learn(void)
{
	struct gap_log log;

	CHECK_EQ(gap_log_open(&log, 1000000), 0);
	for (unsigned int i = 0; i < 10000; i++)
		gap_log_stretch(&log, 0, 500 * 30, 500);
	CHECK(log.work_tsc / log.frames == 30 || (log.work_tsc + 1) / log.frames == 30);
	for (unsigned int i = 0; i < 10000; i++)
		gap_log_stretch(&log, 0, 500 * 90, 500);
	CHECK(log.work_tsc / log.frames >= 80);
	gap_log_close(&log);
}

/* An lcore that was away for a while, its thread not running: about as long in the log. */
static void
test_gaps_of_a_stretch(void)
{
	struct bench bench = bench_overloaded();
	struct lcore *lcore = bench.app->lcores[0];
	uint64_t before, after, spin = FLOOD_SPIN_NS * tsc_hz() / NS_PER_S;
	struct gap gap;

	lcore->last_tsc = rte_rdtsc();
	for (unsigned int i = 0; i < 100; i++)
		lcore_stretch(lcore);
	gap_log_reset(&lcore->gap_log);
	before = lcore->last_tsc;
	usleep(FLOOD_SPIN_NS / 1000);
	lcore_stretch(lcore);
	after = rte_rdtsc();
	gap = gap_of(&lcore->gap_log, spin * 9 / 10);
	CHECK_EQ(gap.begin_tsc, before);
	CHECK(gap.excess_tsc <= after - before);
	CHECK_EQ(gap.frames % TASK_BURST, 0);
	bench_down(&bench);
}

int
main(void)
{
	test_gaps_are_excess();
	test_gaps_overflow();
	test_gaps_learn();
	harness_start();
	test_gaps();
	test_gaps_of_a_stretch();
	return 0;
}
