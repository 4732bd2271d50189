/* SPDX-License-Identifier: Apache-2.0 */
/* Run tasks of an INI between a source and a sink of a few instructions each, and time passes over
 * all mbufs of the source. There is one source and one sink in a process. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdint.h>

#include "core/app.h"
#include "core/config.h"

/* Tasks read these mbufs, in their order. */
struct bench_source {
	struct rte_mbuf **mbufs;
	uint32_t nb, next;
};

extern struct bench_source bench_source;

/* Print the program's name and a text, and exit with 1. */
_Noreturn void bench_fail(const char *text);

/* Start DPDK and the INI's tasks; no lcore polls. The config is to be freed after the app. */
struct app *bench_start(struct config **config, const char *ini, int argc, char **argv);

/* Let a poll of the task read from the source. */
struct lcore_poll bench_from_source(struct task *task);

/* Let the sink keep frames. Returns n. */
uint16_t bench_sink(struct rte_mbuf **mbufs, uint16_t n);

/* Let the task send to the sink alone. */
void bench_to_sink(struct task *task);

struct lcore *bench_lcore_of(struct app *app, const struct task *task);

/* One pass over all mbufs of the source, through the lcore's own round, in TSC cycles a frame. Fails
 * if a frame was not forwarded. */
double bench_pass(struct lcore *lcore);

/* Sort numbers, the lowest first. */
void bench_sort(double *numbers, unsigned int nb);

#endif
