/* SPDX-License-Identifier: Apache-2.0 */
/* Two lcores that a generator overloads: tasks flood, impair and drain. */
#ifndef TESTS_LCORE_BENCH_H
#define TESTS_LCORE_BENCH_H

#include "harness.h"

#define LATE_NS UINT64_C(30000000000)   /* far beyond any wait that a test should see */
#define FLOOD_SPIN_NS UINT64_C(3000000) /* how long "spin" keeps the lcore of task flood */

/* Bring it up; lcore 0 has "flood", lcore 1 "sut" and "drain". None of them runs yet. */
struct bench bench_overloaded(void);

/* Return what the lcore, which runs, answers to a request. */
int bench_ask(struct lcore *lcore, int (*request)(struct lcore *lcore, struct mail *mail),
	      struct task *task, const char *verb, const char *args);

#endif
