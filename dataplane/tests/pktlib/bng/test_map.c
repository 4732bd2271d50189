/* SPDX-License-Identifier: Apache-2.0 */
/* The map against a plain array that does the same, through random sets and removals. */
#include <string.h>

#include "bng/map.h"
#include "../check.h"
#include "random.h"

#define KEYS 4096

/* Keys that collide: many share a bucket, so that buckets spill, also from the last to the first. */
static uint32_t
colliding(uint32_t i)
{
	return (i % 16 << 26) + i / 16;
}

static uint32_t
near(uint32_t i)
{
	return 1000000 + i;
}

static void
compare(const struct bng_map *map, uint32_t (*key)(uint32_t), const uint32_t *model)
{
	for (uint32_t i = 0; i < KEYS; i++)
		CHECK_EQ(bng_map_get(map, key(i)), model[i]);
}

static void
test_random(uint32_t first, uint32_t last, uint32_t (*key)(uint32_t), bool direct)
{
	static uint32_t model[KEYS];
	uint64_t state = 7;
	struct bng_map map;

	memset(model, 0, sizeof(model));
	CHECK_EQ(bng_map_init(&map, &bng_heap, KEYS, first, last, 16), 0);
	CHECK_EQ(map.nb_direct > 0, direct);
	for (uint32_t step = 0; step < 200000; step++) {
		uint32_t i = random_next(&state) % KEYS, value = random_next(&state) | 1;

		if (random_next(&state) % 3 > 0) {
			CHECK_EQ(bng_map_set(&map, key(i), value), 0);
			model[i] = value;
		} else {
			CHECK_EQ(bng_map_remove(&map, key(i)), model[i] != 0);
			model[i] = 0;
		}
		if (step % 10000 == 0)
			compare(&map, key, model);
	}
	compare(&map, key, model);
	for (uint32_t i = 0; i < KEYS; i++)
		bng_map_remove(&map, key(i));
	memset(model, 0, sizeof(model));
	compare(&map, key, model);
	CHECK_EQ(map.nb_hashed, 0);
	bng_map_free(&map);
}

/* Keys next to an array's: they are hashed, and none is taken for another. */
static void
test_beside_the_array(void)
{
	struct bng_map map;

	CHECK_EQ(bng_map_init(&map, &bng_heap, 100, 500, 599, 8), 0);
	CHECK_EQ(map.nb_direct, 100);
	for (uint32_t key = 499; key <= 600; key++)
		CHECK_EQ(bng_map_set(&map, key, key), 0);
	CHECK_EQ(map.nb_hashed, 2);
	for (uint32_t key = 490; key < 610; key++)
		CHECK_EQ(bng_map_get(&map, key), key >= 499 && key <= 600 ? key : 0);
	CHECK_EQ(bng_map_get(&map, 0), 0);
	CHECK_EQ(bng_map_get(&map, UINT32_MAX), 0);
	bng_map_free(&map);
}

/* A full map refuses new keys, and only those. */
static void
test_full(void)
{
	struct bng_map map;
	uint32_t nb = 0;

	CHECK_EQ(bng_map_init(&map, &bng_heap, 0, 0, 0, 64), 0);
	while (bng_map_set(&map, nb * 977, nb + 1) == 0)
		nb++;
	CHECK(nb >= 64);
	CHECK_EQ(bng_map_set(&map, 0, 99), 0);
	CHECK_EQ(bng_map_get(&map, 0), 99);
	CHECK_EQ(bng_map_get(&map, nb * 977), 0);
	CHECK(bng_map_remove(&map, 977));
	CHECK_EQ(bng_map_set(&map, nb * 977, 5), 0);
	bng_map_free(&map);
}

/* As many keys as a power of two, and the spare ones: 16 octets a key, not twice that. */
static void
test_spare_keys_do_not_double_it(void)
{
	const uint32_t nb = 1u << 15, spare = 1024;
	uint64_t state = 5;
	struct bng_map map;

	CHECK_EQ(bng_map_init(&map, &bng_heap, nb, 0, UINT32_MAX, spare), 0);
	CHECK_EQ(bng_map_octets(&map), nb * 16);
	for (uint32_t i = 1; i <= nb + spare; i++)
		CHECK_EQ(bng_map_set(&map, (uint32_t)random_next(&state), i), 0);
	state = 5;
	for (uint32_t i = 1; i <= nb + spare; i++)
		CHECK(bng_map_get(&map, (uint32_t)random_next(&state)) >= i);
	bng_map_free(&map);
}

int
main(void)
{
	test_random(0, UINT32_MAX, colliding, false);
	test_random(near(0), near(KEYS - 1), near, true);
	test_beside_the_array();
	test_full();
	test_spare_keys_do_not_double_it();
	return 0;
}
