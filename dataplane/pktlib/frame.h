/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet frames with UDP over IPv4 or IPv6, made from a template.
 *
 * A template is built once for each frame size. Making a frame copies the template and stores what
 * differs: the flow's field, the stamp, and a checksum where one covers these. So a frame costs the
 * same for one flow as for a million, and no octet of a recycled buffer shows through.
 *
 * Checksums: the IPv4 header's is always valid. UDP over IPv4 carries checksum 0, "not computed"
 * (RFC 768); UDP over IPv6 always carries a valid one (RFC 8200 section 8.1).
 */
#ifndef PKTLIB_FRAME_H
#define PKTLIB_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "destinations.h"
#include "fault.h"
#include "flow_step.h"
#include "protocol.h"
#include "stamp.h"

/* The first flow's headers and what all flows share. */
struct frame_spec {
	uint8_t ip_version;  /* 4 or 6 */
	uint8_t nb_tags;     /* 0, 1 (VLAN) or 2 (QinQ) */
	uint16_t outer_tpid; /* of the outer of two tags */
	uint16_t vlan;       /* the only or outer tag's id, 1..4094 */
	uint16_t inner_vlan;
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	uint8_t src_ip[16]; /* IPv4: the first 4 octets */
	uint8_t dst_ip[16];
	uint16_t src_port;
	uint16_t dst_port;
	uint8_t stream;
	bool stamped; /* where there is room */
};

static inline unsigned int
frame_l3_at(const struct frame_spec *spec)
{
	return 14 + 4u * spec->nb_tags;
}

static inline unsigned int
frame_l4_at(const struct frame_spec *spec)
{
	return frame_l3_at(spec) + (spec->ip_version == 4 ? 20 : 40);
}

/* Checksum that must be recomputed for each frame. */
enum frame_checksum {
	CHECKSUM_FIXED, /* none: it covers nothing that differs */
	CHECKSUM_IPV4,  /* the IPv4 header's: the flow's field is an address */
	CHECKSUM_UDP6,  /* UDP's over IPv6: it covers the stamp */
};

/* Templates are copied in whole blocks: a buffer must have room for the length rounded up. */
#define FRAME_BLOCK 64
#define FRAME_ROOM(len) (((len) + FRAME_BLOCK - 1) / FRAME_BLOCK * FRAME_BLOCK)

struct frame_template {
	uint8_t *octets;   /* FRAME_ROOM(len) of them */
	uint16_t len;      /* without FCS */
	uint16_t stamp_at; /* 0: not stamped */
	uint16_t checksum_at;
	struct flow_step step;
	enum frame_checksum checksum;
	uint64_t step_base;     /* the flow field's word for flow 0 */
	uint64_t step_mask;     /* ones where the UDP checksum covers that word */
	uint64_t checksum_base; /* the sum of everything that never differs */
};

/* The smallest frame, with FCS, of this encapsulation; and the smallest with room for a stamp. */
unsigned int frame_min_bytes(const struct frame_spec *spec);
unsigned int frame_stamped_min_bytes(const struct frame_spec *spec);

/* Check that the spec's values are in range. Returns 0, or -1 with the reason. */
int frame_spec_check(const struct frame_spec *spec, struct fault *why);

/* Build the template of frames of `bytes` octets with FCS, in `octets` (FRAME_ROOM(bytes - 4)
 * octets, aligned to 64). Returns 0, or -1 with the reason. */
int
frame_template_build(struct frame_template *t, const struct frame_spec *spec, enum flow_field field,
		     unsigned int bytes, uint8_t *octets, struct fault *why);

/* Make a template of any frame, to send it as it is; but if it is UDP with room for a stamp and
 * `stamped`, its payload begins with the stamp. `octets` holds the frame, has FRAME_ROOM(len) octets
 * and is changed; it is aligned to 64. Such frames have one flow, 0. */
void frame_template_of(struct frame_template *t, uint8_t *octets, uint16_t len, bool stamped);

static inline __attribute__((always_inline)) void
frame_copy(uint8_t *to, const uint8_t *octets, unsigned int len)
{
	/* Constant sizes become a few wide moves; the libc picks the best for the rest. */
	if (len <= FRAME_BLOCK)
		memcpy(to, octets, FRAME_BLOCK);
	else if (len <= 2 * FRAME_BLOCK)
		memcpy(to, octets, 2 * FRAME_BLOCK);
	else
		memcpy(to, octets, len);
}

/* Return the value at t->step.at in the frames of a flow. */
static inline uint64_t
frame_flow_word(const struct frame_template *t, uint32_t flow)
{
	return t->step_base + ((uint64_t)flow << t->step.shift);
}

/* Make one frame at `to`, which has room for FRAME_ROOM(t->len) octets. `word` is stored at
 * t->step.at. `more` is what the caller changes afterwards, where the template has zeros that a UDP
 * checksum covers. `checksum` is t->checksum, handed over apart so that a caller whose templates all
 * agree on it can make it a constant. */
static inline __attribute__((always_inline)) void
frame_write_word(uint8_t *to, const struct frame_template *t, enum frame_checksum checksum,
		 uint64_t word, uint64_t more, uint64_t identity, uint64_t moment)
{
	frame_copy(to, t->octets, t->len);
	be64_store(to + t->step.at, word);
	if (t->stamp_at != 0) {
		be64_store(to + t->stamp_at + 2, identity);
		be64_store(to + t->stamp_at + 10, moment);
	}
	if (checksum == CHECKSUM_IPV4) {
		uint64_t sum = t->checksum_base + (word >> 16 & UINT16_MAX) + (word & UINT16_MAX);

		be16_store(to + t->checksum_at, checksum_finish(sum));
	} else if (checksum == CHECKSUM_UDP6) {
		uint64_t sum = checksum_add_word(t->checksum_base, word & t->step_mask);
		uint16_t result;

		if (more != 0)
			sum = checksum_add_word(sum, more);
		if (t->stamp_at != 0) {
			sum = checksum_add_word(sum, identity);
			sum = checksum_add_word(sum, moment);
		}
		result = checksum_finish(sum);
		be16_store(to + t->checksum_at, result != 0 ? result : UINT16_MAX);
	}
}

/* Make one frame of a flow. */
static inline __attribute__((always_inline)) void
frame_write(uint8_t *to, const struct frame_template *t, enum frame_checksum checksum,
	    uint32_t flow, uint64_t identity, uint64_t moment)
{
	frame_write_word(to, t, checksum, frame_flow_word(t, flow), 0, identity, moment);
}

/* Make one frame to an address. The template steps FLOW_DST_IP, and has zeros in the upper half of
 * an IPv6 destination. */
static inline __attribute__((always_inline)) void
frame_write_to(uint8_t *to, const struct frame_template *t, const struct destination *address,
	       uint64_t identity, uint64_t moment)
{
	if (t->checksum == CHECKSUM_UDP6) {
		frame_write_word(to, t, CHECKSUM_UDP6, address->low, address->high, identity,
				 moment);
		be64_store(to + t->step.at - 8, address->high);
	} else {
		/* The word begins with the source. */
		uint64_t source = t->step_base >> 32 << 32;

		frame_write_word(to, t, CHECKSUM_IPV4, source | address->low, 0, identity, moment);
	}
}

#endif
