/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a router for an IP packet that do not depend on its tables: judge its header, find the
 * destination, take one from the TTL or hop limit, write the next hop's addresses. No DPDK.
 *
 * RFC 1812 section 5.2.2 says which IPv4 headers are to be dropped, RFC 8200 what IPv6's hold. */
#ifndef PKTLIB_IP_FORWARD_H
#define PKTLIB_IP_FORWARD_H

#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "ipv4.h"
#include "protocol.h"

#define IPV6_LEN 40
#define IP_ETHER_LEN 14 /* of an untagged Ethernet header */
#define IP_MACS_LEN 12  /* its two addresses */

enum ip_verdict {
	IP_FORWARD,
	IP_NO_ROUTE, /* the lookup's, not the header's */
	IP_TTL_EXPIRED,
	IP_BAD_HEADER,
	IP_WITH_OPTIONS,
	IP_NOT_IP,
	IP_VERDICTS
};

/* Names as telemetry reports them; IP_FORWARD has none. */
extern const char *const ip_verdict_names[IP_VERDICTS];

/* left: octets of the frame from the header on. At least IPV4_LEN of them can be read. */
static inline enum ip_verdict
ip_judge_v4(const uint8_t *ip, uint32_t left)
{
	uint16_t total;

	if (left < IPV4_LEN || ip[0] >> 4 != 4 || ip[0] < IPV4_NO_OPTIONS)
		return IP_BAD_HEADER;
	total = be16_load(ip + 2);
	if (total < (ip[0] & 15) * 4 || total > left)
		return IP_BAD_HEADER;
	if (ip[0] != IPV4_NO_OPTIONS)
		return IP_WITH_OPTIONS;
	if (!ipv4_is_intact(ip))
		return IP_BAD_HEADER;
	return ip[8] <= 1 ? IP_TTL_EXPIRED : IP_FORWARD;
}

/* The same; at least IPV6_LEN octets can be read. */
static inline enum ip_verdict
ip_judge_v6(const uint8_t *ip, uint32_t left)
{
	if (left < IPV6_LEN || ip[0] >> 4 != 6 || IPV6_LEN + (uint32_t)be16_load(ip + 4) > left)
		return IP_BAD_HEADER;
	return ip[7] <= 1 ? IP_TTL_EXPIRED : IP_FORWARD;
}

/* Judge a frame whose Ethernet header can be read. here: octets that can be read; length: octets
 * of the frame, here or in later segments. *version becomes 4 or 6 if it is to be forwarded. */
static inline enum ip_verdict
ip_judge(const uint8_t *frame, uint32_t here, uint32_t length, uint8_t *version)
{
	const uint8_t *ip = frame + IP_ETHER_LEN;
	uint16_t type = be16_load(frame + IP_MACS_LEN);

	if (type == ETH_TYPE_IPV4) {
		*version = 4;
		return here - IP_ETHER_LEN < IPV4_LEN ? IP_BAD_HEADER
						      : ip_judge_v4(ip, length - IP_ETHER_LEN);
	}
	if (type == ETH_TYPE_IPV6) {
		*version = 6;
		return here - IP_ETHER_LEN < IPV6_LEN ? IP_BAD_HEADER
						      : ip_judge_v6(ip, length - IP_ETHER_LEN);
	}
	return IP_NOT_IP;
}

/* The destinations of such frames: a number, and 16 octets. */
static inline uint32_t
ip_destination_v4(const uint8_t *frame)
{
	return be32_load(frame + IP_ETHER_LEN + 16);
}

static inline const uint8_t *
ip_destination_v6(const uint8_t *frame)
{
	return frame + IP_ETHER_LEN + 24;
}

/* Change a frame to one for the next hop. macs: the next hop's, then the port's. */
static inline void
ip_rewrite(uint8_t *frame, const uint8_t *macs)
{
	uint8_t *ip = frame + IP_ETHER_LEN;
	uint8_t version = ip[0] >> 4; /* before the store, which may alias it */

	memcpy(frame, macs, IP_MACS_LEN);
	if (version == 4)
		ipv4_age(ip);
	else
		ip[7]--;
}

#endif
