/* SPDX-License-Identifier: Apache-2.0 */
/* The reference SUT's behaviour, apart from any frame or clock: time is an argument.
 *
 *	arrival -> every Nth lost -> queue of K -> token bucket -> fixed delay -> departure
 *
 * The bucket works in virtual time, so a frame's departure is known when it arrives: all frames
 * stand in one line, in order; those in front have been served and wait out their delay, those
 * behind are in the queue. A stall is a time, once in a period, in which nothing leaves the queue.
 */
#ifndef WSDP_IMPAIR_LINE_H
#define WSDP_IMPAIR_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "pktlib/token_bucket.h"

#define IMPAIR_QUEUE_MAX (UINT64_C(1) << 20)
#define IMPAIR_DELAYED_MAX (UINT64_C(1) << 20)

/* Fate of a frame on arrival. */
enum impair_verdict {
	IMPAIR_TAKEN,
	IMPAIR_LOST,       /* every Nth */
	IMPAIR_QUEUE_FULL, /* the rate is exceeded for too long */
	IMPAIR_DELAY_FULL, /* more frames under delay than there is room for */
};

struct impair_slot {
	uint64_t serve_tsc; /* it leaves the queue */
	uint64_t leave_tsc; /* it leaves */
	void *frame;
};

struct impair_line {
	struct token_bucket bucket;
	uint64_t delay_tsc;
	uint64_t loss_every; /* 0: none */
	uint64_t since_loss; /* frames since the last one lost, or since a reset */
	uint64_t queue_frames;
	uint64_t stall_from;   /* periods begin here */
	uint64_t stall_period; /* 0: it never stalls */
	uint64_t stall_tsc;    /* how long, at the end of each period; less than the period */
	uint64_t mask;         /* slots - 1 */
	uint64_t head;         /* next to leave */
	uint64_t served;       /* first in the queue */
	uint64_t tail;
	struct impair_slot *slots;
};

/* Return how many slots a line needs: a power of two. */
uint64_t impair_line_slots(uint64_t queue_frames, uint64_t delayed_frames);
/* The caller sets bucket, delay_tsc, loss_every, queue_frames and the stalls. */
void impair_line_init(struct impair_line *line, struct impair_slot *slots, uint64_t nb_slots);

/* A frame arrives. It stays the caller's unless it is taken. */
enum impair_verdict impair_line_arrive(struct impair_line *line, void *frame, uint64_t now);
/* Up to `max` frames whose time has come, in order of arrival. */
uint16_t impair_line_depart(struct impair_line *line, void **frames, uint16_t max, uint64_t now);

static inline uint64_t
impair_line_held(const struct impair_line *line)
{
	return line->tail - line->head;
}

#endif
