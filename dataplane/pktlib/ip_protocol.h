/* SPDX-License-Identifier: Apache-2.0 */
/* Tell packets of routing protocols and of neighbour discovery from others to a router itself. */
#ifndef PKTLIB_IP_PROTOCOL_H
#define PKTLIB_IP_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "ipv4.h"
#include "protocol.h"

/* Protocol numbers: IGMP, EIGRP, OSPF, PIM, VRRP. */
static inline bool
ip_protocol_routes(uint8_t protocol)
{
	return protocol == 2 || protocol == 88 || protocol == 89 || protocol == 103 ||
	       protocol == 112;
}

/* BGP (RFC 4271); BFD (RFC 5881, RFC 5883), RIP (RFC 2453, RFC 2080). left: octets that can be read. */
static inline bool
ip_ports_route(uint8_t protocol, const uint8_t *l4, uint32_t left)
{
	uint16_t from, to;

	if (left < 4)
		return false;
	from = be16_load(l4);
	to = be16_load(l4 + 2);
	if (protocol == IP_PROTO_TCP)
		return from == 179 || to == 179;
	return protocol == IP_PROTO_UDP &&
	       (to == 3784 || to == 3785 || to == 4784 || to == 520 || to == 521);
}

/* To 224.0.0.0/24 (RFC 5771 section 4) or ff02::/16 (RFC 4291 section 2.7), which no router forwards. ip: of
 * a whole header. */
static inline bool
ip_is_link_multicast(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? be32_load(ip + 16) >> 8 == 0xe00000 : be16_load(ip + 24) == 0xff02;
}

/* ip: of a whole header, IPv4 or IPv6; here: octets from it on that can be read. Later fragments and what
 * is behind extension headers are none. */
static inline bool
ip_is_protocol(const uint8_t *ip, uint32_t here)
{
	uint32_t length = 40;
	uint8_t protocol = ip[6];

	if (ip[0] >> 4 == 4) {
		length = (ip[0] & 15u) * 4;
		protocol = ip[9];
		if (ipv4_is_fragment(ip))
			return ip_protocol_routes(protocol);
	}
	if (ip_protocol_routes(protocol))
		return true;
	if (length >= here)
		return false;
	/* ICMPv6 of neighbour discovery comes from the link itself (RFC 4861 section 6.1). */
	if (ip[0] >> 4 == 6 && protocol == 58)
		return ip[7] == 255 && ip[length] >= 133 && ip[length] <= 137;
	return ip_ports_route(protocol, ip + length, here - length);
}

#endif
