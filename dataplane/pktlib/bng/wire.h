/* SPDX-License-Identifier: Apache-2.0 */
/* The two encapsulations of a Broadband Network Gateway, taken off and put on.
 *
 * Subscriber side (CPE): Ethernet | S-tag 0x88a8 or 0x8100 | C-tag 0x8100 | IPv4.
 * Network side (INET):   Ethernet | [one MPLS label] | IPv4 | GRE with a 32-bit key | IPv4.
 *
 * One flag decides whether a frame takes the fast path; its conditions are as few and wide as can be.
 * When it does not, bng_up_judge and bng_down_judge say why; for every frame, the flag is set exactly
 * when they say BNG_FORWARD.
 *
 * Headers are written right-aligned to the inner IPv4 header, in whole vectors: up to 6 octets in
 * front of a new frame, which belong to its headroom, are overwritten.
 */
#ifndef PKTLIB_BNG_WIRE_H
#define PKTLIB_BNG_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../bytes.h"
#include "../checksum.h"
#include "../protocol.h"
#include "../ipv4.h"
#include "verdict.h"

#define BNG_ETH_LEN 14
#define BNG_QINQ_LEN 22   /* Ethernet and both tags */
#define BNG_GRE_LEN 8     /* with key, without checksum and sequence number */
#define BNG_TUNNEL_LEN 28 /* IPv4 and GRE */
#define BNG_MPLS_LEN 4
#define BNG_OUTER_MAX 46  /* Ethernet, MPLS, IPv4, GRE */
#define BNG_OUTER_ROOM 48 /* the above in whole vectors */
#define BNG_FRAME_MIN 60  /* without FCS */
#define BNG_HEADROOM (BNG_OUTER_ROOM - BNG_QINQ_LEN)
#define BNG_UP_MIN (BNG_QINQ_LEN + IPV4_LEN)
#define BNG_DOWN_MIN (BNG_ETH_LEN + BNG_TUNNEL_LEN + IPV4_LEN)

/* As the CPU loads them. */
#define BNG_RAW_IPV4 __builtin_bswap16(ETH_TYPE_IPV4)
#define BNG_RAW_MPLS __builtin_bswap16(ETH_TYPE_MPLS)
#define BNG_RAW_VLAN __builtin_bswap16(TPID_VLAN)
#define BNG_RAW_QINQ __builtin_bswap16(TPID_QINQ)
#define BNG_RAW_GRE __builtin_bswap32(GRE_KEY_IPV4)
#define BNG_VID_MASK 0x0fff
#define BNG_KEY_BITS 28 /* of the GRE key; a larger one is nobody's */
#define BNG_KEY_MAX ((UINT32_C(1) << BNG_KEY_BITS) - 1)

/* S-VID and C-VID as one number. */
static inline uint32_t
bng_line(uint16_t svid, uint16_t cvid)
{
	return (uint32_t)svid << 12 | cvid;
}

/* Both tags of a frame of at least BNG_QINQ_LEN octets, priorities masked. */
static inline uint32_t
bng_line_of(const uint8_t *frame)
{
	return bng_line(be16_load(frame + 14) & BNG_VID_MASK, be16_load(frame + 18) & BNG_VID_MASK);
}

static inline bool
bng_is_qinq(const uint8_t *frame)
{
	uint64_t tpids = raw64_load(frame + 12) & UINT64_C(0x0000ffff0000ffff);

	return (tpids == ((uint64_t)BNG_RAW_VLAN << 32 | BNG_RAW_VLAN)) |
	       (tpids == ((uint64_t)BNG_RAW_VLAN << 32 | BNG_RAW_QINQ));
}

/* A CPE frame. `line` and `destination` hold whenever there are BNG_UP_MIN octets. */
struct bng_up {
	uint32_t line;
	uint32_t destination; /* of the IPv4 packet, host order */
	uint16_t total;       /* octets of the IPv4 packet; the rest is padding */
	bool fast;
};

