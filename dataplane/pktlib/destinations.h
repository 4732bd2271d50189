/* SPDX-License-Identifier: Apache-2.0 */
/* Destination addresses of flows, from a text file with an address on each line. */
#ifndef PKTLIB_DESTINATIONS_H
#define PKTLIB_DESTINATIONS_H

#include <stdint.h>

#include "fault.h"

/* An address in host order; IPv4: the low 32 bits of `low`. */
struct destination {
	uint64_t high;
	uint64_t low;
};

struct destinations {
	uint32_t nb;
	struct destination *list;
};

/* Read 1 to FLOWS_MAX addresses of IP version 4 or 6; group addresses are refused. Returns 0, or -1
 * with the line and the reason; then nothing is left to free. */
int destinations_load(struct destinations *destinations, const char *path, uint8_t version,
		      struct fault *why);
void destinations_unload(struct destinations *destinations);

#endif
