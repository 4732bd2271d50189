/* SPDX-License-Identifier: Apache-2.0 */
#include "latency_rows.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define ROW_SHIFT ((unsigned int)__builtin_ctz(WINDOW_LOG_ROW_BINS))

void
latency_rows_clear(latency_row *rows, const struct window_log *log)
{
	memset(rows, 0, (log->nb_bins / WINDOW_LOG_ROW_BINS + 1) * sizeof(*rows));
}

static bool
is_empty(const latency_row row)
{
	for (unsigned int i = 0; i < LATENCY_ROWS_BUCKETS; i++)
		if (row[i] != 0)
			return false;
	return true;
}

static void
write_row(const latency_row row, FILE *file)
{
	const char *separator = "";

	for (unsigned int i = 0; i < LATENCY_ROWS_BUCKETS; i++) {
		if (row[i] == 0)
			continue;
		fprintf(file, "%s[%" PRIu64 ",%" PRIu32 "]", separator, latency_rows_lowest(i),
			row[i]);
		separator = ",";
	}
}

void
latency_rows_write(latency_row *rows, const struct window_log *log, FILE *file)
{
	uint32_t used = log->nb_bins / WINDOW_LOG_ROW_BINS;

	while (used > 0 && is_empty(rows[used - 1]))
		used--;
	fprintf(file,
		"{\"format\": \"wirespeed-latency-rows-1\", \"tsc_hz\": %" PRIu64
		", \"base_tsc\": %" PRIu64 ", \"shift\": %u, \"rows\": [",
		log->tsc_hz, log->base_tsc, log->shift + ROW_SHIFT);
	for (uint32_t i = 0; i < used; i++) {
		fputs(i == 0 ? "[" : ",[", file);
		write_row(rows[i], file);
		fputc(']', file);
	}
	fputs("]}\n", file);
}
