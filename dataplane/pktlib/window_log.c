/* SPDX-License-Identifier: Apache-2.0 */
#include "window_log.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

void
window_log_init(struct window_log *log, void *memory, enum window_amount amount)
{
	*log = (struct window_log){.bins = memory, .amount = amount};
}

void
window_log_clear(struct window_log *log)
{
	memset(log->bins, 0, (log->nb_bins + 1) * sizeof(*log->bins));
}

void
window_log_start(struct window_log *log, const struct tsc_clock *clock, uint64_t now,
		 uint64_t duration_ns, uint64_t after_ns)
{
	uint64_t span_ns = (duration_ns != 0 ? duration_ns : WINDOW_LOG_ENDLESS_NS) + after_ns +
			   WINDOW_LOG_MARGIN_NS;
	uint64_t span = tsc_clock_cycles(clock, span_ns), rows;
	unsigned int shift = 0;

	while (UINT64_C(2) << shift <= tsc_clock_cycles(clock, WINDOW_LOG_BIN_MAX_NS))
		shift++;
	/* One bin more, as the first begins before `now`. */
	while ((span >> shift) + 2 > WINDOW_LOG_BINS_MAX)
		shift++;
	rows = ((span >> shift) + 2 + WINDOW_LOG_ROW_BINS - 1) / WINDOW_LOG_ROW_BINS;
	log->shift = shift;
	log->base_tsc = now >> shift << shift;
	log->nb_bins = (uint32_t)(rows * WINDOW_LOG_ROW_BINS);
	log->tsc_hz = clock->hz;
	window_log_clear(log);
}

/* The bins up to the last that is not empty. */
static uint32_t
used_bins(const struct window_log *log)
{
	uint32_t used = log->nb_bins;

	while (used > 0 && log->bins[used - 1].frames == 0 && log->bins[used - 1].amount == 0)
		used--;
	return used;
}

static uint64_t
mean(const struct window_bin *bin)
{
	return bin->frames != 0 ? bin->amount / bin->frames : 0;
}

void
window_log_write(const struct window_log *log, FILE *file)
{
	const struct window_bin *rest = &log->bins[log->nb_bins];
	const bool unsent = log->amount == WINDOW_UNSENT;
	uint32_t used = used_bins(log);

	fprintf(file,
		"{\"format\": \"wirespeed-windows-1\", \"tsc_hz\": %" PRIu64
		", \"base_tsc\": %" PRIu64 ", \"shift\": %u, \"beyond\": %" PRIu64
		", \"frames\": [",
		log->tsc_hz, log->base_tsc, log->shift, rest->frames + (unsent ? rest->amount : 0));
	for (uint32_t i = 0; i < used; i++)
		fprintf(file, "%s%" PRIu64, i == 0 ? "" : ",", log->bins[i].frames);
	fprintf(file, "], \"%s\": [", unsent ? "unsent" : "latency_ns");
	for (uint32_t i = 0; i < used; i++)
		fprintf(file, "%s%" PRIu64, i == 0 ? "" : ",",
			unsent ? log->bins[i].amount : mean(&log->bins[i]));
	fputs("]}\n", file);
}
