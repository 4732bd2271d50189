/* SPDX-License-Identifier: Apache-2.0 */
/* Classify a received frame for a sink: from one of its generators or not, whole or not. */
#ifndef PKTLIB_VERDICT_H
#define PKTLIB_VERDICT_H

#include <stdint.h>

#include "stamp.h"
#include "udp_locate.h"

enum verdict {
	VERDICT_OURS,        /* stamped, of this trial */
	VERDICT_UNSTAMPED,   /* UDP with too short a payload for a stamp: taken for ours */
	VERDICT_FOREIGN,     /* not one of our generators' */
	VERDICT_STALE,       /* ours, but of another trial */
	VERDICT_CORRUPT,     /* ours, but of a wrong length or a flow there is not */
	VERDICT_MISDIRECTED, /* ours and whole, but for somebody else (where content is checked) */
};

/* Frames that a sink counts: streams first_stream .. first_stream + streams - 1. */
struct verdict_rule {
	uint8_t first_stream;
	uint16_t streams;
	uint8_t trial;
	uint32_t flows; /* of each stream */
};

/* No header that the verdict reads ends beyond this. */
#define VERDICT_READS 128

/* Judge a frame of `len` octets without FCS, the first min(len, VERDICT_READS) of which are at
 * `frame`. The stamp is filled in for OURS only; its flow counts from 0 over all streams. */
static inline enum verdict
verdict_of(const struct verdict_rule *rule, const uint8_t *frame, uint32_t len, struct stamp *stamp)
{
	struct udp_payload payload;
	enum udp_located located = udp_locate(frame, len, &payload);
	uint32_t stream;

	if (located == UDP_NONE)
		return VERDICT_FOREIGN;
	if (located == UDP_WHOLE && payload.len < STAMP_BYTES)
		return VERDICT_UNSTAMPED;
	if (payload.at == 0 || len < (uint32_t)payload.at + STAMP_BYTES ||
	    !stamp_read(frame + payload.at, stamp))
		return VERDICT_FOREIGN;
	stream = (uint32_t)stamp->stream - rule->first_stream;
	if (stream >= rule->streams)
		return VERDICT_FOREIGN;
	if (stamp->trial != rule->trial)
		return VERDICT_STALE;
	if (located == UDP_CUT || stamp->flow >= rule->flows)
		return VERDICT_CORRUPT;
	stamp->flow += stream * rule->flows;
	return VERDICT_OURS;
}

#endif
