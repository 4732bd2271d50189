/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void
histogram_reset(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min = UINT64_MAX;
}

static unsigned int
shift_at(unsigned int index)
{
	return index < 2 * HISTOGRAM_HALF ? 0 : index / HISTOGRAM_HALF - 1;
}

uint64_t
histogram_lowest_at(unsigned int index)
{
	unsigned int shift = shift_at(index);

	return (uint64_t)(index - shift * HISTOGRAM_HALF) << shift;
}

uint64_t
histogram_highest_at(unsigned int index)
{
	return histogram_lowest_at(index) + (UINT64_C(1) << shift_at(index)) - 1;
}

uint64_t
histogram_percentile(const struct histogram *histogram, unsigned int per_mille)
{
	uint64_t wanted = (histogram->count * per_mille + 500) / 1000;
	uint64_t seen = 0;
	unsigned int i;

	if (wanted == 0)
		wanted = 1;
	for (i = 0; i < HISTOGRAM_COUNTS; i++) {
		seen += histogram->counts[i];
		if (seen >= wanted)
			return histogram_highest_at(i);
	}
	return 0;
}

int
histogram_write(const struct histogram *histogram, FILE *file)
{
	const char *separator = "";
	unsigned int i;

	fprintf(file,
		"{\"format\": \"wirespeed-histogram-1\", \"unit\": \"ns\", "
		"\"lowest_discernible\": 1, \"highest_trackable\": %" PRIu64 ", "
		"\"significant_digits\": 3, \"count\": %" PRIu64 ", \"sum\": %" PRIu64 ", "
		"\"min\": %" PRIu64 ", \"max\": %" PRIu64 ", \"clamped\": %" PRIu64 ", "
		"\"counts\": [",
		HISTOGRAM_MAX, histogram->count, histogram->sum,
		histogram->count != 0 ? histogram->min : 0, histogram->max, histogram->clamped);
	for (i = 0; i < HISTOGRAM_COUNTS; i++) {
		if (histogram->counts[i] == 0)
			continue;
		fprintf(file, "%s[%" PRIu64 ", %" PRIu64 "]", separator, histogram_lowest_at(i),
			histogram->counts[i]);
		separator = ", ";
	}
	fprintf(file, "]}\n");
	return ferror(file) || fflush(file) != 0 ? -EIO : 0;
}
