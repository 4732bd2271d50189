/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <rte_cycles.h>

#include "core/pages.h"
#include "sink_windows.h"

int
sink_windows_open(struct sink_windows *windows, const char *task_name,
		  const struct tsc_clock *clock)
{
	window_log_init(&windows->log, pages_map(WINDOW_LOG_BYTES), WINDOW_LATENCY_NS);
	windows->rows = pages_map(LATENCY_ROWS_BYTES);
	if (windows->log.bins == NULL || windows->rows == NULL) {
		sink_windows_close(windows);
		fprintf(stderr,
			"wsdp: [task.%s] no memory for its logs of windows (%zu octets) and of "
			"latency (%zu)\n",
			task_name, WINDOW_LOG_BYTES, LATENCY_ROWS_BYTES);
		return -ENOMEM;
	}
	sink_windows_start(windows, clock, 0, 0);
	return 0;
}

void
sink_windows_close(struct sink_windows *windows)
{
	pages_unmap(windows->log.bins, WINDOW_LOG_BYTES);
	pages_unmap(windows->rows, LATENCY_ROWS_BYTES);
}

void
sink_windows_start(struct sink_windows *windows, const struct tsc_clock *clock,
		   uint64_t duration_ns, uint64_t after_ns)
{
	window_log_start(&windows->log, clock, rte_rdtsc(), duration_ns, after_ns);
	latency_rows_clear(windows->rows, &windows->log);
}

void
sink_windows_reset(struct sink_windows *windows)
{
	window_log_clear(&windows->log);
	latency_rows_clear(windows->rows, &windows->log);
}