/* `len` of `frame`'s octets lie in one piece and are at least BNG_UP_MIN. */
static inline struct bng_up
bng_up_parse(const uint8_t *frame, uint32_t len)
{
	const uint8_t *ip = frame + BNG_QINQ_LEN;
	struct bng_up up = {
		.line = bng_line_of(frame),
		.destination = be32_load(ip + 16),
		.total = ipv4_total(ip),
	};
	up.fast = bng_is_qinq(frame) && raw16_load(frame + 20) == BNG_RAW_IPV4 &&
		  (raw64_load(ip) & IPV4_PLAIN_MASK) == IPV4_NO_OPTIONS && up.total >= IPV4_LEN &&
		  up.total + (uint32_t)BNG_QINQ_LEN <= len &&
		  up.total <= UINT16_MAX - BNG_TUNNEL_LEN && ipv4_is_intact(ip);
	return up;
}

/* Return why a CPE frame of any length is not for the fast path; BNG_FORWARD where it is. */
enum bng_verdict bng_up_judge(const uint8_t *frame, uint32_t len);
/* The same for the IPv4 packet at the front of `len` octets that is to go into a tunnel. */
enum bng_verdict bng_tunnelled_judge(const uint8_t *ip, uint32_t len);

/* Next hop of upstream packets: one cache line, ready to be copied. */
struct bng_hop {
	uint8_t header[BNG_OUTER_ROOM]; /* right-aligned; length, checksum and key are 0 */
	uint32_t sum;                   /* of the outer IPv4 header as it stands there */
	uint8_t header_len;             /* BNG_OUTER_MAX, or less without MPLS */
	uint8_t port;
	uint8_t verdict; /* enum bng_verdict: BNG_FORWARD, BNG_NO_ROUTE or BNG_LOCAL */
} __attribute__((aligned(64)));

#define BNG_NO_LABEL UINT32_MAX

struct bng_hop_spec {
	uint32_t tunnel; /* the far end's IPv4 address, host order */
	uint32_t label;  /* BNG_NO_LABEL: no MPLS */
	uint8_t mac[6];
	uint8_t port;
};

void bng_hop_build(struct bng_hop *hop, const struct bng_hop_spec *spec, uint32_t local_ip,
		   const uint8_t local_mac[6]);

/* Put a hop's outer headers in front of an IPv4 packet of `total` octets; BNG_OUTER_ROOM octets
 * there are writable. The frame then begins hop->header_len octets before the packet. */
static inline void
bng_encapsulate(uint8_t *ip, uint16_t total, const struct bng_hop *hop, uint32_t key)
{
	uint16_t outer = (uint16_t)(total + BNG_TUNNEL_LEN);

	memcpy(ip - BNG_OUTER_ROOM, hop->header, BNG_OUTER_ROOM);
	be16_store(ip - BNG_TUNNEL_LEN + 2, outer);
	be16_store(ip - BNG_TUNNEL_LEN + 10, checksum_finish(hop->sum + outer));
	be32_store(ip - 4, key);
}

/* An INET frame. `key` and `destination` hold whenever the frame has BNG_DOWN_MIN octets and, with
 * MPLS, BNG_MPLS_LEN more. */
struct bng_down {
	uint32_t key;
	uint32_t destination; /* of the inner packet */
	uint16_t inner_at;    /* where in the frame it begins */
	uint16_t total;       /* its octets */
	bool fast;
};

/* Return the offset of the outer IPv4 header in a frame of at least BNG_ETH_LEN octets. */
static inline uint16_t
bng_outer_at(const uint8_t *frame)
{
	return be16_load(frame + 12) == ETH_TYPE_MPLS ? BNG_ETH_LEN + BNG_MPLS_LEN : BNG_ETH_LEN;
}

/* Return whether the first segment of a frame holds all headers that bng_down_parse reads. */
static inline bool
bng_down_has_headers(const uint8_t *frame, uint32_t len)
{
	return len >= BNG_DOWN_MIN + BNG_MPLS_LEN ||
	       (len >= BNG_DOWN_MIN && bng_outer_at(frame) == BNG_ETH_LEN);
}

/* The octets where the GRE key of a frame belongs that has all headers, whatever they hold. */
static inline uint32_t
bng_key_of(const uint8_t *frame)
{
	return be32_load(frame + bng_outer_at(frame) + IPV4_LEN + 4);
}

