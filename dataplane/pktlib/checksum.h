/* SPDX-License-Identifier: Apache-2.0 */
/* The Internet checksum (RFC 1071) in parts, so that what never changes is summed once. */
#ifndef PKTLIB_CHECKSUM_H
#define PKTLIB_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* The sum of n octets as 16-bit words; an odd last octet counts as the high half of a word. */
static inline uint64_t
checksum_add(uint64_t sum, const uint8_t *octets, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n; i += 2)
		sum += be16_load(octets + i);
	if (n & 1)
		sum += (uint64_t)octets[n - 1] << 8;
	return sum;
}

/* The sum of the four 16-bit words of a 64-bit word, not yet folded. */
static inline uint64_t
checksum_add_word(uint64_t sum, uint64_t word)
{
	return sum + (word >> 32) + (word & UINT32_MAX);
}

/* Folds a sum to 16 bits and complements it. Sums below 2^48 are exact. */
static inline uint16_t
checksum_finish(uint64_t sum)
{
	sum = (sum >> 32) + (sum & UINT32_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	return (uint16_t)~sum;
}

#endif
