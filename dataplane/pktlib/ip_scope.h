/* SPDX-License-Identifier: Apache-2.0 */
/* Judge by its addresses whether a router may forward a packet: RFC 1812 sections 5.3.7 and 4.2.2.11, RFC
 * 6890; IPv6: RFC 4291 sections 2.5 to 2.7. */
#ifndef PKTLIB_IP_SCOPE_H
#define PKTLIB_IP_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

enum ip_scope {
	IP_UNICAST,
	IP_MULTICAST, /* to many: not for a router of unicast */
	IP_LINK,      /* to a neighbour or the router itself, on this link alone */
	IP_MARTIAN,   /* an address that none may send from or to */
};

/* 0.0.0.0/8, 127.0.0.0/8, and 224.0.0.0 on: by the first octet. */
static inline bool
ip_is_special_v4(uint8_t first)
{
	return (uint8_t)(first - 1) >= 223 || first == 127;
}

static inline enum ip_scope
ip_scope_v4(const uint8_t *ip)
{
	uint8_t source = ip[12], target = ip[16];

	if (!ip_is_special_v4(source) && !ip_is_special_v4(target))
		return IP_UNICAST;
	/* 0.0.0.0 may ask for an address, at the limited broadcast. */
	if (be32_load(ip + 16) == UINT32_MAX && (source == 0 || !ip_is_special_v4(source)))
		return IP_LINK;
	if (target >> 4 == 0xe && (be32_load(ip + 12) == 0 || !ip_is_special_v4(source)))
		return IP_MULTICAST;
	return IP_MARTIAN;
}

static inline bool
ip_is_link_local_v6(const uint8_t *address)
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

static inline enum ip_scope
ip_scope_v6(const uint8_t *ip)
{
	const uint8_t *source = ip + 8, *target = ip + 24;
	uint64_t source_high = raw64_load(source), target_high = raw64_load(target);

	/* Global unicast addresses are 2000::/3, unique local ones fc00::/7. */
	if ((source[0] >> 5 == 1 || source[0] >> 1 == 0x7e) &&
	    (target[0] >> 5 == 1 || target[0] >> 1 == 0x7e))
		return IP_UNICAST;
	if (source[0] == 0xff)
		return IP_MARTIAN;
	if (target[0] == 0xff)
		return IP_MULTICAST;
	/* :: and ::1 */
	if (target_high == 0 && be64_load(target + 8) <= 1)
		return IP_MARTIAN;
	if (source_high == 0 && be64_load(source + 8) == 1)
		return IP_MARTIAN;
	if (ip_is_link_local_v6(target))
		return IP_LINK;
	/* RFC 4291 section 2.5.6: not to leave its link; :: may look for a duplicate only. */
	if (ip_is_link_local_v6(source) || (source_high == 0 && be64_load(source + 8) == 0))
		return IP_LINK;
	return IP_UNICAST;
}

#endif
