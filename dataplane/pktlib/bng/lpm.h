/* SPDX-License-Identifier: Apache-2.0 */
/* Longest-prefix match on IPv4 addresses: one array indexed by the upper 24 bits, and arrays of 256
 * for those of them that hold prefixes longer than /24 (DIR-24-8; Gupta, Lin, McKeown, INFOCOM
 * 1998). An entry is 16 bits and carries its prefix' length, so that routes come and go at run time.
 *
 * The default route is no entry: hop 0 is what an address without any route gets, and whoever keeps
 * the hops decides what that means.
 */
#ifndef PKTLIB_BNG_LPM_H
#define PKTLIB_BNG_LPM_H

#include <stdint.h>

#include "memory.h"

#define BNG_LPM_TOP (1u << 24)
#define BNG_LPM_SUB 256
#define BNG_LPM_IS_SUB 0x8000u
#define BNG_LPM_HOP_BITS 9
#define BNG_LPM_HOP_MASK ((1u << BNG_LPM_HOP_BITS) - 1)
#define BNG_LPM_SUBS_MAX 0x8000u

struct bng_rule {
	uint32_t prefix; /* in host order, bits behind the length are 0 */
	uint8_t length;  /* 1..32 */
	uint16_t hop;    /* 1..BNG_LPM_HOP_MASK */
};

struct bng_lpm {
	uint16_t *top;
	uint16_t (*subs)[BNG_LPM_SUB];
	uint16_t *free_subs; /* a stack */
	uint32_t nb_subs, nb_free_subs;
	struct bng_rule *rules; /* sorted by prefix, then length */
	uint32_t nb_rules, max_rules;
	const struct bng_memory *memory;
};

enum bng_lpm_result {
	BNG_LPM_OK,
	BNG_LPM_MISSING, /* there is no such route */
	BNG_LPM_EXISTS,
	BNG_LPM_FULL, /* no room for another route, or another prefix longer than /24 */
};

/* Make space for this many routes, and prefixes longer than /24 in this many /24s. 0, or -1: no
 * memory. */
int bng_lpm_init(struct bng_lpm *lpm, const struct bng_memory *memory, uint32_t max_rules,
		 uint32_t max_subs);
void bng_lpm_free(struct bng_lpm *lpm);
uint64_t bng_lpm_octets(const struct bng_lpm *lpm);

/* Touches 2^(24 - length) entries: microseconds from /8 on, milliseconds for the shortest. */
enum bng_lpm_result bng_lpm_add(struct bng_lpm *lpm, uint32_t prefix, uint8_t length, uint16_t hop);
enum bng_lpm_result bng_lpm_remove(struct bng_lpm *lpm, uint32_t prefix, uint8_t length);

static inline uint32_t
bng_prefix_mask(uint8_t length)
{
	return length == 0 ? 0 : UINT32_MAX << (32 - length);
}

static inline void
bng_lpm_prefetch(const struct bng_lpm *lpm, uint32_t address)
{
	__builtin_prefetch(&lpm->top[address >> 8]);
}

/* The hop of the longest matching prefix; 0: none matches. */
static inline uint16_t
bng_lpm_get(const struct bng_lpm *lpm, uint32_t address)
{
	uint16_t entry = lpm->top[address >> 8];

	if (__builtin_expect(entry & BNG_LPM_IS_SUB, 0))
		entry = lpm->subs[entry & ~BNG_LPM_IS_SUB][address & (BNG_LPM_SUB - 1)];
	return entry & BNG_LPM_HOP_MASK;
}

#endif
