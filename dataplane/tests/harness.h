/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a configuration in the test's own process, without huge pages. Ports are net_ring devices,
 * whose transmit side loops back to their receive side: what a test puts into a port, a task
 * receives from it, and the other way round.
 *
 * By default nothing runs by itself: bench_poll makes the rounds, so that tests are deterministic.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <stdint.h>

#include "core/app.h"
#include "core/config.h"
#include "pktlib/check.h"

/* Start DPDK, once in a program, with lcores 0 (main) to 3 on any CPU. */
void harness_start(void);

/* Write a text to a new file; its path, which ends in XXXXXX, becomes its name. */
void harness_file(char *path, const char *text);

/* A configuration from text, in a temporary file: to be freed with config_free. */
struct config *harness_config(const char *ini);

/* Return how many faults a configuration has; the first must contain these words. */
unsigned int harness_faults(const char *ini, const char *says);

struct bench {
	struct config *config;
	struct app *app;
};

/* Bring up a faultless configuration. */
struct bench bench_up(const char *ini);
/* Take it down and check that every mbuf is back in its pool. */
void bench_down(struct bench *bench);
/* Let every lcore make this many rounds, on the test's own thread. */
void bench_poll(struct bench *bench, unsigned int rounds);

struct task *bench_task(struct bench *bench, const char *name);

/* Put a frame (octets without FCS) into a port; returns whether it had room. */
bool bench_send(struct bench *bench, const char *port, const void *octets, uint16_t length);
/* Take a frame out of a port. Returns its length, 0 if there is none. */
uint32_t bench_receive(struct bench *bench, const char *port, void *octets, uint32_t size);
/* Take and drop all frames of a port; returns how many there were. */
uint64_t bench_drain(struct bench *bench, const char *port);

/* Check that the task's counters close. */
void check_closes(const struct task_stats *stats);

#endif
