/* SPDX-License-Identifier: Apache-2.0 */
/* Look up subscribers' hosts: from GRE key and IPv4 address to tags, MAC and port.
 *
 * Every subscriber has a slot, which also holds its first host: where keys are dense, the slot is
 * computed from the key, otherwise looked up. Further hosts of a subscriber are chained behind it.
 * What forwarding reads (struct bng_host) is kept apart from what only learning needs.
 *
 * All users of one table have keys that are equal modulo the number of workers.
 */
#ifndef PKTLIB_BNG_HOSTS_H
#define PKTLIB_BNG_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "map.h"
#include "memory.h"
#include "wire.h"

#define BNG_NO_SLOT UINT32_MAX
#define BNG_HOSTS_PER_USER 8
#define BNG_WORKERS_MAX 64
#define BNG_DIVIDE_SHIFT 35

/* Data of a host that only learning needs. */
struct bng_book {
	uint32_t key;       /* of its subscriber, BNG_NO_SLOT: the slot is free */
	uint32_t line;      /* of its subscriber */
	uint32_t expires_s; /* 0: never */
	uint32_t next; /* the subscriber's next host, or the next free place; BNG_NO_SLOT: none */
};

struct bng_hosts {
	struct bng_host *hosts;
	uint32_t first_key;
	uint32_t key_range; /* keys first_key to first_key + key_range - 1 have computed slots */
	uint32_t workers;
	uint64_t reciprocal;  /* 2^BNG_DIVIDE_SHIFT / workers, rounded up */
	struct bng_map slots; /* key -> slot + 1, for all other keys */
	struct bng_book *books;
	uint16_t *sessions; /* PPPoE, of the subscriber in a slot; 0: none */
	uint32_t nb_dense, nb_places;
	uint32_t free_place; /* chain through `next` */
	uint32_t cursor;     /* of bng_hosts_expire */
	uint32_t nb_users, nb_known;
	const struct bng_memory *memory;
};

enum bng_learned {
	BNG_LEARNED_NEW,
	BNG_LEARNED_AGAIN,
	BNG_LEARNED_MOVED,  /* the address has another MAC now */
	BNG_LEARNED_STATIC, /* the tables say what it is: nothing changed */
	BNG_LEARNED_FULL,   /* the subscriber, or the table, has no room for another host */
	BNG_LEARNED_NO_USER,
};

/* `nb_users` with keys from first_key to last_key will be added, and places for `spare` more users
 * or further hosts are kept. Returns 0, or -1 when memory is short. */
int bng_hosts_init(struct bng_hosts *hosts, const struct bng_memory *memory, uint32_t nb_users,
		   uint32_t first_key, uint32_t last_key, uint32_t workers, uint32_t spare);
void bng_hosts_free(struct bng_hosts *hosts);
uint64_t bng_hosts_octets(const struct bng_hosts *hosts);

/* Returns 0, or -1 when there is no room. The key is new. */
int bng_hosts_add_user(struct bng_hosts *hosts, uint32_t key, uint32_t line, uint8_t port);
/* A user's PPPoE session. */
void bng_hosts_set_session(struct bng_hosts *hosts, uint32_t key, uint16_t session);
/* With all its hosts. Returns whether there was such a user. */
bool bng_hosts_remove_user(struct bng_hosts *hosts, uint32_t key);

/* expires_s 0: for good, and not to be overridden by what is learnt later. */
enum bng_learned bng_hosts_learn(struct bng_hosts *hosts, uint32_t key, uint32_t ip,
				 const uint8_t mac[6], uint32_t expires_s);
/* Forget what has expired among the next `count` places. Returns how many hosts that were. */
uint32_t bng_hosts_expire(struct bng_hosts *hosts, uint32_t now_s, uint32_t count);

/* The slot of a key if it is computed; BNG_NO_SLOT if it has to be looked up. */
static inline uint32_t
bng_hosts_dense_slot(const struct bng_hosts *hosts, uint32_t key)
{
	uint32_t distance = key - hosts->first_key, slot;

	if (distance >= hosts->key_range)
		return BNG_NO_SLOT;
	/* Exact below 2^28; a key of another worker leaves a remainder. */
	slot = (uint32_t)((distance * hosts->reciprocal) >> BNG_DIVIDE_SHIFT);
	return slot * hosts->workers == distance ? slot : BNG_NO_SLOT;
}

static inline uint32_t
bng_hosts_slot(const struct bng_hosts *hosts, uint32_t key)
{
	uint32_t slot = bng_hosts_dense_slot(hosts, key);

	return slot != BNG_NO_SLOT ? slot : bng_map_get(&hosts->slots, key) - 1;
}

/* The further hosts of the subscriber in a slot. */
const struct bng_host *
bng_hosts_find_further(const struct bng_hosts *hosts, uint32_t slot, uint32_t ip);

/* A subscriber's host by its address, or NULL. */
static inline const struct bng_host *
bng_hosts_find(const struct bng_hosts *hosts, uint32_t slot, uint32_t ip)
{
	const struct bng_host *host = &hosts->hosts[slot];

	if (__builtin_expect(host->ip == ip && (host->mac & BNG_HOST_KNOWN) != 0, 1))
		return host;
	return bng_hosts_find_further(hosts, slot, ip);
}

static inline bool
bng_hosts_has_user(const struct bng_hosts *hosts, uint32_t key)
{
	uint32_t slot = bng_hosts_slot(hosts, key);

	return slot != BNG_NO_SLOT && hosts->books[slot].key == key;
}

#endif
