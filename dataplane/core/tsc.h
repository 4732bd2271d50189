/* SPDX-License-Identifier: Apache-2.0 */
/* How fast does the TSC tick?
 *
 * rte_get_tsc_hz() rounds what it estimates to 10 MHz (24.11 and before): up to 0.2% off at 2.6 GHz,
 * and every rate and every time would be off as much. So it is measured here against the system's
 * clock, which NTP keeps right.
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

/* Of some readings the one that was interrupted least. */
struct tsc_moment tsc_read_both(void);

/* The TSC when the clock was at `ns`, from two such moments; and how far off that can be at most. */
uint64_t tsc_at(uint64_t ns, const struct tsc_moment *begin, const struct tsc_moment *end);
uint64_t tsc_at_error_ns(const struct tsc_moment *begin, const struct tsc_moment *end);

/* Cycles as a time, and the other way round. */
uint64_t tsc_to_ns(uint64_t cycles);
uint64_t ns_to_tsc(uint64_t ns);

#endif
