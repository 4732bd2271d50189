/* SPDX-License-Identifier: Apache-2.0 */
/* Ask the kernel for its routes to some addresses all the time, and compare them with the tables in force: a
 * router that forwards otherwise than the kernel says so without being asked. */
#ifndef WSDP_ROUTER_SAMPLER_H
#define WSDP_ROUTER_SAMPLER_H

#include "router_checker.h"

struct sampler {
	struct checker checker;
	bool was_wrong; /* the samples are asked for again: it may have been a change under way */
	bool is_said;
	uint64_t sampled, wrong;
};

/* See checker_open. */
int sampler_open(struct sampler *sampler, const char *task, struct router_space *space,
		 const uint32_t *indexes, const char *const *names, unsigned int nb);
void sampler_close(struct sampler *sampler);
/* With the control lock, while the tables in force are those of `kernel`: takes a millisecond. */
void sampler_run(struct sampler *sampler, const struct kernel *kernel);
void sampler_stats(const struct sampler *sampler, struct telemetry_out *out);

#endif
