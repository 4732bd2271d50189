/* SPDX-License-Identifier: Apache-2.0 */
/* Read the kernel's records of context switches, of a thread or of a CPU, and write them as JSON. */
#ifndef WSDP_SWITCH_RECORDS_H
#define WSDP_SWITCH_RECORDS_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "tsc.h"

/* Room for 32,768 stops of a thread between start and stop: the contention probe alone stops it 250
 * times a second. 512 pages, a power of two as the kernel wants it. */
#define SWITCH_RING_BYTES (UINT64_C(512) * 4096)

/* A thread whose records are taken, or a CPU: the other one is -1. */
struct switch_watched {
	pid_t tid;
	int cpu;
	int fd;
	struct perf_event_mmap_page *ring; /* and behind this page SWITCH_RING_BYTES of records */
};

/* The time in which records were taken, as both clocks had it. */
struct switch_span {
	struct tsc_moment started, stopped;
};

/* Write "stops": [[out_tsc, length_tsc, preempted, cpu], ...], "lost": N. */
void switch_records_write_stops(const struct switch_watched *thread, const struct switch_span *span,
				FILE *file);

/* Write "runs": [[in_tsc, length_tsc, tid], ...], "names": {"TID": "name"}, "lost": N. */
void switch_records_write_runs(const struct switch_watched *cpu, const struct switch_span *span,
			       FILE *file);

#endif
