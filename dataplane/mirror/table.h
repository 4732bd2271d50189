/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of records of one size that begin with their key. A key holds no padding that is not
 * zeroed. Pointers to records are valid until the next put or remove. */
#ifndef MIRROR_TABLE_H
#define MIRROR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
	size_t key, record; /* octets; both multiples of 4 */
	uint32_t count, capacity;
	uint8_t *records;
	uint8_t *used;
};

/* No memory is taken before the first put. */
void table_open(struct table *table, size_t key, size_t record);
void table_close(struct table *table);

/* Return the record of a key, or NULL. */
void *table_find(const struct table *table, const void *key);
/* Return the record of a key; a new one has zeros behind its key. NULL: memory is short. */
void *table_put(struct table *table, const void *key);
void table_remove(struct table *table, void *record);
/* Return the record after `record` (NULL: the first), or NULL, in any order. */
void *table_next(const struct table *table, const void *record);

#endif
