/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "pages.h"

void *
pages_map(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

void
pages_unmap(void *pages, size_t bytes)
{
	if (pages != NULL)
		munmap(pages, bytes);
}
