/* SPDX-License-Identifier: Apache-2.0 */
#include "sequence.h"

#include <string.h>

uint32_t
sequence_window(uint32_t flows)
{
	uint32_t window = SEQUENCE_WINDOW_MAX;

	while (window > SEQUENCE_WINDOW_MIN && (uint64_t)window * flows > SEQUENCE_BITS_BUDGET)
		window /= 2;
	return window;
}

static size_t
stride_of(uint32_t flows)
{
	return sizeof(struct sequence_flow) + sequence_window(flows) / 8;
}

size_t
sequence_state_bytes(uint32_t flows)
{
	return flows * stride_of(flows);
}

void
sequence_init(struct sequence_tracker *tracker, uint32_t flows, void *state)
{
	memset(tracker, 0, sizeof(*tracker));
	tracker->flows = flows;
	tracker->window = sequence_window(flows);
	tracker->stride = stride_of(flows);
	tracker->state = state;
	sequence_reset(tracker, true);
}

void
sequence_reset(struct sequence_tracker *tracker, bool from_zero)
{
	uint32_t flow;

	memset(&tracker->counts, 0, sizeof(tracker->counts));
	memset(tracker->state, 0, tracker->flows * tracker->stride);
	for (flow = 0; flow < tracker->flows; flow++)
		sequence_flow(tracker, flow)->known = from_zero;
}

/* Sequence numbers from `next` up to `sequence` were skipped: their bits are old ones, clear them. */
static void
skip_to(struct sequence_tracker *tracker, struct sequence_flow *flow, uint32_t sequence)
{
	uint32_t gap = sequence - flow->next;
	uint32_t i;

	if (gap >= tracker->window) {
		memset(flow->bits, 0, tracker->window / 8);
	} else {
		for (i = flow->next; i != sequence; i++) {
			uint32_t bit = i & (tracker->window - 1);

			flow->bits[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
		}
	}
	tracker->counts.expected += gap;
	flow->next = sequence;
}

enum sequence_result
sequence_out_of_order(struct sequence_tracker *tracker, struct sequence_flow *flow,
		      uint32_t sequence)
{
	uint32_t bit = sequence & (tracker->window - 1);
	uint64_t mask = UINT64_C(1) << (bit % 64);
	/* Serial number arithmetic (RFC 1982): numbers wrap after 2^32. */
	int32_t ahead = (int32_t)(sequence - flow->next);

	if (!flow->known) {
		flow->known = 1;
		flow->next = sequence;
		ahead = 0;
	}
	if (ahead >= 0) {
		skip_to(tracker, flow, sequence);
		flow->next = sequence + 1;
		flow->bits[bit / 64] |= mask;
		tracker->counts.expected++;
		tracker->counts.received++;
		return SEQUENCE_AFTER_GAP;
	}
	if ((uint32_t)-ahead > tracker->window) {
		tracker->counts.too_late++;
		return SEQUENCE_TOO_LATE;
	}
	if (flow->bits[bit / 64] & mask) {
		tracker->counts.duplicated++;
		return SEQUENCE_DUPLICATE;
	}
	flow->bits[bit / 64] |= mask;
	tracker->counts.received++;
	tracker->counts.reordered++;
	return SEQUENCE_REORDERED;
}
