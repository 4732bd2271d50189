/* SPDX-License-Identifier: Apache-2.0 */
/* Decide when the next frame may leave. The token bucket works in virtual time and is exact for
 * whole rates: credit is kept in parts of 1 / tsc_hz of a frame, so that a clock cycle adds exactly
 * rate_fps of them and a frame costs exactly tsc_hz. Nothing is ever rounded, so nothing drifts. */
#ifndef PKTLIB_TOKEN_BUCKET_H
#define PKTLIB_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct token_bucket {
	uint64_t tsc_hz;
	uint64_t rate_fps; /* 0: no limit */
	uint64_t depth;    /* frames that may leave at once after a pause, at least 1 */
	uint64_t credit;   /* at `time`; at most depth * tsc_hz */
	uint64_t time;     /* TSC; ahead of the clock while frames wait */
};

/* Time has come to `now`: credit grows, up to the depth. */
static inline void
token_bucket_refill(struct token_bucket *bucket, uint64_t now)
{
	uint64_t full = bucket->depth * bucket->tsc_hz;
	unsigned __int128 credit;

	if (now <= bucket->time)
		return;
	credit = (unsigned __int128)(now - bucket->time) * bucket->rate_fps + bucket->credit;
	bucket->credit = credit > full ? full : (uint64_t)credit;
	bucket->time = now;
}

/* Full, from `now` on. depth * tsc_hz must fit 64 bits. */
static inline void
token_bucket_init(struct token_bucket *bucket, uint64_t tsc_hz, uint64_t rate_fps, uint64_t depth,
		  uint64_t now)
{
	bucket->tsc_hz = tsc_hz;
	bucket->rate_fps = rate_fps;
	bucket->depth = depth;
	bucket->credit = depth * tsc_hz;
	bucket->time = now;
}

/* Another rate and depth, from `now` or the end of the wait under way. */
static inline void
token_bucket_change(struct token_bucket *bucket, uint64_t rate_fps, uint64_t depth, uint64_t now)
{
	token_bucket_refill(bucket, now);
	bucket->rate_fps = rate_fps;
	bucket->depth = depth;
	if (bucket->credit > depth * bucket->tsc_hz)
		bucket->credit = depth * bucket->tsc_hz;
}

/* Return whether a frame may leave at `now` without waiting. */
static inline bool
token_bucket_ready(struct token_bucket *bucket, uint64_t now)
{
	token_bucket_refill(bucket, now);
	return bucket->time <= now && (bucket->rate_fps == 0 || bucket->credit >= bucket->tsc_hz);
}

/* Take a token, waiting in line for it: the time from which its frame may leave. */
static inline uint64_t
token_bucket_take(struct token_bucket *bucket, uint64_t now)
{
	uint64_t missing, wait;

	token_bucket_refill(bucket, now);
	if (bucket->rate_fps == 0)
		return bucket->time;
	if (bucket->credit < bucket->tsc_hz) {
		missing = bucket->tsc_hz - bucket->credit;
		wait = (missing + bucket->rate_fps - 1) / bucket->rate_fps;
		bucket->time += wait;
		bucket->credit += wait * bucket->rate_fps;
	}
	bucket->credit -= bucket->tsc_hz;
	return bucket->time;
}

#endif
