/* SPDX-License-Identifier: Apache-2.0 */
/* State of the kernel that a router does not follow. */
#ifndef WSDP_ROUTER_REFUSALS_H
#define WSDP_ROUTER_REFUSALS_H

#include "mirror/compile.h"

struct telemetry_out;

struct refusals {
	bool is_said[KERNEL_REFUSALS];
	bool is_over_said;
};

/* Say once by name what is not mirrored; called at once, so a count above 0 has its reason. */
void refusals_say(struct refusals *refusals, const struct kernel *kernel, const char *task);
/* Say once how much is left to the kernel since all hops are in use. */
void
refusals_say_over(struct refusals *refusals, const struct compile_report *report, const char *task);
/* Add the counts. */
void refusals_stats(const struct kernel *kernel, struct telemetry_out *out);

#endif
