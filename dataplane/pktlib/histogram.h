/* SPDX-License-Identifier: Apache-2.0 */
/* Record the distribution of latencies in a histogram with HdrHistogram's bucket layout.
 *
 * Values are ns from 0 to 2^36 - 1 (68 s) at 3 significant digits: below 2048 ns each value has its
 * own count, above that each doubling of the value has 1024 counts, so the relative error is below
 * 1/1024. Recording is a handful of instructions and one increment.
 *
 * The file that histogram_write leaves is JSON:
 *   {"format": "wirespeed-histogram-1", "unit": "ns", "lowest_discernible": 1,
 *    "highest_trackable": 68719476735, "significant_digits": 3, "count": N, "sum": N, "min": N,
 *    "max": N, "clamped": N, "counts": [[value, count], ...]}
 * with each value the lowest that falls into its count. HdrHistogram(1, 68719476735, 3) in any
 * language has the same layout: record_value(value, count) for each pair rebuilds it.
 */
#ifndef PKTLIB_HISTOGRAM_H
#define PKTLIB_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#define HISTOGRAM_SUB_BITS 11                           /* 2048 > 2 x 10^3 */
#define HISTOGRAM_HALF (1u << (HISTOGRAM_SUB_BITS - 1)) /* counts a doubling */
#define HISTOGRAM_MAX_BITS 36
#define HISTOGRAM_MAX ((UINT64_C(1) << HISTOGRAM_MAX_BITS) - 1)
#define HISTOGRAM_COUNTS ((HISTOGRAM_MAX_BITS - HISTOGRAM_SUB_BITS + 2) * HISTOGRAM_HALF)

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t min;     /* exact, UINT64_MAX when empty */
	uint64_t max;     /* exact */
	uint64_t clamped; /* values above HISTOGRAM_MAX, recorded as HISTOGRAM_MAX */
	uint64_t counts[HISTOGRAM_COUNTS];
};

void histogram_reset(struct histogram *histogram);

static inline unsigned int
histogram_index(uint64_t value)
{
	/* Bits by which the value is shifted to fit HISTOGRAM_SUB_BITS. */
	unsigned int shift =
		64 - HISTOGRAM_SUB_BITS -
		(unsigned int)__builtin_clzll(value | ((1u << HISTOGRAM_SUB_BITS) - 1));

	return (shift << (HISTOGRAM_SUB_BITS - 1)) + (unsigned int)(value >> shift);
}

/* The lowest and the highest value that fall into a count. */
uint64_t histogram_lowest_at(unsigned int index);
uint64_t histogram_highest_at(unsigned int index);

static inline void
histogram_record(struct histogram *histogram, uint64_t value, uint64_t times)
{
	if (__builtin_expect(value > HISTOGRAM_MAX, 0)) {
		histogram->clamped += times;
		value = HISTOGRAM_MAX;
	}
	histogram->counts[histogram_index(value)] += times;
	histogram->count += times;
	histogram->sum += value * times;
	if (value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
}

/* The value that a share of all values does not exceed, as HdrHistogram answers it: the highest
 * value equivalent to it. per_mille is 0..1000. 0 when the histogram is empty. */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int per_mille);

/* Returns 0 or a negative errno. */
int histogram_write(const struct histogram *histogram, FILE *file);

#endif
