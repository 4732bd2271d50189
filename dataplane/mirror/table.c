/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define CAPACITY_FIRST 16u

void
table_open(struct table *table, size_t key, size_t record)
{
	*table = (struct table){.key = key, .record = record};
}

void
table_close(struct table *table)
{
	free(table->records);
	free(table->used);
	table_open(table, table->key, table->record);
}

static void *
at(const struct table *table, uint32_t place)
{
	return table->records + (size_t)place * table->record;
}

static uint32_t
home(const struct table *table, const void *key)
{
	uint64_t hash = table->key;

	for (size_t i = 0; i < table->key; i += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, (const uint8_t *)key + i, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash & (table->capacity - 1);
}

/* The place of a key, or where it would be. There is a free place. */
static uint32_t
place_of(const struct table *table, const void *key)
{
	uint32_t place = home(table, key);

	while (table->used[place] != 0 && memcmp(at(table, place), key, table->key) != 0)
		place = (place + 1) & (table->capacity - 1);
	return place;
}

void *
table_find(const struct table *table, const void *key)
{
	uint32_t place;

	if (table->capacity == 0)
		return NULL;
	place = place_of(table, key);
	return table->used[place] != 0 ? at(table, place) : NULL;
}

static bool
grow(struct table *table)
{
	struct table former = *table;

	table->capacity = former.capacity == 0 ? CAPACITY_FIRST : 2 * former.capacity;
	table->records = calloc(table->capacity, table->record);
	table->used = calloc(table->capacity, 1);
	if (table->records == NULL || table->used == NULL) {
		free(table->records);
		free(table->used);
		*table = former;
		return false;
	}
	for (uint32_t i = 0; i < former.capacity; i++) {
		uint32_t place;

		if (former.used[i] == 0)
			continue;
		place = place_of(table, at(&former, i));
		memcpy(at(table, place), at(&former, i), table->record);
		table->used[place] = 1;
	}
	free(former.records);
	free(former.used);
	return true;
}

void *
table_put(struct table *table, const void *key)
{
	void *record = table_find(table, key);
	uint32_t place;

	if (record != NULL)
		return record;
	if (table->count + 1 > table->capacity / 4 * 3 && !grow(table))
		return NULL;
	place = place_of(table, key);
	table->used[place] = 1;
	table->count++;
	record = at(table, place);
	memset(record, 0, table->record);
	memcpy(record, key, table->key);
	return record;
}

void
table_remove(struct table *table, void *record)
{
	uint32_t mask = table->capacity - 1;
	uint32_t hole = (uint32_t)(((uint8_t *)record - table->records) / table->record);

	/* What follows moves up, unless that would put it before its home. */
	for (uint32_t place = (hole + 1) & mask; table->used[place] != 0;
	     place = (place + 1) & mask) {
		uint32_t from = home(table, at(table, place));

		if (((place - from) & mask) < ((place - hole) & mask))
			continue;
		memcpy(at(table, hole), at(table, place), table->record);
		hole = place;
	}
	table->used[hole] = 0;
	table->count--;
}

void *
table_next(const struct table *table, const void *record)
{
	uint32_t place = 0;

	if (record != NULL)
		place = (uint32_t)(((const uint8_t *)record - table->records) / table->record) + 1;
	for (; place < table->capacity; place++)
		if (table->used[place] != 0)
			return at(table, place);
	return NULL;
}
