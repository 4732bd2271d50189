/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "map.h"

/* On average, at most: one key in forty then lies outside of its own bucket. Not four, although that
 * would be one in a hundred: tables of 2^n keys, with their spare ones, would be a quarter full and
 * twice as large, which costs more cache misses than it saves. */
#define KEYS_PER_BUCKET 5
#define BUCKET_BITS_MIN 4
#define BUCKET_BITS_MAX 28

static unsigned int
bucket_bits(uint64_t keys)
{
	unsigned int bits = BUCKET_BITS_MIN;

	while (bits < BUCKET_BITS_MAX && (UINT64_C(1) << bits) * KEYS_PER_BUCKET < keys)
		bits++;
	return bits;
}

int
bng_map_init(struct bng_map *map, const struct bng_memory *memory, uint32_t nb, uint32_t first,
	     uint32_t last, uint32_t spare)
{
	uint64_t range = (uint64_t)last - first + 1;
	uint64_t hashed_octets = (UINT64_C(1) << bucket_bits(nb)) * sizeof(struct bng_bucket);
	bool dense = nb > 0 && range <= UINT32_MAX && range * sizeof(uint32_t) <= 2 * hashed_octets;
	unsigned int bits = bucket_bits(dense ? spare : (uint64_t)nb + spare);

	*map = (struct bng_map){
		.first = first,
		.nb_direct = dense ? (uint32_t)range : 0,
		.shift = 32 - bits,
		.mask = (UINT32_C(1) << bits) - 1,
		.memory = memory,
	};
	map->max_hashed = (map->mask + 1) * KEYS_PER_BUCKET;
	map->buckets = memory->take(memory, (map->mask + UINT64_C(1)) * sizeof(*map->buckets));
	if (dense)
		map->direct = memory->take(memory, range * sizeof(*map->direct));
	if (map->buckets != NULL && (!dense || map->direct != NULL))
		return 0;
	bng_map_free(map);
	return -1;
}

void
bng_map_free(struct bng_map *map)
{
	if (map->memory == NULL)
		return;
	map->memory->give(map->memory, map->direct);
	map->memory->give(map->memory, map->buckets);
	*map = (struct bng_map){0};
}

uint64_t
bng_map_octets(const struct bng_map *map)
{
	return map->nb_direct * sizeof(*map->direct) +
	       (map->mask + UINT64_C(1)) * sizeof(*map->buckets);
}

/* Return the place of a hashed key, or -1 and the first bucket with space. */
static int
locate(const struct bng_map *map, uint32_t key, uint32_t *bucket)
{
	*bucket = bng_map_bucket_of(map, key);
	for (;; *bucket = (*bucket + 1) & map->mask) {
		const struct bng_bucket *b = &map->buckets[*bucket];

		for (int i = 0; i < BNG_BUCKET_KEYS; i++) {
			if (b->values[i] == 0)
				return -1;
			if (b->keys[i] == key)
				return i;
		}
	}
}

int
bng_map_set(struct bng_map *map, uint32_t key, uint32_t value)
{
	uint32_t at;
	int place;

	if (key - map->first < map->nb_direct) {
		map->direct[key - map->first] = value;
		return 0;
	}
	place = locate(map, key, &at);
	if (place < 0) {
		if (map->nb_hashed == map->max_hashed)
			return -1;
		map->nb_hashed++;
		for (place = 0; map->buckets[at].values[place] != 0; place++)
			;
		map->buckets[at].keys[place] = key;
	}
	map->buckets[at].values[place] = value;
	return 0;
}

/* Free a place and keep those in use in front. Returns whether the bucket was full before. */
static bool
free_place(struct bng_bucket *bucket, int place)
{
	bool full = bucket->values[BNG_BUCKET_KEYS - 1] != 0;
	int last = BNG_BUCKET_KEYS - 1;

	while (bucket->values[last] == 0)
		last--;
	bucket->keys[place] = bucket->keys[last];
	bucket->values[place] = bucket->values[last];
	bucket->keys[last] = 0;
	bucket->values[last] = 0;
	return full;
}

/* A place in bucket `from` whose key was spilled past bucket `hole` on its way there, or -1. */
static int
spilled_past(const struct bng_map *map, uint32_t hole, uint32_t from)
{
	const struct bng_bucket *bucket = &map->buckets[from];

	for (int i = 0; i < BNG_BUCKET_KEYS && bucket->values[i] != 0; i++) {
		uint32_t way = (from - bng_map_bucket_of(map, bucket->keys[i])) & map->mask;

		if (way >= ((from - hole) & map->mask))
			return i;
	}
	return -1;
}

bool
bng_map_remove(struct bng_map *map, uint32_t key)
{
	uint32_t hole, from;
	int place;

	if (key - map->first < map->nb_direct) {
		bool was = map->direct[key - map->first] != 0;

		map->direct[key - map->first] = 0;
		return was;
	}
	place = locate(map, key, &hole);
	if (place < 0)
		return false;
	map->nb_hashed--;
	/* A hole in a full bucket would hide what was spilled past it: bring one of those back,
	 * which leaves a hole further on. */
	while (free_place(&map->buckets[hole], place)) {
		for (from = (hole + 1) & map->mask;; from = (from + 1) & map->mask) {
			place = spilled_past(map, hole, from);
			if (place >= 0 || map->buckets[from].values[BNG_BUCKET_KEYS - 1] == 0)
				break;
		}
		if (place < 0)
			break;
		map->buckets[hole].keys[BNG_BUCKET_KEYS - 1] = map->buckets[from].keys[place];
		map->buckets[hole].values[BNG_BUCKET_KEYS - 1] = map->buckets[from].values[place];
		hole = from;
	}
	return true;
}
