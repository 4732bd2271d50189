/* SPDX-License-Identifier: Apache-2.0 */
/* Frame sizes: one size in octets, or an IMIX genome (RFC 6985) of sizes sent in turn. */
#ifndef PKTLIB_FRAME_SIZE_H
#define PKTLIB_FRAME_SIZE_H

#include <stdint.h>

#include "fault.h"

#define FCS_BYTES 4
#define FRAME_MIN_BYTES 64 /* with FCS, as all sizes in configuration and results */
#define FRAME_MAX_BYTES 9216
#define FRAME_LEN_MIN (FRAME_MIN_BYTES - FCS_BYTES) /* as a frame is in memory: no FCS */
#define FRAME_LEN_MAX (FRAME_MAX_BYTES - FCS_BYTES)
#define GENOME_MAX 255

/* The order in which sizes are sent: the frame at position i has sizes[position[i]] octets. */
struct frame_sizes {
	unsigned int nb_positions;
	unsigned int nb_sizes;
	uint8_t position[GENOME_MAX]; /* index into sizes */
	uint16_t sizes[GENOME_MAX];   /* octets with FCS, each once */
};

/* Read "64" or "aaaaaaaddddg". Returns 0, or -1 with the reason. */
int frame_sizes_parse(struct frame_sizes *sizes, const char *text, struct fault *why);

#endif
