/* SPDX-License-Identifier: Apache-2.0 */
/* Find the subscribers' tags of a burst's frames, for tasks that only look them up. */
#ifndef TASKS_BNG_LINES_H
#define TASKS_BNG_LINES_H

#include <stdint.h>
#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "pktlib/bng/wire.h"

#define BNG_NO_LINE UINT32_MAX

/* Each frame's pair of tags, or BNG_NO_LINE: there are not two. `prefetch` brings near what `table` has
 * to say about a pair. */
static __rte_always_inline void
bng_lines_read(struct rte_mbuf **mbufs, uint16_t n, uint32_t *lines,
	       void (*prefetch)(const void *table, uint32_t line), const void *table)
{
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		lines[i] = BNG_NO_LINE;
		if (likely(mbufs[i]->data_len >= BNG_QINQ_LEN && bng_is_qinq(frame))) {
			lines[i] = bng_line_of(frame);
			prefetch(table, lines[i]);
		}
	}
}

#endif