/* `len` of `frame`'s octets lie in one piece and bng_down_has_headers. `local_ip` is in host
 * order. */
static inline struct bng_down
bng_down_parse(const uint8_t *frame, uint32_t len, uint32_t local_ip)
{
	uint16_t type = raw16_load(frame + 12), outer_at = bng_outer_at(frame);
	const uint8_t *outer = frame + outer_at, *gre = outer + IPV4_LEN;
	const uint8_t *inner = outer + BNG_TUNNEL_LEN;
	uint16_t outer_total = ipv4_total(outer);
	struct bng_down down = {
		.key = be32_load(gre + 4),
		.destination = be32_load(inner + 16),
		.inner_at = (uint16_t)(outer_at + BNG_TUNNEL_LEN),
		.total = ipv4_total(inner),
	};
	bool typed = type == BNG_RAW_IPV4 || (type == BNG_RAW_MPLS && (frame[16] & 1) != 0);

	down.fast = typed && (raw64_load(outer) & IPV4_PLAIN_MASK) == IPV4_NO_OPTIONS &&
		    outer[9] == IP_PROTO_GRE && be32_load(outer + 16) == local_ip &&
		    raw32_load(gre) == BNG_RAW_GRE && outer_at + (uint32_t)outer_total <= len &&
		    (raw64_load(inner) & IPV4_PLAIN_MASK) == IPV4_NO_OPTIONS &&
		    down.total >= IPV4_LEN &&
		    down.total + (uint32_t)BNG_TUNNEL_LEN <= outer_total && inner[8] > 1 &&
		    ipv4_is_intact(outer) && ipv4_is_intact(inner);
	return down;
}

/* Return why an INET frame of any length is not for the fast path; BNG_FORWARD where it is. */
enum bng_verdict bng_down_judge(const uint8_t *frame, uint32_t len, uint32_t local_ip);

/* Everything of a CPE frame's header that all subscribers share. */
struct bng_cpe_side {
	uint64_t source; /* source MAC and outer TPID as they stand on the wire */
};

static inline struct bng_cpe_side
bng_cpe_side(const uint8_t mac[6], uint16_t tpid)
{
	uint8_t octets[8];

	memcpy(octets, mac, 6);
	be16_store(octets + 6, tpid);
	return (struct bng_cpe_side){raw64_load(octets)};
}

/* Destination of a downstream packet: a quarter of a cache line. */
struct bng_host {
	uint64_t
		mac; /* the MAC's octets in memory order in the upper 6 bytes, flags in the lower */
	uint32_t ip; /* host order */
	uint32_t tags; /* S-VID and C-VID as they stand on the wire */
} __attribute__((aligned(16)));

#define BNG_HOST_PORT_MASK 0x000fu
#define BNG_HOST_KNOWN 0x0010u     /* it has an address and a MAC */
#define BNG_HOST_MARK_MASK 0xffe0u /* hosts.h: whose it is, in tables of many subscribers */
#define BNG_HOST_FLAGS_MASK 0xffffu

static inline uint32_t
bng_host_tags(uint32_t line)
{
	return (uint32_t)__builtin_bswap16((uint16_t)(line >> 12)) |
	       (uint32_t)__builtin_bswap16((uint16_t)(line & BNG_VID_MASK)) << 16;
}

/* Put Ethernet and both tags in front of an IPv4 packet; 24 octets there are writable. The frame
 * then begins BNG_QINQ_LEN octets before the packet. */
static inline void
bng_tag(uint8_t *ip, const struct bng_host *host, const struct bng_cpe_side *side)
{
	uint64_t tags = (uint64_t)(host->tags & UINT16_MAX) | (uint64_t)BNG_RAW_VLAN << 16 |
			(uint64_t)(host->tags >> 16) << 32 | (uint64_t)BNG_RAW_IPV4 << 48;

	memcpy(ip - 24, &host->mac, sizeof(host->mac));
	memcpy(ip - 16, &side->source, sizeof(side->source));
	memcpy(ip - 8, &tags, sizeof(tags));
}

#endif
