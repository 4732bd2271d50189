/* SPDX-License-Identifier: Apache-2.0 */
/* Record holes in flows, and changes of the path that their frames take.
 *
 * A path is a next hop: a frame's destination address names it. A record is made by the first frame
 * of a flow that arrives after lost ones, or by another path than the one before. Its times are those
 * of sending, so a record has the time for which the flow's frames were lost, however long the others
 * took. A frame that arrives late is no longer missing, but stays in its record.
 */
#ifndef PKTLIB_FLOW_GAPS_H
#define PKTLIB_FLOW_GAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stamp.h"

#define FLOW_GAPS_FLOWS_MAX 65536u
#define FLOW_GAPS_PATHS_MAX 8u
/* As many as noise may make before the event that is waited for. */
#define FLOW_GAPS_RECORDS (UINT32_C(1) << 18)
/* No path: nothing arrived before, or all paths count. */
#define FLOW_GAPS_NO_PATH UINT8_MAX

struct flow_gap {
	uint64_t before_tsc; /* stamp of the last frame before; 0: none */
	uint64_t after_tsc;  /* stamp of the first frame after */
	uint32_t flow;
	uint32_t lost; /* frames between them */
	uint8_t path_before;
	uint8_t path_after;
};

/* The last frame of a flow that arrived in order. */
struct flow_last {
	uint64_t tsc; /* its stamp; 0: none yet */
	uint32_t next;
	uint8_t path;
	bool known; /* `next` is known */
};

struct flow_gaps {
	uint32_t flows; /* the first ones are tracked; 0: none */
	struct flow_last *last;
	struct flow_gap *records;
	_Atomic uint32_t nb;   /* records below it are complete */
	uint64_t not_recorded; /* more than FLOW_GAPS_RECORDS */
	uint64_t misrouted;    /* frames to none of the paths */
	uint64_t unheard;      /* frames by a path that does not count: see only_path */
	uint64_t looped;       /* frames that passed more hops than others */
	uint8_t nb_paths;
	uint8_t only_path; /* frames count by this path alone */
	uint8_t hop_limit; /* highest of the frames so far */
	uint8_t paths[FLOW_GAPS_PATHS_MAX][6];
};

/* Octets of memory that this many flows need. */
size_t flow_gaps_bytes(uint32_t flows);
/* Track flows 0 to flows - 1, in `memory` (flow_gaps_bytes(flows), 8-octet aligned). */
void flow_gaps_init(struct flow_gaps *gaps, uint32_t flows, void *memory);
/* Forget everything. With from_zero every flow begins at sequence number 0. */
void flow_gaps_reset(struct flow_gaps *gaps, bool from_zero);

/* Read "MAC, MAC...", a path each. Returns false if the text is none or has too many. */
bool flow_gaps_paths(struct flow_gaps *gaps, const char *text);

/* Return the path of a frame that counts, or -1 for one that does not arrive where it should.
 * `frame` begins with an untagged Ethernet header and an IP header. */
int flow_gaps_path(struct flow_gaps *gaps, const uint8_t *frame);

/* Note a frame that arrived in order, in any of `flows`. */
void flow_gaps_add(struct flow_gaps *gaps, const struct stamp *stamp, uint8_t path);

/* As JSON, the format of docs/reference/wsdp.md. */
void flow_gaps_write(const struct flow_gaps *gaps, uint64_t tsc_hz, FILE *file);

#endif
