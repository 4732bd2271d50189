/* SPDX-License-Identifier: Apache-2.0 */
/* The layout here; that Python's hdrhistogram agrees is tested in tests/dataplane/test_histogram.py. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "histogram.h"

static struct histogram histogram;

static void
test_every_count_is_reached_once(void)
{
	uint64_t next = 0;

	for (unsigned int i = 0; i < HISTOGRAM_COUNTS; i++) {
		CHECK_EQ(histogram_lowest_at(i), next);
		CHECK_EQ(histogram_index(histogram_lowest_at(i)), i);
		CHECK_EQ(histogram_index(histogram_highest_at(i)), i);
		/* 3 significant digits. */
		CHECK((histogram_highest_at(i) - histogram_lowest_at(i)) * 1000 <=
		      histogram_lowest_at(i));
		next = histogram_highest_at(i) + 1;
	}
	CHECK_EQ(next, HISTOGRAM_MAX + 1);
}

static void
test_records(void)
{
	histogram_reset(&histogram);
	CHECK_EQ(histogram_percentile(&histogram, 500), 0);
	for (uint64_t v = 1; v <= 1000; v++)
		histogram_record(&histogram, v, 1);
	histogram_record(&histogram, 1000000, 1000);
	CHECK_EQ(histogram.count, 2000);
	CHECK_EQ(histogram.min, 1);
	CHECK_EQ(histogram.max, 1000000);
	CHECK_EQ(histogram.sum, 500500 + UINT64_C(1000000000));
	CHECK_EQ(histogram_percentile(&histogram, 0), 1);
	CHECK_EQ(histogram_percentile(&histogram, 250), 500);
	CHECK_EQ(histogram_percentile(&histogram, 500), 1000);
	CHECK_EQ(histogram_index(histogram_percentile(&histogram, 501)), histogram_index(1000000));
	CHECK_EQ(histogram_index(histogram_percentile(&histogram, 1000)), histogram_index(1000000));
}

static void
test_clamps_and_says_so(void)
{
	histogram_reset(&histogram);
	histogram_record(&histogram, HISTOGRAM_MAX, 1);
	CHECK_EQ(histogram.clamped, 0);
	histogram_record(&histogram, UINT64_MAX, 1);
	CHECK_EQ(histogram.clamped, 1);
	CHECK_EQ(histogram.counts[HISTOGRAM_COUNTS - 1], 2);
}

/* With an argument, write a histogram of known values there, for the Python test to read; with a
 * second one, print all its percentiles. */
static int
write_sample(const char *path, bool percentiles)
{
	FILE *file = fopen(path, "w");
	uint64_t value = 1;
	int result;

	if (file == NULL)
		return 1;
	histogram_reset(&histogram);
	for (unsigned int i = 1; i <= 5000; i++) {
		value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		histogram_record(&histogram, value >> (28 + i % 30), i);
	}
	result = histogram_write(&histogram, file);
	fclose(file);
	for (unsigned int per_mille = 0; percentiles && per_mille <= 1000; per_mille++)
		printf("%" PRIu64 "\n", histogram_percentile(&histogram, per_mille));
	return result != 0;
}

static void
test_writing_to_a_full_disk_fails(void)
{
	FILE *full = fopen("/dev/full", "w");

	CHECK(full != NULL);
	CHECK(histogram_write(&histogram, full) < 0);
	fclose(full);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return write_sample(argv[1], argc > 2);
	test_every_count_is_reached_once();
	test_records();
	test_clamps_and_says_so();
	test_writing_to_a_full_disk_fails();
	return 0;
}
