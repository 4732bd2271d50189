/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of the TSC to nanoseconds and back. */
#ifndef PKTLIB_TSC_CLOCK_H
#define PKTLIB_TSC_CLOCK_H

#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;

#define TSC_CLOCK_SHIFT 40
#define NANOS_PER_S UINT64_C(1000000000)

/* One multiplication a conversion; the error is below 1 ns for times up to 100 s. */
struct tsc_clock {
	uint64_t hz;
	uint64_t ns_per_cycle; /* fixed point, TSC_CLOCK_SHIFT fractional bits */
};

static inline struct tsc_clock
tsc_clock_of(uint64_t hz)
{
	return (struct tsc_clock){
		.hz = hz,
		.ns_per_cycle = (uint64_t)(((uint128)NANOS_PER_S << TSC_CLOCK_SHIFT) / hz),
	};
}

static inline uint64_t
tsc_clock_ns(const struct tsc_clock *clock, uint64_t cycles)
{
	return (uint64_t)(((uint128)cycles * clock->ns_per_cycle) >> TSC_CLOCK_SHIFT);
}

static inline uint64_t
tsc_clock_cycles(const struct tsc_clock *clock, uint64_t ns)
{
	return (uint64_t)((uint128)ns * clock->hz / NANOS_PER_S);
}

#endif
