/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers by which headers name what follows them, as IEEE and IANA assign them. */
#ifndef PKTLIB_PROTOCOL_H
#define PKTLIB_PROTOCOL_H

#include <stdint.h>

/* Ethernet; TPIDs are those of tags. */
#define ETH_TYPE_IPV4 0x0800
#define ETH_TYPE_ARP 0x0806
#define TPID_VLAN 0x8100
#define ETH_TYPE_IPV6 0x86dd
#define ETH_TYPE_MPLS 0x8847
#define ETH_TYPE_PPPOE_DISCOVERY 0x8863
#define ETH_TYPE_PPPOE_SESSION 0x8864
#define TPID_QINQ 0x88a8

/* IPv4's protocol, IPv6's next header. */
#define IP_PROTO_HOP_BY_HOP 0
#define IP_PROTO_TCP 6
#define IP_PROTO_UDP 17
#define IP_PROTO_GRE 47

/* The first four octets of a GRE header (RFC 2890) with a key and nothing else, IPv4 behind it. */
#define GRE_KEY_IPV4 UINT32_C(0x20000800)

/* PPPoE's version, type and code of a session's frames (RFC 2516). */
#define PPPOE_SESSION_CODE 0x1100

/* PPP; protocols from PPP_CONTROL on set links up: LCP, IPCP, CHAP. */
#define PPP_IPV4 0x0021
#define PPP_CONTROL 0x8000

#endif
