/* SPDX-License-Identifier: Apache-2.0 */
/* A sink of four flows of stream 7 behind the port "in", and frames crafted for it. */
#ifndef TESTS_SINK_BENCH_H
#define TESTS_SINK_BENCH_H

#include "figures.h"
#include "pktlib/frame.h"
#include "pktlib/stamp.h"

#define STREAM 7
#define TRIAL 3
#define FLOWS 4
#define LEN 60
#define L4_AT 34
#define STAMP_AT 42

extern struct bench sink_bench;

/* Bring it up with further keys, in trial TRIAL. */
void sink_start(const char *keys);
int sink_control(const char *verb, const char *args);
/* Take it down. The counts of every frame add up to those that the task consumed. */
void sink_down(void);

void sink_craft_with(uint8_t *octets, uint8_t version, uint8_t tags, unsigned int bytes,
		     const struct stamp *stamp);
/* One of LEN octets, of this trial. */
void sink_craft(uint8_t *octets, uint32_t flow, uint32_t sequence);
/* Let the sink receive a frame. */
void sink_put(const uint8_t *octets, uint16_t len);
void sink_deliver(uint32_t flow, uint32_t sequence);

/* Return how many frames its windows hold. */
uint64_t sink_windows_sum(void);

/* Its figure of this name must be so. */
void sink_check(const char *name, uint64_t expected);

#endif
