/* SPDX-License-Identifier: Apache-2.0 */
#include "router_neighbours.h"

#include <string.h>

#include "core/telemetry.h"

#define REFRESHED_MAX 256 /* at once */

void
neighbours_stats(const struct compile_report *report, struct telemetry_out *out)
{
	telemetry_u64(out, "neighbours", report->neighbours);
	telemetry_u64(out, "neighbours_unknown", report->nb_wishes);
	telemetry_u64(out, "neighbours_over_hops", report->over_neighbours);
	telemetry_u64(out, "routes_over_hops", report->over_hops);
}

void
neighbours_ask(struct feed *feed, const struct kernel *kernel, const struct compile_report *report)
{
	for (uint32_t i = 0; i < report->nb_wishes; i++) {
		const struct compile_wish *wish = &report->wishes[i];

		if (kernel_neighbour(kernel, wish->link, wish->version, wish->address) == NULL)
			feed_ask_neighbour(feed, wish);
	}
}

void
neighbours_refresh(struct feed *feed, const struct kernel *kernel)
{
	const struct kernel_neighbour *neighbour = NULL;
	unsigned int asked = 0;

	while (asked < REFRESHED_MAX &&
	       (neighbour = table_next(&kernel->neighbours, neighbour)) != NULL) {
		struct compile_wish wish = {.link = neighbour->key.link,
					    .version = (uint8_t)neighbour->key.version};

		if (neighbour->is_stale == 0)
			continue;
		memcpy(wish.address, neighbour->key.address, sizeof(wish.address));
		feed_ask_neighbour(feed, &wish);
		asked++;
	}
}
