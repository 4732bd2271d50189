/* SPDX-License-Identifier: Apache-2.0 */
/* Track which frames of each flow arrived, once or twice, in order or not, and which are lost.
 *
 * Terms as in RFC 4737: a frame is reordered when its sequence number is below the next expected
 * one. Each flow has a window of bits, one for each of the last `window` sequence numbers, that
 * tells a reordered frame from a duplicate. A frame older than the window could be either: it
 * counts as `too_late` only, so that it can make loss look larger but never smaller.
 *
 * Lost frames are the gaps: expected - received, with expected counted up to the highest sequence
 * number seen of each flow. Frames lost after the last one that arrived leave no gap; the sender's
 * count tells them.
 */
#ifndef PKTLIB_SEQUENCE_H
#define PKTLIB_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENCE_WINDOW_MIN 64
#define SEQUENCE_WINDOW_MAX 1024
/* The window shrinks with the number of flows to keep the bits within this. Senders take flows in turn, so the windows
 * of 256 flows or more are together the last 262,144 frames at least; more bits would leave the cache, which costs half of the
 * rate. */
#define SEQUENCE_BITS_BUDGET (1u << 18)

/* Followed by window / 64 words of bits: bit s % window is set when s has arrived. */
struct sequence_flow {
	uint32_t next;  /* the next expected sequence number */
	uint32_t known; /* 0 until `next` is known */
	uint64_t bits[];
};

struct sequence_counts {
	uint64_t expected;
	uint64_t received; /* first copies, in order or not */
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t too_late;
};

struct sequence_tracker {
	struct sequence_counts counts;
	uint32_t flows;
	uint32_t window; /* a power of two */
	size_t stride;   /* octets from one flow's state to the next's */
	uint8_t *state;
};

/* Return the window for this many flows, and the octets of state it needs. */
uint32_t sequence_window(uint32_t flows);
size_t sequence_state_bytes(uint32_t flows);

/* Start with `state` (sequence_state_bytes(flows) octets, 8-octet aligned). */
void sequence_init(struct sequence_tracker *tracker, uint32_t flows, void *state);

/* Forget everything. With from_zero every flow is expected to begin at 0, so that frames lost
 * before the first that arrives are seen; else each flow begins at the first that arrives. */
void sequence_reset(struct sequence_tracker *tracker, bool from_zero);

enum sequence_result {
	SEQUENCE_NEXT,      /* to be counted by the caller */
	SEQUENCE_AFTER_GAP, /* this and what follows is counted */
	SEQUENCE_REORDERED,
	SEQUENCE_DUPLICATE,
	SEQUENCE_TOO_LATE,
};

/* Handle a frame that is not the next expected one. */
enum sequence_result sequence_out_of_order(struct sequence_tracker *tracker,
					   struct sequence_flow *flow, uint32_t sequence);

static inline struct sequence_flow *
sequence_flow(const struct sequence_tracker *tracker, uint32_t flow)
{
	return (struct sequence_flow *)(void *)(tracker->state + flow * tracker->stride);
}

/* Note the frame; flow must be below tracker->flows. A frame that is the next expected one is not
 * counted yet, but left to sequence_count_in_order: a caller can do that once for many. */
static inline enum sequence_result
sequence_add(struct sequence_tracker *tracker, uint32_t flow, uint32_t sequence)
{
	struct sequence_flow *state = sequence_flow(tracker, flow);
	uint32_t bit = sequence & (tracker->window - 1);

	if (__builtin_expect(sequence != state->next || !state->known, 0))
		return sequence_out_of_order(tracker, state, sequence);
	state->next = sequence + 1;
	state->bits[bit / 64] |= UINT64_C(1) << (bit % 64);
	return SEQUENCE_NEXT;
}

static inline void
sequence_count_in_order(struct sequence_tracker *tracker, uint64_t frames)
{
	tracker->counts.expected += frames;
	tracker->counts.received += frames;
}

/* Where flows begin at the first frame that arrives, one sent before it may still follow: then more
 * are received than expected, and none is lost. */
static inline uint64_t
sequence_lost(const struct sequence_counts *counts)
{
	return counts->expected > counts->received ? counts->expected - counts->received : 0;
}

#endif
