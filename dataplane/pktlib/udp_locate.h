/* SPDX-License-Identifier: Apache-2.0 */
/* Locate the UDP payload of a received frame, if it is UDP. Never reads past the frame. */
#ifndef PKTLIB_UDP_LOCATE_H
#define PKTLIB_UDP_LOCATE_H

#include <stdint.h>

#include "frame.h"
#include "frame_size.h"

#define UDP_LOCATE_MAX_TAGS 2

enum udp_located {
	UDP_NONE, /* not UDP over IPv4 or IPv6, or a fragment */
	UDP_CUT,  /* UDP, but not of the length that its headers say */
	UDP_WHOLE,
};

struct udp_payload {
	uint16_t at;  /* offset in the frame; of a cut frame 0 if it is not in there */
	uint16_t len; /* by the UDP header; 0 for a cut frame */
	uint8_t ip_version;
};

/* `len` is without FCS. The payload is not filled in for UDP_NONE. */
static inline enum udp_located
udp_locate(const uint8_t *frame, uint32_t len, struct udp_payload *payload)
{
	uint32_t l3 = 14, l4, end;
	uint16_t type, udp_len;
	unsigned int tags;

	if (len < 14 + 20 + 8)
		return UDP_NONE;
	type = be16_load(frame + 12);
	for (tags = 0; type == TPID_VLAN || type == TPID_QINQ; tags++) {
		if (tags == UDP_LOCATE_MAX_TAGS || len < l3 + 4 + 20 + 8)
			return UDP_NONE;
		type = be16_load(frame + l3 + 2);
		l3 += 4;
	}
	if (type == ETH_TYPE_IPV4) {
		/* More fragments, or an offset: the UDP header may be elsewhere. */
		if ((frame[l3] & 0xf0) != 0x40 || frame[l3 + 9] != IP_PROTO_UDP ||
		    (be16_load(frame + l3 + 6) & 0x3fff) != 0)
			return UDP_NONE;
		payload->ip_version = 4;
		l4 = l3 + (frame[l3] & 0x0fu) * 4;
		end = l3 + be16_load(frame + l3 + 2);
	} else if (type == ETH_TYPE_IPV6) {
		if (frame[l3] >> 4 != 6 || frame[l3 + 6] != IP_PROTO_UDP)
			return UDP_NONE;
		payload->ip_version = 6;
		l4 = l3 + 40;
		end = l4 + be16_load(frame + l3 + 4);
	} else {
		return UDP_NONE;
	}
	payload->at = l4 >= l3 + 20 && l4 + 8 <= len ? (uint16_t)(l4 + 8) : 0;
	payload->len = 0;
	if (payload->at == 0 || end > len || l4 + 8 > end)
		return UDP_CUT;
	/* UDP must fill the IP packet, or one of the lengths has been damaged. So has one when more
	 * follows the packet than the padding of a frame of minimum size. */
	udp_len = be16_load(frame + l4 + 4);
	if (udp_len < 8 || l4 + udp_len != end || (end < len && len > FRAME_LEN_MIN))
		return UDP_CUT;
	payload->len = (uint16_t)(udp_len - 8);
	return UDP_WHOLE;
}

#endif
