/* SPDX-License-Identifier: Apache-2.0 */
/* The stamp: the first 18 octets of the UDP payload, by which a sink knows each frame.
 *
 *  octet 0      2        3            6              10      11                18
 *        +------+--------+------------+--------------+-------+------------------+
 *        | "WS" | stream | flow       | sequence     | trial | time stamp       |
 *        +------+--------+------------+--------------+-------+------------------+
 *
 * All fields are big-endian. The time stamp is the low 56 bits of the sender's TSC; it wraps after
 * more than 200 days, and both ends must read the same counter. The trial keeps a frame that
 * arrives late from being counted in a later trial.
 */
#ifndef PKTLIB_STAMP_H
#define PKTLIB_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

#define STAMP_BYTES 18
#define STAMP_SIGNATURE 0x5753
#define STAMP_FLOW_BITS 24
#define STAMP_TSC_BITS 56
#define STAMP_TSC_MASK ((UINT64_C(1) << STAMP_TSC_BITS) - 1)

/* Octets 2..9: who sent the frame and which of its frames this is. */
static inline uint64_t
stamp_identity(uint8_t stream, uint32_t flow, uint32_t sequence)
{
	return (uint64_t)stream << 56 | (uint64_t)flow << 32 | sequence;
}

/* Octets 10..17: in which trial and when. */
static inline uint64_t
stamp_moment(uint8_t trial, uint64_t tsc)
{
	return (uint64_t)trial << STAMP_TSC_BITS | (tsc & STAMP_TSC_MASK);
}

static inline void
stamp_write(uint8_t *at, uint64_t identity, uint64_t moment)
{
	be16_store(at, STAMP_SIGNATURE);
	be64_store(at + 2, identity);
	be64_store(at + 10, moment);
}

struct stamp {
	uint8_t stream;
	uint8_t trial;
	uint32_t flow;
	uint32_t sequence;
	uint64_t tsc;
};

/* False when the signature is missing; `at` must have STAMP_BYTES octets. */
static inline bool
stamp_read(const uint8_t *at, struct stamp *stamp)
{
	uint64_t identity = be64_load(at + 2);
	uint64_t moment = be64_load(at + 10);

	stamp->stream = (uint8_t)(identity >> 56);
	stamp->flow = (uint32_t)(identity >> 32) & ((1u << STAMP_FLOW_BITS) - 1);
	stamp->sequence = (uint32_t)identity;
	stamp->trial = (uint8_t)(moment >> STAMP_TSC_BITS);
	stamp->tsc = moment & STAMP_TSC_MASK;
	return be16_load(at) == STAMP_SIGNATURE;
}

/* The cycles from a stamp to `now`; negative when the clocks disagree. */
static inline int64_t
stamp_age(uint64_t now, uint64_t stamped)
{
	return (int64_t)((now - stamped) << (64 - STAMP_TSC_BITS)) >> (64 - STAMP_TSC_BITS);
}

#endif
