/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of a BNG's tables as text: a line of the table file, or what follows `user=` in a
 * control request. The format is described in docs/reference/bng.md. */
#ifndef PKTLIB_BNG_TABLE_LINE_H
#define PKTLIB_BNG_TABLE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

#define BNG_HOPS_MAX 510 /* their ids are 0 to 509 */
#define BNG_PORTS_MAX 16

struct bng_hop_entry {
	uint16_t id;
	struct bng_hop_spec spec;
};

struct bng_route_entry {
	uint32_t prefix;
	uint8_t length;
	uint16_t hop;
};

struct bng_user_entry {
	uint32_t line;
	uint32_t key;
	uint32_t ip;
	uint8_t mac[6];
	uint8_t port;
	bool has_host;    /* ip and mac are given */
	uint16_t session; /* PPPoE; 0: there is none */
};

enum bng_entry_kind { BNG_HOP_ENTRY, BNG_ROUTE_ENTRY, BNG_USER_ENTRY, BNG_ENTRY_KINDS };

struct bng_entry {
	enum bng_entry_kind kind;
	union {
		struct bng_hop_entry hop;
		struct bng_route_entry route;
		struct bng_user_entry user;
	};
};

/* Called with one sentence for each thing that is wrong. */
struct bng_complaint {
	void (*say)(const struct bng_complaint *complaint, const char *text);
	void *context;
};

/* "hop", "route" or "user"; BNG_ENTRY_KINDS if it is none of them. */
enum bng_entry_kind bng_entry_kind_of(const char *word, size_t length);

/* Read the fields behind the first word; they end at `end`. Complains about every bad field.
 * Returns 0 or -1. */
int bng_entry_parse(struct bng_entry *entry, enum bng_entry_kind kind, const char *text,
		    const char *end, const struct bng_complaint *complaint);

/* Just "10.0.0.0/24", or the first three fields of a user: what names an entry to be removed. */
int bng_entry_parse_name(struct bng_entry *entry, enum bng_entry_kind kind, const char *text,
			 const char *end, const struct bng_complaint *complaint);

#endif
