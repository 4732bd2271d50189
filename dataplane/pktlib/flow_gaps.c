/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_gaps.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "protocol.h"

#define TTL_AT (14 + 8)
#define HOP_LIMIT_AT (14 + 7)

size_t
flow_gaps_bytes(uint32_t flows)
{
	return flows * sizeof(struct flow_last) + FLOW_GAPS_RECORDS * sizeof(struct flow_gap);
}

void
flow_gaps_init(struct flow_gaps *gaps, uint32_t flows, void *memory)
{
	gaps->flows = flows;
	gaps->records = memory;
	gaps->last = (struct flow_last *)(void *)(gaps->records + FLOW_GAPS_RECORDS);
	flow_gaps_reset(gaps, true);
}

void
flow_gaps_reset(struct flow_gaps *gaps, bool from_zero)
{
	for (uint32_t i = 0; i < gaps->flows; i++)
		gaps->last[i] = (struct flow_last){.path = FLOW_GAPS_NO_PATH, .known = from_zero};
	atomic_store_explicit(&gaps->nb, 0, memory_order_release);
	gaps->not_recorded = gaps->misrouted = gaps->unheard = gaps->looped = 0;
	gaps->only_path = FLOW_GAPS_NO_PATH;
	gaps->hop_limit = 0;
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns what follows the address, or NULL. */
static const char *
read_mac(const char *text, uint8_t *mac)
{
	for (unsigned int i = 0; i < 6; i++, text += 2) {
		if (i > 0 && *text++ != ':')
			return NULL;
		if (digit(text[0]) < 0 || digit(text[1]) < 0)
			return NULL;
		mac[i] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
	}
	return text;
}

bool
flow_gaps_paths(struct flow_gaps *gaps, const char *text)
{
	for (gaps->nb_paths = 0; gaps->nb_paths < FLOW_GAPS_PATHS_MAX;) {
		text = read_mac(text + strspn(text, " "), gaps->paths[gaps->nb_paths]);
		if (text == NULL)
			return false;
		gaps->nb_paths++;
		if (*text == '\0')
			return true;
		if (*text++ != ',')
			return false;
	}
	return false;
}

static void
count_hops(struct flow_gaps *gaps, const uint8_t *frame)
{
	uint8_t left = frame[be16_load(frame + 12) == ETH_TYPE_IPV6 ? HOP_LIMIT_AT : TTL_AT];

	if (left >= gaps->hop_limit)
		gaps->hop_limit = left;
	else
		gaps->looped++;
}

int
flow_gaps_path(struct flow_gaps *gaps, const uint8_t *frame)
{
	for (uint8_t i = 0; i < gaps->nb_paths; i++) {
		if (memcmp(frame, gaps->paths[i], sizeof(gaps->paths[i])) != 0)
			continue;
		count_hops(gaps, frame);
		if (gaps->only_path == FLOW_GAPS_NO_PATH || gaps->only_path == i)
			return i;
		gaps->unheard++;
		return -1;
	}
	gaps->misrouted++;
	return -1;
}

static void
record(struct flow_gaps *gaps, const struct flow_gap *gap)
{
	uint32_t nb = atomic_load_explicit(&gaps->nb, memory_order_relaxed);

	if (nb == FLOW_GAPS_RECORDS) {
		gaps->not_recorded++;
		return;
	}
	gaps->records[nb] = *gap;
	atomic_store_explicit(&gaps->nb, nb + 1, memory_order_release);
}

void
flow_gaps_add(struct flow_gaps *gaps, const struct stamp *stamp, uint8_t path)
{
	struct flow_last *last;
	uint32_t lost;

	if (stamp->flow >= gaps->flows)
		return;
	last = &gaps->last[stamp->flow];
	lost = last->known ? stamp->sequence - last->next : 0;
	if (lost != 0 || (last->tsc != 0 && last->path != path)) {
		const struct flow_gap gap = {
			.before_tsc = last->tsc,
			.after_tsc = stamp->tsc,
			.flow = stamp->flow,
			.lost = lost,
			.path_before = last->path,
			.path_after = path,
		};

		record(gaps, &gap);
	}
	*last = (struct flow_last){stamp->tsc, stamp->sequence + 1, path, true};
}

void
flow_gaps_write(const struct flow_gaps *gaps, uint64_t tsc_hz, FILE *file)
{
	uint32_t nb = atomic_load_explicit(&gaps->nb, memory_order_acquire);

	fprintf(file,
		"{\"format\": \"wirespeed-flow-gaps-1\", \"tsc_hz\": %" PRIu64
		", \"not_recorded\": %" PRIu64 ", \"misrouted\": %" PRIu64 ", \"unheard\": %" PRIu64
		", \"looped\": %" PRIu64 ", \"gaps\": [",
		tsc_hz, gaps->not_recorded, gaps->misrouted, gaps->unheard, gaps->looped);
	for (uint32_t i = 0; i < nb; i++) {
		const struct flow_gap *gap = &gaps->records[i];

		fprintf(file, "%s[%u,%u,%" PRIu64 ",%" PRIu64 ",%u,%u]", i == 0 ? "" : ",",
			gap->flow, gap->lost, gap->before_tsc, gap->after_tsc, gap->path_before,
			gap->path_after);
	}
	fputs("], \"last\": [", file);
	for (uint32_t i = 0; i < gaps->flows; i++)
		fprintf(file, "%s[%" PRIu64 ",%u,%u]", i == 0 ? "" : ",", gaps->last[i].tsc,
			gaps->last[i].next, gaps->last[i].path);
	fputs("]}\n", file);
}
