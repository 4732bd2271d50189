/* SPDX-License-Identifier: Apache-2.0 */
/* A map from 32-bit keys to 32-bit values other than 0, made for bursts: prefetch all, then get all.
 *
 * Keys that lie close together are an index into an array of values. The others are hashed to a
 * bucket of 8 keys and their 8 values, which is one cache line: a hit costs one cache miss, and the
 * eight keys are compared at once. A full bucket spills into the next one.
 *
 * One thread reads and writes; there is no lock and nothing is shared.
 */
#ifndef PKTLIB_BNG_MAP_H
#define PKTLIB_BNG_MAP_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "memory.h"

#define BNG_BUCKET_KEYS 8

struct bng_bucket {
	uint32_t keys[BNG_BUCKET_KEYS];
	uint32_t values[BNG_BUCKET_KEYS]; /* 0: free; those in use come first */
} __attribute__((aligned(64)));

struct bng_map {
	uint32_t *direct; /* values of the keys first, first + 1, ... */
	uint32_t first;
	uint32_t nb_direct;
	struct bng_bucket *buckets;
	uint32_t shift;
	uint32_t mask;
	uint32_t nb_hashed;
	uint32_t max_hashed;
	const struct bng_memory *memory;
};

/* Empty; `nb` keys are to come, among them those from `first` to `last`, and `spare` more of any
 * value. Decides whether first..last is an array: when that takes at most twice the memory of the
 * buckets. Returns 0, or -1 when memory is short. */
int bng_map_init(struct bng_map *map, const struct bng_memory *memory, uint32_t nb, uint32_t first,
		 uint32_t last, uint32_t spare);
void bng_map_free(struct bng_map *map);
uint64_t bng_map_octets(const struct bng_map *map);

/* Set a key's value, which is not 0. Returns 0, or -1 when there is no room for another key. */
int bng_map_set(struct bng_map *map, uint32_t key, uint32_t value);
/* Returns whether the key was there. */
bool bng_map_remove(struct bng_map *map, uint32_t key);

static inline uint32_t
bng_map_bucket_of(const struct bng_map *map, uint32_t key)
{
	return (uint32_t)((uint64_t)(uint32_t)(key * UINT32_C(0x9e3779b1)) >> map->shift);
}

/* Bring near what bng_map_get_hashed of this key will read. */
static inline void
bng_map_prefetch_hashed(const struct bng_map *map, uint32_t key)
{
	__builtin_prefetch(&map->buckets[bng_map_bucket_of(map, key)]);
}

/* Bring near what bng_map_get of this key will read. */
static inline void
bng_map_prefetch(const struct bng_map *map, uint32_t key)
{
	uint32_t at = key - map->first;

	if (at < map->nb_direct)
		__builtin_prefetch(&map->direct[at]);
	else
		bng_map_prefetch_hashed(map, key);
}

/* The value of a key in one bucket, or 0. A free place may hold a key, 0, but none that stands in
 * front of it: those in use come first. */
static inline uint32_t
bng_bucket_get(const struct bng_bucket *bucket, uint32_t key)
{
#ifdef __AVX2__
	__m256i equal = _mm256_cmpeq_epi32(_mm256_load_si256((const __m256i *)bucket->keys),
					   _mm256_set1_epi32((int)key));
	uint32_t places = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
#else
	uint32_t places = 0;

	for (int i = 0; i < BNG_BUCKET_KEYS; i++)
		places |= (uint32_t)(bucket->keys[i] == key) << i;
#endif
	return places == 0 ? 0 : bucket->values[__builtin_ctz(places)];
}

/* bng_map_get for keys that are not in the array. */
static inline uint32_t
bng_map_get_hashed(const struct bng_map *map, uint32_t key)
{
	uint32_t at = bng_map_bucket_of(map, key);

	for (;;) {
		const struct bng_bucket *bucket = &map->buckets[at];
		uint32_t value = bng_bucket_get(bucket, key);

		/* Only behind a full bucket can there be more. */
		if (value != 0 || bucket->values[BNG_BUCKET_KEYS - 1] == 0)
			return value;
		at = (at + 1) & map->mask;
	}
}

static inline uint32_t
bng_map_get(const struct bng_map *map, uint32_t key)
{
	uint32_t at = key - map->first;

	return at < map->nb_direct ? map->direct[at] : bng_map_get_hashed(map, key);
}

#endif
