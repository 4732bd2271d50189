/* SPDX-License-Identifier: Apache-2.0 */
#include "impair_line.h"

uint64_t
impair_line_slots(uint64_t queue_frames, uint64_t delayed_frames)
{
	uint64_t slots = 1;

	while (slots < queue_frames + delayed_frames)
		slots *= 2;
	return slots;
}

void
impair_line_init(struct impair_line *line, struct impair_slot *slots, uint64_t nb_slots)
{
	line->slots = slots;
	line->mask = nb_slots - 1;
	line->head = line->served = line->tail = 0;
	line->since_loss = 0;
}

/* Frames still in the queue at `now`. */
static uint64_t
waiting(struct impair_line *line, uint64_t now)
{
	while (line->served != line->tail &&
	       line->slots[line->served & line->mask].serve_tsc <= now)
		line->served++;
	return line->tail - line->served;
}

/* Move what would be served in a stall to its end. */
static void
pass_stall(struct impair_line *line)
{
	uint64_t into;

	if (line->stall_period == 0)
		return;
	into = (line->bucket.time - line->stall_from) % line->stall_period;
	if (into >= line->stall_period - line->stall_tsc)
		line->bucket.time += line->stall_period - into;
}

enum impair_verdict
impair_line_arrive(struct impair_line *line, void *frame, uint64_t now)
{
	struct impair_slot *slot = &line->slots[line->tail & line->mask];

	if (line->loss_every != 0 && ++line->since_loss >= line->loss_every) {
		line->since_loss = 0;
		return IMPAIR_LOST;
	}
	token_bucket_refill(&line->bucket, now);
	pass_stall(line);
	if (!token_bucket_ready(&line->bucket, now) && waiting(line, now) >= line->queue_frames)
		return IMPAIR_QUEUE_FULL;
	if (impair_line_held(line) > line->mask)
		return IMPAIR_DELAY_FULL;
	token_bucket_take(&line->bucket, now);
	pass_stall(line);
	slot->serve_tsc = line->bucket.time;
	slot->leave_tsc = slot->serve_tsc + line->delay_tsc;
	slot->frame = frame;
	line->tail++;
	return IMPAIR_TAKEN;
}

uint16_t
impair_line_depart(struct impair_line *line, void **frames, uint16_t max, uint64_t now)
{
	uint16_t n = 0;

	while (n < max && line->head != line->tail) {
		const struct impair_slot *slot = &line->slots[line->head & line->mask];

		/* Nobody overtakes, even when the delay was made shorter meanwhile. */
		if (slot->leave_tsc > now)
			break;
		frames[n++] = slot->frame;
		line->head++;
	}
	if (line->served < line->head)
		line->served = line->head;
	/* An empty line starts over, on slots that are in the cache. */
	if (line->head == line->tail)
		line->head = line->served = line->tail = 0;
	return n;
}
