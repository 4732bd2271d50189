/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores at any address, big-endian where their names say so; each compiles to one or two
 * instructions. */
#ifndef PKTLIB_BYTES_H
#define PKTLIB_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "pktlib is written for little-endian CPUs"
#endif

static inline uint16_t
be16_load(const void *at)
{
	uint16_t raw;

	memcpy(&raw, at, sizeof(raw));
	return __builtin_bswap16(raw);
}

static inline uint32_t
be32_load(const void *at)
{
	uint32_t raw;

	memcpy(&raw, at, sizeof(raw));
	return __builtin_bswap32(raw);
}

static inline uint64_t
be64_load(const void *at)
{
	uint64_t raw;

	memcpy(&raw, at, sizeof(raw));
	return __builtin_bswap64(raw);
}

static inline void
be16_store(void *at, uint16_t value)
{
	uint16_t raw = __builtin_bswap16(value);

	memcpy(at, &raw, sizeof(raw));
}

static inline void
be32_store(void *at, uint32_t value)
{
	uint32_t raw = __builtin_bswap32(value);

	memcpy(at, &raw, sizeof(raw));
}

static inline void
be64_store(void *at, uint64_t value)
{
	uint64_t raw = __builtin_bswap64(value);

	memcpy(at, &raw, sizeof(raw));
}

/* In the CPU's own order. */
static inline uint64_t
raw64_load(const void *at)
{
	uint64_t raw;

	memcpy(&raw, at, sizeof(raw));
	return raw;
}

static inline uint32_t
raw32_load(const void *at)
{
	uint32_t raw;

	memcpy(&raw, at, sizeof(raw));
	return raw;
}

static inline uint16_t
raw16_load(const void *at)
{
	uint16_t raw;

	memcpy(&raw, at, sizeof(raw));
	return raw;
}

#endif
