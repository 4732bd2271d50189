/* SPDX-License-Identifier: Apache-2.0 */
/* Of the comparison of tables and routes alone: what is compared, and how differences are written. */
#ifndef WSDP_ROUTER_COMPARISON_H
#define WSDP_ROUTER_COMPARISON_H

#include "router_check.h"

#define COMPARISON_TEXT 256

struct comparison {
	const struct router_tables *tables;
	const struct routes *routes; /* of one table */
	const struct fib *fib;       /* of that table */
	const char *vrf;             /* that has it; "": main */
	const char *const *names;
	FILE *file;
	uint32_t lines;
	struct router_difference_counts *counts;
};

/* Return a hop of routes as the tables have hops. */
struct router_hop comparison_as_built(const struct route_hop *from);
/* Describe, in COMPARISON_TEXT octets, what a lookup gave, and what it was to give. */
void comparison_describe_built(const struct comparison *comparison, uint64_t value, char *text);
void comparison_describe_wanted(const struct comparison *comparison, const struct route_hop *wanted,
				char *text);
/* Write a difference: the kernel's answer, and that of the tables. */
void comparison_write_line(struct comparison *comparison, uint8_t version, const uint8_t *prefix,
			   uint8_t length, const char *kernel, const char *tables);

#endif
