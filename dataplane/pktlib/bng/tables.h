/* SPDX-License-Identifier: Apache-2.0 */
/* All tables of one worker of a BNG. They are built from a table file and changed while frames
 * flow, by the same thread that looks them up. */
#ifndef PKTLIB_BNG_TABLES_H
#define PKTLIB_BNG_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"
#include "lpm.h"
#include "map.h"
#include "table_file.h"
#include "table_line.h"
#include "wire.h"

#define BNG_LINE_KNOWN (UINT32_C(1) << 31) /* next to the key, so that key 0 is a value */

/* Hops inside: 0 is what destinations without a route get, the file's hop N is N + 1. */
#define BNG_HOP_DEFAULT 0
#define BNG_HOP_LOCAL (BNG_HOPS_MAX + 1)
#define BNG_NB_HOPS (BNG_HOPS_MAX + 2)

struct bng_tables {
	struct bng_map lines;  /* S-VID and C-VID -> key | BNG_LINE_KNOWN */
	struct bng_lpm routes; /* destination -> hop */
	struct bng_hops *hops;
	struct bng_hosts hosts;
	uint32_t worker, workers;
	const struct bng_memory *memory;
};

struct bng_hops {
	struct bng_hop ready[BNG_NB_HOPS];
	struct bng_hop_spec specs[BNG_HOPS_MAX];
	bool exists[BNG_HOPS_MAX];
	uint16_t default_hop; /* the default route's, BNG_HOPS_MAX: there is none */
	uint32_t local_ip;
	uint8_t local_mac[6];
};

struct bng_tables_room {
	uint32_t users;  /* that may be added at run time, or further hosts of users */
	uint32_t routes; /* that may be added at run time */
};

/* Build the tables of one worker: of the file's users those whose key is `worker` modulo `workers`,
 * and all routes. Returns 0, or -1 when memory is short. */
int bng_tables_build(struct bng_tables *tables, const struct bng_table_file *file, uint32_t worker,
		     uint32_t workers, const struct bng_tables_room *room,
		     const struct bng_memory *memory);
void bng_tables_free(struct bng_tables *tables);
/* Octets that the tables take. */
uint64_t bng_tables_octets(const struct bng_tables *tables);

/* Set the source addresses of outer frames; they are 0 before. */
void bng_tables_set_source(struct bng_tables *tables, uint32_t local_ip, const uint8_t mac[6]);

enum bng_change {
	BNG_CHANGED,
	BNG_NOT_THERE, /* what is to go, or the hop that a route names, does not exist */
	BNG_IN_USE,    /* these tags, this key or this prefix are taken */
	BNG_NO_ROOM,
	BNG_NOT_OURS,  /* the key belongs to another worker */
	BNG_TOO_SHORT, /* prefixes /1 to /7 would hold up traffic: in the file only */
};

/* At run time. A hop that exists is replaced. */
enum bng_change bng_tables_add(struct bng_tables *tables, const struct bng_entry *entry);
enum bng_change bng_tables_remove(struct bng_tables *tables, const struct bng_entry *entry);
/* Packets to this address are for the gateway itself. */
enum bng_change bng_tables_add_local(struct bng_tables *tables, uint32_t ip);

#endif
