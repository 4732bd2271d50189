/* SPDX-License-Identifier: Apache-2.0 */
/* Check counts by time stamp: one grid for all logs, no lost count, and latencies. The files are
 * read back in tests/dataplane/test_windows.py. */
#include <string.h>

#include "check.h"
#include "latency_rows.h"
#include "window_log.h"

#define HZ UINT64_C(2600000000)

static struct window_bin memory[WINDOW_LOG_BINS_MAX + 1];
static latency_row rows[LATENCY_ROWS_MAX + 1];

static struct window_log
started(uint64_t hz, uint64_t now, uint64_t duration_ns, uint64_t after_ns)
{
	const struct tsc_clock clock = tsc_clock_of(hz);
	struct window_log log;

	window_log_init(&log, memory, WINDOW_UNSENT);
	window_log_start(&log, &clock, now, duration_ns, after_ns);
	return log;
}

/* Return the sum of all bins but the one for the rest. */
static uint64_t
inside(const struct window_log *log)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < log->nb_bins; i++)
		sum += log->bins[i].frames;
	return sum;
}

/* At any frequency a bin is between 16 and 32 us, and longer only where the run demands it. */
static void
test_bins_are_about_28_us(void)
{
	for (uint64_t hz = 1000000000; hz <= 5000000000; hz += 100000000) {
		struct window_log log = started(hz, 0, 2 * NANOS_PER_S, NANOS_PER_S);
		uint64_t bin_ns = (NANOS_PER_S << log.shift) / hz;

		CHECK(bin_ns > 16000 && bin_ns <= 32000);
	}
}

/* Bins cover any duration, the time before it and a second after it. */
static void
test_bins_cover_the_run(void)
{
	const uint64_t durations[] = {1, 1000000, 6, 7, 60, 3600, 0, 366 * 86400};

	for (unsigned int i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		uint64_t ns = i < 2 ? durations[i] : durations[i] * NANOS_PER_S;
		uint64_t span_ns = (ns != 0 ? ns : WINDOW_LOG_ENDLESS_NS) + 2 * NANOS_PER_S;
		uint64_t now = 123456789012345, span, bin_end;
		struct window_log log = started(HZ, now, ns, NANOS_PER_S);

		span = (uint64_t)((uint128)span_ns * HZ / NANOS_PER_S);
		bin_end = log.base_tsc + ((uint64_t)log.nb_bins << log.shift);
		CHECK(log.base_tsc <= now && now - log.base_tsc < UINT64_C(1) << log.shift);
		CHECK_EQ(log.base_tsc % (UINT64_C(1) << log.shift), 0);
		CHECK(bin_end > now + span);
		CHECK(log.nb_bins <= WINDOW_LOG_BINS_MAX);
		CHECK_EQ(log.nb_bins % WINDOW_LOG_ROW_BINS, 0);
		/* Not coarser than it must be. */
		CHECK(log.shift == 16 || (span >> (log.shift - 1)) + 2 > WINDOW_LOG_BINS_MAX);
		CHECK(window_log_bin(&log, (now + span) & STAMP_TSC_MASK) < log.nb_bins);
	}
}

/* Logs that were started at other times, with the same arguments, count a stamp in the same bin of
 * the grid, also where stamps wrap. */
static void
test_one_grid(void)
{
	const uint64_t begins[] = {0, 123456789012345, STAMP_TSC_MASK - 3 * HZ, STAMP_TSC_MASK * 7};

	for (unsigned int i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		struct window_log one = started(HZ, begins[i], NANOS_PER_S, 0);
		struct window_log other = started(HZ, begins[i] + HZ / 10, NANOS_PER_S, 0);

		for (uint64_t after = HZ / 10; after < HZ; after += 9999991) {
			uint64_t stamp = (begins[i] + after) & STAMP_TSC_MASK;
			uint64_t bin = window_log_bin(&one, stamp);

			CHECK_EQ(one.shift, other.shift);
			CHECK_EQ((one.base_tsc >> one.shift) + bin,
				 (other.base_tsc >> one.shift) + window_log_bin(&other, stamp));
			CHECK_EQ((one.base_tsc >> one.shift) + bin,
				 (begins[i] + after) >> one.shift);
		}
	}
}

