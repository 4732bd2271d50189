/* SPDX-License-Identifier: Apache-2.0 */
/* PPPoE sessions (RFC 2516) on the subscriber side, behind both tags:
 *
 * Ethernet | S-tag | C-tag | 0x8864 | version 1, type 1, code 0, session, length | PPP 0x0021 | IPv4.
 *
 * Discovery and the control protocols of PPP are for whoever sets sessions up: the slow path. As in
 * wire.h, one flag decides about the fast path, exactly when bng_pppoe_judge says BNG_FORWARD. */
#ifndef PKTLIB_BNG_PPPOE_H
#define PKTLIB_BNG_PPPOE_H

#include "wire.h"

#define BNG_PPPOE_AT 22    /* the PPPoE header behind both tags */
#define BNG_PPPOE_LEN 6    /* the PPPoE header; its length field counts what follows it */
#define BNG_PPP_LEN 2      /* the PPP protocol */
#define BNG_PPPOE_IP_AT 30 /* where IPv4 begins */
#define BNG_PPPOE_UP_MIN (BNG_PPPOE_IP_AT + IPV4_LEN)
#define BNG_SESSION_MAX 0xfffe /* 0 and 0xffff are nobody's */

/* As the CPU loads the ethertype, version, type and code, then the PPP protocol. */
#define BNG_RAW_SESSION UINT32_C(0x00116488)
#define BNG_RAW_PPP_IPV4 0x2100

static inline uint16_t
bng_session_of(const uint8_t *frame)
{
	return be16_load(frame + BNG_PPPOE_AT + 2);
}

/* A CPE frame, whose `len` octets lie in one piece and are at least BNG_PPPOE_UP_MIN. */
static inline struct bng_up
bng_pppoe_parse(const uint8_t *frame, uint32_t len)
{
	const uint8_t *ip = frame + BNG_PPPOE_IP_AT;
	uint32_t payload = be16_load(frame + BNG_PPPOE_AT + 4);
	struct bng_up up = {
		.line = bng_line_of(frame),
		.destination = be32_load(ip + 16),
		.total = ipv4_total(ip),
	};
	up.fast = bng_is_qinq(frame) && raw32_load(frame + 20) == BNG_RAW_SESSION &&
		  raw16_load(frame + 28) == BNG_RAW_PPP_IPV4 &&
		  (raw64_load(ip) & IPV4_PLAIN_MASK) == IPV4_NO_OPTIONS && up.total >= IPV4_LEN &&
		  up.total + (uint32_t)BNG_PPP_LEN <= payload &&
		  payload + BNG_PPPOE_AT + BNG_PPPOE_LEN <= len &&
		  up.total <= UINT16_MAX - BNG_TUNNEL_LEN && ipv4_is_intact(ip);
	return up;
}

/* Return why a CPE frame of any length is not for the fast path; BNG_FORWARD where it is. */
enum bng_verdict bng_pppoe_judge(const uint8_t *frame, uint32_t len);

/* Put Ethernet, both tags, PPPoE and PPP in front of an IPv4 packet of `total` octets; 32 octets
 * there are writable. The frame then begins BNG_PPPOE_IP_AT octets before the packet. */
static inline void
bng_pppoe_tag(uint8_t *ip, uint16_t total, const struct bng_host *host, uint16_t session,
	      const struct bng_cpe_side *side)
{
	bng_tag(ip - BNG_PPPOE_LEN - BNG_PPP_LEN, host, side);
	memcpy(ip - 10, "\x88\x64\x11\0", 4);
	be16_store(ip - 6, session);
	be16_store(ip - 4, (uint16_t)(total + BNG_PPP_LEN));
	be16_store(ip - 2, PPP_IPV4);
}

#endif
