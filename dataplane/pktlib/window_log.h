/* SPDX-License-Identifier: Apache-2.0 */
/* Count frames, and their fate, in bins of equal length by the time stamp that each carries.
 *
 * All logs share one grid: a bin is 2^shift cycles of the TSC and begins at a multiple of that. A
 * generator's log and a sink's that were started with the same span have the same shift, so they can
 * be compared bin by bin, although each begins when it was started.
 *
 * A bin is about 28 us, or longer if the bins would not cover the span. What comes after the
 * last bin, or before the first, is counted in one more bin at the end.
 */
#ifndef PKTLIB_WINDOW_LOG_H
#define PKTLIB_WINDOW_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "stamp.h"
#include "tsc_clock.h"

#define WINDOW_LOG_BINS_MAX (UINT32_C(1) << 18)
#define WINDOW_LOG_BIN_MAX_NS 32000
#define WINDOW_LOG_ROW_BINS 32 /* bins come in whole rows: see latency_rows.h */
/* Logs are not started at once, and late frames follow the end of a run. */
#define WINDOW_LOG_MARGIN_NS NANOS_PER_S
/* Duration that is assumed for a run without an end. */
#define WINDOW_LOG_ENDLESS_NS (3600 * NANOS_PER_S)

/* Counts of a bin in addition to its frames. */
enum window_amount {
	WINDOW_UNSENT,     /* frames given up at that time */
	WINDOW_LATENCY_NS, /* the sum of its frames' latencies */
};

struct window_bin {
	uint64_t frames;
	uint64_t amount;
};

struct window_log {
	uint64_t base_tsc; /* begin of the first bin */
	unsigned int shift;
	uint32_t nb_bins;
	struct window_bin *bins; /* nb_bins, and the one for the rest */
	enum window_amount amount;
	uint64_t tsc_hz;
};

/* The memory that a log needs, zeroed and never cleared but for the bins in use. */
#define WINDOW_LOG_BYTES ((WINDOW_LOG_BINS_MAX + 1) * sizeof(struct window_bin))

void window_log_init(struct window_log *log, void *memory, enum window_amount amount);

/* Begin anew at `now`, for a run of duration_ns (0: without an end) that starts after_ns later. */
void window_log_start(struct window_log *log, const struct tsc_clock *clock, uint64_t now,
		      uint64_t duration_ns, uint64_t after_ns);
/* Forget all counts. */
void window_log_clear(struct window_log *log);

/* The bin of a time stamp: nb_bins if there is none. */
static inline uint32_t
window_log_bin(const struct window_log *log, uint64_t stamp)
{
	uint64_t bin = ((stamp - log->base_tsc) & STAMP_TSC_MASK) >> log->shift;

	return bin < log->nb_bins ? (uint32_t)bin : log->nb_bins;
}

static inline void
window_log_add(struct window_log *log, uint32_t bin, uint64_t frames, uint64_t amount)
{
	log->bins[bin].frames += frames;
	log->bins[bin].amount += amount;
}

/* As JSON, the format of docs/reference/wsdp.md. */
void window_log_write(const struct window_log *log, FILE *file);

#endif
