/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define CACHE_LINE 64

static void *
heap_take(const struct bng_memory *memory, size_t bytes)
{
	size_t whole = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	void *taken = aligned_alloc(CACHE_LINE, whole);

	(void)memory;
	if (taken != NULL)
		memset(taken, 0, whole);
	return taken;
}

static void
heap_give(const struct bng_memory *memory, void *taken)
{
	(void)memory;
	free(taken);
}

const struct bng_memory bng_heap = {.take = heap_take, .give = heap_give};
