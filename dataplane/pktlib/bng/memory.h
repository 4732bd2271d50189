/* SPDX-License-Identifier: Apache-2.0 */
/* Source of a table's memory: huge pages of the right NUMA node in wsdp, the heap in tests. `take`
 * returns zeroed memory, aligned to a cache line, or NULL. */
#ifndef PKTLIB_BNG_MEMORY_H
#define PKTLIB_BNG_MEMORY_H

#include <stddef.h>

struct bng_memory {
	void *(*take)(const struct bng_memory *memory, size_t bytes);
	void (*give)(const struct bng_memory *memory, void *taken);
	int socket_id;
};

/* From the heap. */
extern const struct bng_memory bng_heap;

#endif
