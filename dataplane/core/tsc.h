/* SPDX-License-Identifier: Apache-2.0 */
/* Measure the frequency of the TSC.
 *
 * rte_get_tsc_hz() rounds its estimate to 10 MHz (24.11 and before), an error of up to 0.2% at 2.6
 * GHz, which every rate and every time would share. So the frequency is measured here against the
 * system's clock, which NTP corrects.
 */
#ifndef WSDP_TSC_H
#define WSDP_TSC_H

#include <stdint.h>

/* Cycles a second, to 0.01% and better. The first caller waits 50 ms for it; any thread may ask. */
uint64_t tsc_hz(void);

/* The TSC and CLOCK_MONOTONIC at one moment, to `cycles` +- bracket / 2. */
struct tsc_moment {
	uint64_t ns;
	uint64_t cycles;
	uint64_t bracket; /* cycles in which the clock was read */
};

/* Of several readings, return the one with the shortest interruption. */
struct tsc_moment tsc_read_both(void);

/* The TSC when the clock was at `ns`, from two such moments; and how far off that can be at most. */
uint64_t tsc_at(uint64_t ns, const struct tsc_moment *begin, const struct tsc_moment *end);
uint64_t tsc_at_error_ns(const struct tsc_moment *begin, const struct tsc_moment *end);

/* Cycles as a time, and the other way round. */
uint64_t tsc_to_ns(uint64_t cycles);
uint64_t ns_to_tsc(uint64_t ns);

#endif
