/* SPDX-License-Identifier: Apache-2.0 */
/* Equal-cost multipath: a group of next hops is an array of buckets, and a flow's hash chooses one.
 * So a flow keeps its next hop, and a member that goes moves its own buckets; where weights differ,
 * rounding may move a few more. */
#ifndef PKTLIB_ECMP_H
#define PKTLIB_ECMP_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "ipv4.h"
#include "protocol.h"

#define ECMP_BUCKETS 256
#define ECMP_MEMBERS_MAX 64

/* The share of a member is its weight, at least 1, of all weights. */
struct ecmp_member {
	uint16_t hop;
	uint16_t weight;
};

/* Fill the buckets with the members' hops, each member at least once. previous: buckets as they
 * were, or NULL; as many of them as the weights allow stay. At most ECMP_MEMBERS_MAX members. */
void ecmp_fill(uint16_t *buckets, const struct ecmp_member *members, unsigned int nb_members,
	       const uint16_t *previous);

/* Fold addresses, protocol and ports to the number of a bucket. */
static inline unsigned int
ecmp_bucket(uint64_t addresses, uint64_t rest)
{
	/* Odd constants with bits all over; the highest bits of a product depend on all of it. */
	uint64_t hash = addresses * UINT64_C(0x9e3779b97f4a7c15);

	hash ^= (hash >> 32) ^ rest * UINT64_C(0xc2b2ae3d27d4eb4f);
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return (unsigned int)(hash >> 56);
}

/* Ports of TCP and UDP, as they lie there; 0 for other protocols. */
static inline uint32_t
ecmp_ports(uint8_t protocol, const uint8_t *l4, uint32_t left)
{
	if ((protocol != IP_PROTO_TCP && protocol != IP_PROTO_UDP) || left < 4)
		return 0;
	return raw32_load(l4);
}

/* The bucket of a packet without options. here: octets from its header on that can be read. All
 * fragments of a packet have one bucket: that of its addresses and protocol. */
static inline unsigned int
ecmp_bucket_v4(const uint8_t *ip, uint32_t here)
{
	uint32_t ports = 0;

	if (!ipv4_is_fragment(ip))
		ports = ecmp_ports(ip[9], ip + IPV4_LEN, here - IPV4_LEN);
	return ecmp_bucket(raw64_load(ip + 12), (uint64_t)ip[9] << 32 | ports);
}

/* The same for IPv6; behind extension headers no ports are looked for. */
static inline unsigned int
ecmp_bucket_v6(const uint8_t *ip, uint32_t here)
{
	uint64_t addresses = raw64_load(ip + 8) * 3 ^ raw64_load(ip + 16) * 5 ^
			     raw64_load(ip + 24) * 7 ^ raw64_load(ip + 32) * 11;

	return ecmp_bucket(addresses,
			   (uint64_t)ip[6] << 32 | ecmp_ports(ip[6], ip + 40, here - 40));
}

#endif
