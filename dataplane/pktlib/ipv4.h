/* SPDX-License-Identifier: Apache-2.0 */
/* IPv4 headers of 20 octets, looked at without a branch and without reading past them.
 *
 * Sums here are of 16-bit words in the CPU's own order: a one's complement sum does not mind (RFC
 * 1071, section 2 B), and the result of a check is all ones in any order. */
#ifndef PKTLIB_IPV4_H
#define PKTLIB_IPV4_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bytes.h"

#define IPV4_LEN 20
#define IPV4_NO_OPTIONS 0x45
#define IPV4_DONT_FRAGMENT 0x40 /* in the seventh octet */

/* The first 8 octets of a header, seen as one word: version and header length, and the fragment
 * field without "don't fragment". They are IPV4_NO_OPTIONS in a packet that is whole and has no
 * options. */
#define IPV4_PLAIN_MASK UINT64_C(0xff3f0000000000ff)

static inline uint16_t
ipv4_total(const uint8_t *ip)
{
	/* 32 bits: a load of 16 would leave the rest of the register as it was, and wait for it. */
	return (uint16_t)be32_load(ip);
}

/* More fragments follow, or this is not the first. "Don't fragment" does not matter. */
static inline bool
ipv4_is_fragment(const uint8_t *ip)
{
	return (be16_load(ip + 6) & 0x3fff) != 0;
}

#define IPV4_FFFF_INVERSE UINT64_C(0xfffefffefffeffff) /* times 0xffff is 1 modulo 2^64 */

/* Return whether the checksum of the 20 octets, which are not all 0, is right. */
static inline bool
ipv4_is_intact(const uint8_t *ip)
{
	unsigned long long sum, carry;

	/* End-around carries, as always in one's complement. The last one finds room: behind it the sum
	 * is at most what was added, 2^32. */
	carry = __builtin_uaddll_overflow(raw64_load(ip), raw64_load(ip + 8), &sum);
	carry = __builtin_uaddll_overflow(sum, raw32_load(ip + 16) + carry, &sum);
	sum += carry;
	/* Right if the 16-bit halves add up to 0xffff, which is if that divides the whole sum: then
	 * multiplying by its inverse modulo 2^64 gives the quotient, otherwise something larger. */
	return sum * IPV4_FFFF_INVERSE <= UINT64_MAX / UINT16_MAX;
}

/* Take one from the TTL, which is not 0, and correct the checksum (RFC 1624, equation 3: the sum
 * grows by one in the TTL's octet, and what would become 0xffff is 0). */
static inline void
ipv4_age(uint8_t *ip)
{
	/* TTL, protocol and checksum, the TTL lowest: what is taken from it and added to the checksum
	 * is one addition. A carry out of the checksum is out of the word. */
	uint32_t word = raw32_load(ip + 8);

	word += (word >= UINT32_C(0xfffe0000) ? UINT32_C(0x20000) : UINT32_C(0x10000)) - 1;
	memcpy(ip + 8, &word, sizeof(word));
}

#endif
