/* SPDX-License-Identifier: Apache-2.0 */
/* Check that a frame that left a BNG is what the test's script requires.
 *
 * Misdirected: whole, but on its way to somebody else. Corrupt: not what was sent. A frame counts
 * under the first cause that is found, and only frames that can be recognised as the test's own are
 * judged. Payloads are not compared beyond the stamp.
 */
#ifndef PKTLIB_BNG_CONTENT_H
#define PKTLIB_BNG_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "script.h"

enum bng_content {
	BNG_CONTENT_RIGHT,
	BNG_CONTENT_FOREIGN, /* not recognised as one of the test's frames */

	/* Corrupt. */
	BNG_CONTENT_FORMAT,   /* tags, PPPoE, label or tunnel where there must be others, or none */
	BNG_CONTENT_CHECKSUM, /* of an IPv4 header */
	BNG_CONTENT_LENGTH,   /* lengths that do not agree, or too much or too little padding */
	BNG_CONTENT_TTL,      /* of the inner packet: not lowered, or lowered by more than one */
	BNG_CONTENT_PACKET,   /* anything else in the inner packet that nobody may change */
	BNG_CONTENT_TUNNEL,   /* a field of the outer IPv4 or the GRE header, ends and key aside */

	/* Misdirected. */
	BNG_CONTENT_PORT,    /* it came out of another port than the tables say */
	BNG_CONTENT_MAC,     /* source or destination */
	BNG_CONTENT_TAGS,    /* another subscriber's */
	BNG_CONTENT_SESSION, /* another subscriber's */
	BNG_CONTENT_LABEL,   /* another next hop's, or there must be none */
	BNG_CONTENT_ENDS,    /* the tunnel's ends */
	BNG_CONTENT_KEY,     /* another subscriber's */

	BNG_CONTENTS
};

/* The name of its counter: "wrong_key". */
const char *bng_content_name(enum bng_content content);

static inline bool
bng_content_is_misdirected(enum bng_content content)
{
	return content >= BNG_CONTENT_PORT;
}

struct bng_content_rule {
	const struct bng_script *script;
	bool translated; /* a gateway lies between; else frames arrive as they were sent */
	uint8_t port;    /* the gateway's port, of the side where they leave, that is listened to */
};

/* Positions in a frame that has been recognised. */
struct bng_content_seen {
	uint32_t flow;
	uint16_t inner_at;
	uint16_t outer_at; /* 0: no tunnel */
	uint16_t total;    /* octets of the inner packet, by its header */
	uint16_t stamp_at; /* 0: no room */
	uint8_t nb_tags;
	bool mpls;
	bool pppoe;
};

/* No header that is looked at ends beyond this. */
#define BNG_CONTENT_READS 128

/* Find the test's packet in whatever is around it. `len` is without FCS; the first
 * min(len, BNG_CONTENT_READS) octets are at `frame`. False: it is none. */
bool bng_content_find(const struct bng_content_rule *rule, const uint8_t *frame, uint32_t len,
		      struct bng_content_seen *seen);
/* Judge a frame that has been found. */
enum bng_content bng_content_judge(const struct bng_content_rule *rule, const uint8_t *frame,
				   uint32_t len, const struct bng_content_seen *seen);

#endif
