/* SPDX-License-Identifier: Apache-2.0 */
#include "router_refusals.h"

#include <stdio.h>

#include "core/telemetry.h"

void
refusals_say(struct refusals *refusals, const struct kernel *kernel, const char *task)
{
	for (unsigned int i = 0; i < KERNEL_REFUSALS; i++) {
		if (kernel->refused[i] == 0 || refusals->is_said[i])
			continue;
		refusals->is_said[i] = true;
		fprintf(stderr, "wsdp: [task.%s] kernel: %s%s (%s)\n", task,
			kernel_refusal_texts[i], i == KERNEL_VRF ? kernel->refused_vrf : "",
			kernel_refusal_names[i]);
	}
}

void
refusals_say_over(struct refusals *refusals, const struct compile_report *report, const char *task)
{
	if (refusals->is_over_said || report->over_neighbours + report->over_hops == 0)
		return;
	refusals->is_over_said = true;
	fprintf(stderr,
		"wsdp: [task.%s] kernel: %u neighbours (neighbours_over_hops) and %u routes "
		"(routes_over_hops) are left to the kernel: all next hops of the tables are in use\n",
		task, report->over_neighbours, report->over_hops);
}

void
refusals_stats(const struct kernel *kernel, struct telemetry_out *out)
{
	telemetry_u64(out, "malformed", kernel->malformed);
	for (unsigned int i = 0; i < KERNEL_REFUSALS; i++)
		telemetry_u64(out, kernel_refusal_names[i], kernel->refused[i]);
}
