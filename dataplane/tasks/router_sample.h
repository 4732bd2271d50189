/* SPDX-License-Identifier: Apache-2.0 */
/* Random addresses for which the kernel itself is asked for its route: so a check does not rely on how its
 * state is read, of which table decides, and of the order of routes. */
#ifndef WSDP_ROUTER_SAMPLE_H
#define WSDP_ROUTER_SAMPLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "mirror/feed.h"

#define SAMPLES 1000

struct router_sample {
	uint8_t version;
	uint8_t address[16];
	uint32_t table; /* of a VRF; 0: main */
	enum feed_answer answer;
};

struct router_samples {
	uint64_t random; /* state of the generator */
	uint32_t nb;
	struct router_sample list[SAMPLES];
};

uint32_t samples_random(struct router_samples *samples);
/* Draw up to SAMPLES addresses anew, of main and of VRFs: most of them inside prefixes of the routes, whose tables
 * have the places that this kernel gives them. */
void samples_draw(struct router_samples *samples, const struct routes *routes,
		  const struct kernel *kernel, uint32_t nb);
/* Ask for each, in a state whose routes are forgotten: make those of the answers. Return 0 or a negative
 * errno with nothing left. */
int samples_ask(struct router_samples *samples, struct feed *feed, struct kernel *kernel,
		struct routes *answers, const atomic_bool *cancel);

#endif
