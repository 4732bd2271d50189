/* SPDX-License-Identifier: Apache-2.0 */
/* Count frames by their time stamps in a sink: how many came, and their latency. */
#ifndef WSDP_SINK_WINDOWS_H
#define WSDP_SINK_WINDOWS_H

#include <stdint.h>

#include "pktlib/latency_rows.h"
#include "pktlib/window_log.h"

struct sink_windows {
	struct window_log log;
	latency_row *rows;
};

/* Returns 0, or -ENOMEM with the reason on stderr. */
int sink_windows_open(struct sink_windows *windows, const char *task_name,
		      const struct tsc_clock *clock);
void sink_windows_close(struct sink_windows *windows);

/* Begin anew, now, for a run of this length that starts so much later. */
void sink_windows_start(struct sink_windows *windows, const struct tsc_clock *clock,
			uint64_t duration_ns, uint64_t after_ns);
/* Forget all counts. */
void sink_windows_reset(struct sink_windows *windows);

/* Frames that carry one time stamp, and their latency. */
static inline void
sink_windows_add(struct sink_windows *windows, uint64_t stamp, uint64_t latency_ns, uint64_t frames)
{
	uint32_t bin = window_log_bin(&windows->log, stamp);

	window_log_add(&windows->log, bin, frames, latency_ns * frames);
	latency_rows_add(windows->rows, bin, latency_ns, (uint32_t)frames);
}

#endif
