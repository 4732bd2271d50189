/* SPDX-License-Identifier: Apache-2.0 */
/* IPv4 headers of 20 octets, looked at without a branch and without reading past them.
 *
 * Sums here are of 16-bit words in the CPU's own order: a one's complement sum does not mind (RFC
 * 1071, section 2 B), and the result of a check is all ones in any order. */
#ifndef PKTLIB_BNG_IPV4_H
#define PKTLIB_BNG_IPV4_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../bytes.h"

#define BNG_IPV4_LEN 20
#define BNG_IPV4_NO_OPTIONS 0x45

static inline uint64_t
bng_raw64(const uint8_t *at)
{
	uint64_t raw;

	memcpy(&raw, at, sizeof(raw));
	return raw;
}

static inline uint32_t
bng_raw32(const uint8_t *at)
{
	uint32_t raw;

	memcpy(&raw, at, sizeof(raw));
	return raw;
}

static inline uint16_t
bng_raw16(const uint8_t *at)
{
	uint16_t raw;

	memcpy(&raw, at, sizeof(raw));
	return raw;
}

/* The first 8 octets of a header, seen as one word: version and header length, and the fragment
 * field without "don't fragment". They are BNG_IPV4_NO_OPTIONS in a packet that is whole and has no
 * options. */
#define BNG_IPV4_PLAIN_MASK UINT64_C(0xff3f0000000000ff)

static inline uint16_t
bng_ipv4_total(const uint8_t *ip)
{
	/* 32 bits: a load of 16 would leave the rest of the register as it was, and wait for it. */
	return (uint16_t)be32_load(ip);
}

/* More fragments follow, or this is not the first. "Don't fragment" does not matter. */
static inline bool
bng_ipv4_is_fragment(const uint8_t *ip)
{
	return (be16_load(ip + 6) & 0x3fff) != 0;
}

#define BNG_FFFF_INVERSE UINT64_C(0xfffefffefffeffff) /* times 0xffff is 1 modulo 2^64 */

/* Is the checksum of the 20 octets, which are not all 0, right? */
static inline bool
bng_ipv4_is_intact(const uint8_t *ip)
{
	unsigned long long sum, carry;

	/* End-around carries, as always in one's complement. The last one finds room: behind it the sum
	 * is at most what was added, 2^32. */
	carry = __builtin_uaddll_overflow(bng_raw64(ip), bng_raw64(ip + 8), &sum);
	carry = __builtin_uaddll_overflow(sum, bng_raw32(ip + 16) + carry, &sum);
	sum += carry;
	/* Right if the 16-bit halves add up to 0xffff, which is if that divides the whole sum: then
	 * multiplying by its inverse modulo 2^64 gives the quotient, otherwise something larger. */
	return sum * BNG_FFFF_INVERSE <= UINT64_MAX / UINT16_MAX;
}

/* Take one from the TTL, which is not 0, and correct the checksum (RFC 1624, equation 3: the sum
 * grows by one in the TTL's octet, and what would become 0xffff is 0). */
static inline void
bng_ipv4_age(uint8_t *ip)
{
	/* TTL, protocol and checksum, the TTL lowest: what is taken from it and added to the checksum
	 * is one addition. A carry out of the checksum is out of the word. */
	uint32_t word = bng_raw32(ip + 8);

	word += (word >= UINT32_C(0xfffe0000) ? UINT32_C(0x20000) : UINT32_C(0x10000)) - 1;
	memcpy(ip + 8, &word, sizeof(word));
}

#endif
