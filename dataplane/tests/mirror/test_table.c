/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table holds what a plain array of the same keys holds, through puts and removals. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "mirror/table.h"

#define KEYS 500

struct record {
	uint32_t key[2];
	uint32_t value;
};

static bool there[KEYS];

static uint32_t
random_number(void)
{
	static uint64_t state = 7;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static void
check_all(const struct table *table)
{
	const struct record *record = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < KEYS; i++) {
		const uint32_t key[2] = {i % 3, i};

		record = table_find(table, key);
		CHECK_EQ(record != NULL, there[i]);
		if (record != NULL)
			CHECK_EQ(record->value, i + 1);
		count += there[i];
	}
	CHECK_EQ(table->count, count);
	for (record = NULL; (record = table_next(table, record)) != NULL; count--)
		CHECK(there[record->key[1]]);
	CHECK_EQ(count, 0);
}

int
main(void)
{
	struct table table;

	table_open(&table, sizeof(uint32_t[2]), sizeof(struct record));
	check_all(&table);
	for (unsigned int turn = 0; turn < 20000; turn++) {
		uint32_t i = random_number() % KEYS;
		const uint32_t key[2] = {i % 3, i};
		struct record *record;

		if (random_number() % 5 < 2) {
			record = table_find(&table, key);
			if (record != NULL)
				table_remove(&table, record);
			there[i] = false;
		} else {
			record = table_put(&table, key);
			CHECK_EQ(record->value, there[i] ? i + 1 : 0);
			record->value = i + 1;
			there[i] = true;
		}
		if (turn % 500 == 0)
			check_all(&table);
	}
	table_close(&table);
	memset(there, 0, sizeof(there));
	check_all(&table);
	return 0;
}
