/* SPDX-License-Identifier: Apache-2.0 */
/* A gen that sends by the port "out". */
#ifndef TESTS_GEN_BENCH_H
#define TESTS_GEN_BENCH_H

#include "figures.h"
#include "pktlib/stamp.h"

#define POOL_MBUFS 4095
#define STAMP_AT 42 /* IPv4 without tags */

/* Bring it up with further keys. */
struct bench gen_up(const char *keys);
int gen_control(struct bench *bench, const char *verb, const char *args);

/* Receive a frame and its stamp; returns its length, 0 if there is none. */
uint32_t gen_receive(struct bench *bench, struct stamp *stamp);
/* Poll and drain until the run is over; returns how many frames came out. */
uint64_t gen_run_out(struct bench *bench);

/* Return how many faults it has with these keys; the first must contain these words. */
unsigned int gen_faults(const char *keys, const char *says);

#endif
