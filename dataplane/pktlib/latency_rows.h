/* SPDX-License-Identifier: Apache-2.0 */
/* Record the distribution of latencies over the time of a run: a small histogram for every row of
 * WINDOW_LOG_ROW_BINS bins of a window log, about 0.9 ms.
 *
 * A histogram has 16 buckets for each doubling of the latency, from 64 ns to 2^26 ns (67 ms): the
 * relative error is below 1/16. What is below or above counts in the first or the last bucket.
 */
#ifndef PKTLIB_LATENCY_ROWS_H
#define PKTLIB_LATENCY_ROWS_H

#include <stdint.h>
#include <stdio.h>

#include "window_log.h"

#define LATENCY_ROWS_MAX (WINDOW_LOG_BINS_MAX / WINDOW_LOG_ROW_BINS)
#define LATENCY_ROWS_MIN_BITS 6
#define LATENCY_ROWS_MAX_BITS 26
#define LATENCY_ROWS_SUB_BITS 4
#define LATENCY_ROWS_BUCKETS \
	((LATENCY_ROWS_MAX_BITS - LATENCY_ROWS_MIN_BITS) << LATENCY_ROWS_SUB_BITS)

typedef uint32_t latency_row[LATENCY_ROWS_BUCKETS];

/* One row more, for what has no bin; nobody reads it. */
#define LATENCY_ROWS_BYTES ((LATENCY_ROWS_MAX + 1) * sizeof(latency_row))

/* Forget all counts. `rows` is LATENCY_ROWS_BYTES of memory, `log` its window log. */
void latency_rows_clear(latency_row *rows, const struct window_log *log);

static inline unsigned int
latency_rows_bucket(uint64_t ns)
{
	unsigned int top;

	if (ns < UINT64_C(1) << LATENCY_ROWS_MIN_BITS)
		return 0;
	if (ns >= UINT64_C(1) << LATENCY_ROWS_MAX_BITS)
		return LATENCY_ROWS_BUCKETS - 1;
	top = 63 - (unsigned int)__builtin_clzll(ns);
	/* The bits below the highest one are the bucket within the doubling. */
	return ((top - LATENCY_ROWS_MIN_BITS - 1) << LATENCY_ROWS_SUB_BITS) +
	       (unsigned int)(ns >> (top - LATENCY_ROWS_SUB_BITS));
}

/* The lowest latency of a bucket. */
static inline uint64_t
latency_rows_lowest(unsigned int bucket)
{
	unsigned int doubling = bucket >> LATENCY_ROWS_SUB_BITS;
	uint64_t sub = bucket & ((1u << LATENCY_ROWS_SUB_BITS) - 1);

	return ((1u << LATENCY_ROWS_SUB_BITS) + sub)
	       << (doubling + LATENCY_ROWS_MIN_BITS - LATENCY_ROWS_SUB_BITS);
}

/* Frames of a bin of the log, 0..nb_bins. */
static inline void
latency_rows_add(latency_row *rows, uint32_t bin, uint64_t ns, uint32_t frames)
{
	rows[bin / WINDOW_LOG_ROW_BINS][latency_rows_bucket(ns)] += frames;
}

/* As JSON, the format of docs/reference/wsdp.md. */
void latency_rows_write(latency_row *rows, const struct window_log *log, FILE *file);

#endif
