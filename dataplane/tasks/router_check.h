/* SPDX-License-Identifier: Apache-2.0 */
/* Compare tables with routes, prefix by prefix, and with what the kernel answers for addresses. */
#ifndef WSDP_ROUTER_CHECK_H
#define WSDP_ROUTER_CHECK_H

#include <stdint.h>
#include <stdio.h>

#include "router_sample.h"
#include "router_tables.h"

struct router_difference_counts {
	uint32_t compared;  /* prefixes of the routes */
	uint32_t missing;   /* of them, without a route in the tables */
	uint32_t different; /* of them, with another hop */
	uint32_t extra;     /* prefixes of the tables that the routes have not */
	uint32_t lookups;   /* addresses that were looked up as a frame's are */
	uint32_t wrong_lookups;
	uint32_t samples; /* addresses for which the kernel was asked */
	uint32_t wrong_samples;
};

/* Write a line of JSON for each difference, up to a limit. names: of the outputs. */
void router_compare(const struct router_tables *tables, const struct routes *routes,
		    const char *const *names, FILE *file, struct router_difference_counts *counts);
/* The same for samples, of which the kernel's answers are these routes; the counts grow. */
void
router_compare_samples(const struct router_tables *tables, const struct router_samples *samples,
		       const struct routes *answers, const char *const *names, FILE *file,
		       struct router_difference_counts *counts);

#endif