/* Every frame is in exactly one bin, or beyond them all. */
static void
test_nothing_gets_lost(void)
{
	struct window_log log = started(HZ, HZ, NANOS_PER_S, 0);
	uint64_t added = 0, outside = 0;

	for (uint64_t stamp = HZ / 2; stamp < 5 * HZ; stamp += 7777777) {
		uint32_t bin = window_log_bin(&log, stamp);

		window_log_add(&log, bin, 3, 0);
		added += 3;
		outside += bin == log.nb_bins ? 3 : 0;
	}
	CHECK(outside > 0);
	CHECK_EQ(inside(&log), added - outside);
	CHECK_EQ(log.bins[log.nb_bins].frames, outside);
	/* Before the first bin is beyond, too. */
	CHECK_EQ(window_log_bin(&log, log.base_tsc - 1), log.nb_bins);
	CHECK_EQ(window_log_bin(&log, log.base_tsc), 0);
	window_log_clear(&log);
	CHECK_EQ(inside(&log) + log.bins[log.nb_bins].frames, 0);
}

/* A start clears what it is going to use, whatever the run before used. */
static void
test_a_start_forgets(void)
{
	struct window_log log;

	memset(memory, 0xff, sizeof(memory));
	log = started(HZ, HZ, 1, 0);
	CHECK_EQ(inside(&log) + log.bins[log.nb_bins].frames, 0);
	memset(rows, 0xff, sizeof(rows));
	latency_rows_clear(rows, &log);
	for (uint32_t bin = 0; bin <= log.nb_bins; bin++)
		CHECK_EQ(rows[bin / WINDOW_LOG_ROW_BINS][5], 0);
}

/* Each bucket begins where the one before ends, at most 1/16 further. */
static void
test_buckets(void)
{
	uint64_t end = UINT64_C(1) << LATENCY_ROWS_MAX_BITS;

	CHECK_EQ(latency_rows_lowest(0), 64);
	for (unsigned int i = 0; i < LATENCY_ROWS_BUCKETS; i++) {
		uint64_t lowest = latency_rows_lowest(i);
		uint64_t next = i + 1 < LATENCY_ROWS_BUCKETS ? latency_rows_lowest(i + 1) : end;

		CHECK(next > lowest && (next - lowest) * 16 <= lowest);
		CHECK_EQ(latency_rows_bucket(lowest), i);
		CHECK_EQ(latency_rows_bucket(next - 1), i);
	}
	CHECK_EQ(latency_rows_bucket(0), 0);
	CHECK_EQ(latency_rows_bucket(63), 0);
	CHECK_EQ(latency_rows_bucket(end), LATENCY_ROWS_BUCKETS - 1);
	CHECK_EQ(latency_rows_bucket(UINT64_MAX), LATENCY_ROWS_BUCKETS - 1);
}

static void
test_rows_are_of_bins(void)
{
	struct window_log log = started(HZ, 0, 1, 0);

	latency_rows_clear(rows, &log);
	for (uint32_t bin = 0; bin <= log.nb_bins; bin++)
		latency_rows_add(rows, bin, 100, 1);
	for (uint32_t row = 0; row < log.nb_bins / WINDOW_LOG_ROW_BINS; row++)
		CHECK_EQ(rows[row][latency_rows_bucket(100)], WINDOW_LOG_ROW_BINS);
	CHECK_EQ(rows[log.nb_bins / WINDOW_LOG_ROW_BINS][latency_rows_bucket(100)], 1);
}

static void
test_the_largest_log_has_room(void)
{
	struct window_log log = started(HZ, HZ - 1, 0, NANOS_PER_S);

	CHECK_EQ(sizeof(memory), WINDOW_LOG_BYTES);
	CHECK_EQ(sizeof(rows), LATENCY_ROWS_BYTES);
	CHECK(log.nb_bins > WINDOW_LOG_BINS_MAX / 2);
	latency_rows_clear(rows, &log);
}

int
main(void)
{
	test_bins_are_about_28_us();
	test_bins_cover_the_run();
	test_one_grid();
	test_nothing_gets_lost();
	test_a_start_forgets();
	test_buckets();
	test_rows_are_of_bins();
	test_the_largest_log_has_room();
	return 0;
}
