/* SPDX-License-Identifier: Apache-2.0 */
/* Valid frames of minimum size, of random subscribers, as either side of a gateway gets them. */
#ifndef BENCH_BNG_FRAMES_H
#define BENCH_BNG_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_mbuf.h>

#include "pktlib/bng/table_file.h"

/* Frames of one direction, ready to be copied; what differs is put in afterwards. */
struct bng_frames {
	const struct bng_table_file *tables;
	uint32_t *order; /* users in random order */
	uint32_t next_user, next_route;
	bool up;
	uint8_t frame[128];
	uint16_t bytes;
	uint64_t sum; /* of the inner header without destination and checksum */
};

/* The frames of one direction. `order` is to be freed. */
void bng_frames_make(struct bng_frames *frames, const struct bng_table_file *tables, bool up,
		     uint32_t local_ip);
/* Make an mbuf the frame of the next subscriber. */
void bng_frames_restore(struct bng_frames *frames, struct rte_mbuf *mbuf);

#endif
