/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory for records that the data path writes: zeroed, and there before the first write,
 * so that no write is a page fault. Huge pages are left to the frames. */
#ifndef WSDP_PAGES_H
#define WSDP_PAGES_H

#include <stddef.h>

/* NULL when memory is short. */
void *pages_map(size_t bytes);
/* Free what pages_map returned for this size, or NULL. */
void pages_unmap(void *pages, size_t bytes);

#endif
