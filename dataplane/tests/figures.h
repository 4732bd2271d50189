/* SPDX-License-Identifier: Apache-2.0 */
/* Read what a task would answer to /wirespeed/task, without a telemetry socket.
 *
 * Link with figures.c and -Wl,--wrap=telemetry_u64: DPDK's reply objects cannot be read back. */
#ifndef TESTS_FIGURES_H
#define TESTS_FIGURES_H

#include <stdint.h>

#include "harness.h"

/* The task must have the figure. */
uint64_t figure(struct bench *bench, const char *task, const char *name);

#endif
