/* SPDX-License-Identifier: Apache-2.0 */
/* Compare the gateway's tables with DPDK's. `bench_bng_lookups TABLES -- EAL` looks up the file's
 * subscribers and destinations, in bursts of 64 in random order. It uses the gateway's map and LPM
 * and rte_hash and rte_lpm, in turns, and prints the median burst of each in TSC cycles a key. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lpm.h>
#include <rte_malloc.h>

#include "pktlib/bng/tables.h"

#define BURST 64
#define BURSTS 20000

static uint32_t (*bursts)[BURST];
static volatile uint64_t found; /* so that no lookup is optimised away */

static void
fail(const char *text)
{
	fprintf(stderr, "bench_bng_lookups: %s\n", text);
	exit(1);
}

static void *
take(const struct bng_memory *memory __rte_unused, size_t bytes)
{
	return rte_zmalloc(NULL, bytes, RTE_CACHE_LINE_SIZE);
}

static void
give(const struct bng_memory *memory __rte_unused, void *taken)
{
	rte_free(taken);
}

static const struct bng_memory huge = {take, give, 0};

static void
say(const struct bng_complaint *complaint __rte_unused, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

static int
compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void
measure(const char *name, void (*look_up)(const void *table, const uint32_t *keys),
	const void *table)
{
	static uint64_t cycles[BURSTS];

	for (uint32_t i = 0; i < BURSTS; i++) {
		uint64_t start = rte_rdtsc_precise();

		look_up(table, bursts[i]);
		cycles[i] = rte_rdtsc_precise() - start;
	}
	qsort(cycles, BURSTS, sizeof(*cycles), compare);
	printf("%s %.2f\n", name, (double)cycles[BURSTS / 2] / BURST);
}

static void
in_map(const void *table, const uint32_t *keys)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < BURST; i++)
		bng_map_prefetch(table, keys[i]);
	for (unsigned int i = 0; i < BURST; i++)
		sum += bng_map_get(table, keys[i]) != 0;
	if (sum != BURST)
		fail("a key is missing in the map");
}

static void
in_hash(const void *table, const uint32_t *keys)
{
	const void *pointers[BURST];
	uint64_t hits;
	void *data[BURST];

	for (unsigned int i = 0; i < BURST; i++)
		pointers[i] = &keys[i];
	if (rte_hash_lookup_bulk_data(table, pointers, BURST, &hits, data) != BURST)
		fail("a key is missing in rte_hash");
}

static void
in_lpm(const void *table, const uint32_t *keys)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < BURST; i++)
		bng_lpm_prefetch(table, keys[i]);
	for (unsigned int i = 0; i < BURST; i++)
		sum += bng_lpm_get(table, keys[i]);
	found += sum;
}

static void
in_rte_lpm(const void *table, const uint32_t *keys)
{
	uint32_t hops[BURST];
	uint64_t sum = 0;

	rte_lpm_lookup_bulk(table, keys, hops, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		sum += hops[i];
	found += sum;
}

static uint32_t
random_below(uint32_t limit)
{
	return (uint32_t)(((uint64_t)rand() << 31 | (uint64_t)rand()) % limit);
}

static void
measure_users(const struct bng_table_file *file)
{
	struct rte_hash_parameters parameters = {.name = "users",
						 .entries = file->nb_users * 2,
						 .key_len = sizeof(uint32_t),
						 .hash_func = rte_hash_crc};
	struct rte_hash *hash = rte_hash_create(&parameters);
	uint32_t first = UINT32_MAX, last = 0;
	struct bng_map map, hashed;

	for (uint32_t i = 0; i < file->nb_users; i++) {
		first = RTE_MIN(first, file->users[i].line);
		last = RTE_MAX(last, file->users[i].line);
	}
	if (hash == NULL || bng_map_init(&map, &huge, file->nb_users, first, last, 0) != 0 ||
	    bng_map_init(&hashed, &huge, file->nb_users, 0, UINT32_MAX, 0) != 0)
		fail("not enough memory for the users");
	for (uint32_t i = 0; i < file->nb_users; i++) {
		const struct bng_user_entry *user = &file->users[i];

		if (rte_hash_add_key_data(hash, &user->line, (void *)(uintptr_t)user->key) != 0 ||
		    bng_map_set(&map, user->line, user->key | BNG_LINE_KNOWN) != 0 ||
		    bng_map_set(&hashed, user->line, user->key | BNG_LINE_KNOWN) != 0)
			fail("a user does not fit");
	}
	for (uint32_t i = 0; i < BURSTS * BURST; i++)
		bursts[i / BURST][i % BURST] = file->users[random_below(file->nb_users)].line;
	for (unsigned int turn = 0; turn < 2; turn++) {
		measure(map.nb_direct > 0 ? "map_array" : "map_hash", in_map, &map);
		measure("map_hash", in_map, &hashed);
		measure("rte_hash", in_hash, hash);
	}
	bng_map_free(&map);
	bng_map_free(&hashed);
	rte_hash_free(hash);
}

static void
measure_routes(const struct bng_table_file *file)
{
	const struct rte_lpm_config config = {.max_rules = file->nb_routes + 1,
					      .number_tbl8s = 256};
	struct rte_lpm *rte = rte_lpm_create("routes", SOCKET_ID_ANY, &config);
	struct bng_lpm lpm;

	if (rte == NULL || bng_lpm_init(&lpm, &huge, file->nb_routes, 256) != 0)
		fail("not enough memory for the routes");
	for (uint32_t i = 0; i < file->nb_routes; i++) {
		const struct bng_route_entry *route = &file->routes[i];

		if (rte_lpm_add(rte, route->prefix, route->length, route->hop + 1u) != 0 ||
		    bng_lpm_add(&lpm, route->prefix, route->length, route->hop + 1) != BNG_LPM_OK)
			fail("a route does not fit");
	}
	for (uint32_t i = 0; i < BURSTS * BURST; i++)
		bursts[i / BURST][i % BURST] =
			file->routes[random_below(file->nb_routes)].prefix + 9;
	for (unsigned int turn = 0; turn < 2; turn++) {
		measure("lpm", in_lpm, &lpm);
		measure("rte_lpm", in_rte_lpm, rte);
	}
	bng_lpm_free(&lpm);
	rte_lpm_free(rte);
}

int
main(int argc, char **argv)
{
	const struct bng_complaint complaint = {say, NULL};
	struct bng_table_file file;

	if (argc < 3 || strcmp(argv[2], "--") != 0)
		fail("usage: bench_bng_lookups TABLES -- EAL OPTIONS");
	if (rte_eal_init(argc - 2, argv + 2) < 0)
		fail("DPDK does not start");
	bursts = calloc(BURSTS, sizeof(*bursts));
	if (bursts == NULL || bng_table_file_read(&file, argv[1], &complaint) != 0)
		return 1;
	measure_users(&file);
	measure_routes(&file);
	bng_table_file_free(&file);
	free(bursts);
	rte_eal_cleanup();
	return 0;
}
