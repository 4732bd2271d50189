/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same in every run (xorshift64*, Vigna 2016). */
#ifndef TESTS_BNG_RANDOM_H
#define TESTS_BNG_RANDOM_H

#include <stdint.h>

static inline uint32_t
random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

#endif
