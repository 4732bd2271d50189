/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "hosts.h"

/* Slots are computed while at most this many are idle for each in use. */
#define DENSE_FACTOR 2

int
bng_hosts_init(struct bng_hosts *hosts, const struct bng_memory *memory, uint32_t nb_users,
	       uint32_t first_key, uint32_t last_key, uint32_t workers, uint32_t spare)
{
	uint32_t nb_slots = nb_users == 0 ? 0 : (last_key - first_key) / workers + 1;
	bool dense = nb_slots > 0 && nb_slots <= (uint64_t)nb_users * DENSE_FACTOR;
	uint32_t hashed = dense ? 0 : nb_users;

	*hosts = (struct bng_hosts){
		.first_key = first_key,
		.key_range = dense ? last_key - first_key + 1 : 0,
		.workers = workers,
		.reciprocal = ((UINT64_C(1) << BNG_DIVIDE_SHIFT) + workers - 1) / workers,
		.nb_dense = dense ? nb_slots : 0,
		.memory = memory,
	};
	hosts->nb_places = hosts->nb_dense + hashed + spare;
	hosts->free_place = hosts->nb_places > hosts->nb_dense ? hosts->nb_dense : BNG_NO_SLOT;
	hosts->hosts =
		memory->take(memory, (hosts->nb_places + UINT64_C(1)) * sizeof(*hosts->hosts));
	hosts->books =
		memory->take(memory, (hosts->nb_places + UINT64_C(1)) * sizeof(*hosts->books));
	hosts->sessions =
		memory->take(memory, (hosts->nb_places + UINT64_C(1)) * sizeof(*hosts->sessions));
	if (hosts->hosts == NULL || hosts->books == NULL || hosts->sessions == NULL ||
	    bng_map_init(&hosts->slots, memory, hashed, 0, UINT32_MAX, spare) != 0) {
		bng_hosts_free(hosts);
		return -1;
	}
	for (uint32_t i = 0; i < hosts->nb_places; i++) {
		hosts->books[i].key = BNG_NO_SLOT;
		hosts->books[i].next =
			i < hosts->nb_dense || i + 1 == hosts->nb_places ? BNG_NO_SLOT : i + 1;
	}
	return 0;
}

void
bng_hosts_free(struct bng_hosts *hosts)
{
	if (hosts->memory == NULL)
		return;
	bng_map_free(&hosts->slots);
	hosts->memory->give(hosts->memory, hosts->hosts);
	hosts->memory->give(hosts->memory, hosts->books);
	hosts->memory->give(hosts->memory, hosts->sessions);
	*hosts = (struct bng_hosts){0};
}

uint64_t
bng_hosts_octets(const struct bng_hosts *hosts)
{
	return hosts->nb_places *
		       (sizeof(*hosts->hosts) + sizeof(*hosts->books) + sizeof(*hosts->sessions)) +
	       bng_map_octets(&hosts->slots);
}

/* A place for a user or a further host, or BNG_NO_SLOT. */
static uint32_t
take_place(struct bng_hosts *hosts)
{
	uint32_t place = hosts->free_place;

	if (place != BNG_NO_SLOT)
		hosts->free_place = hosts->books[place].next;
	return place;
}

static void
give_place(struct bng_hosts *hosts, uint32_t place)
{
	memset(&hosts->hosts[place], 0, sizeof(hosts->hosts[place]));
	hosts->books[place] = (struct bng_book){.key = BNG_NO_SLOT, .next = hosts->free_place};
	hosts->free_place = place;
}

static void
fill_place(struct bng_hosts *hosts, uint32_t place, uint32_t key, uint32_t line, uint8_t port)
{
	hosts->hosts[place] = (struct bng_host){.mac = port, .tags = bng_host_tags(line)};
	hosts->books[place] = (struct bng_book){.key = key, .line = line, .next = BNG_NO_SLOT};
}

int
bng_hosts_add_user(struct bng_hosts *hosts, uint32_t key, uint32_t line, uint8_t port)
{
	uint32_t slot = bng_hosts_dense_slot(hosts, key);

	if (slot == BNG_NO_SLOT) {
		slot = take_place(hosts);
		if (slot == BNG_NO_SLOT)
			return -1;
		if (bng_map_set(&hosts->slots, key, slot + 1) != 0) {
			give_place(hosts, slot);
			return -1;
		}
	}
	fill_place(hosts, slot, key, line, port);
	hosts->nb_users++;
	return 0;
}

void
bng_hosts_set_session(struct bng_hosts *hosts, uint32_t key, uint16_t session)
{
	hosts->sessions[bng_hosts_slot(hosts, key)] = session;
}

static bool
is_known(const struct bng_hosts *hosts, uint32_t place)
{
	return (hosts->hosts[place].mac & BNG_HOST_KNOWN) != 0;
}

bool
bng_hosts_remove_user(struct bng_hosts *hosts, uint32_t key)
{
	uint32_t slot, next;

	if (!bng_hosts_has_user(hosts, key))
		return false;
	slot = bng_hosts_slot(hosts, key);
	hosts->sessions[slot] = 0;
	for (uint32_t place = hosts->books[slot].next; place != BNG_NO_SLOT; place = next) {
		next = hosts->books[place].next;
		hosts->nb_known--;
		give_place(hosts, place);
	}
	hosts->nb_known -= is_known(hosts, slot);
	hosts->nb_users--;
	if (bng_map_remove(&hosts->slots, key)) {
		give_place(hosts, slot);
	} else {
		memset(&hosts->hosts[slot], 0, sizeof(hosts->hosts[slot]));
		hosts->books[slot] = (struct bng_book){.key = BNG_NO_SLOT, .next = BNG_NO_SLOT};
	}
	return true;
}

const struct bng_host *
bng_hosts_find_further(const struct bng_hosts *hosts, uint32_t slot, uint32_t ip)
{
	for (uint32_t place = hosts->books[slot].next; place != BNG_NO_SLOT;
	     place = hosts->books[place].next)
		if (hosts->hosts[place].ip == ip)
			return &hosts->hosts[place];
	return NULL;
}

static void
set_host(struct bng_hosts *hosts, uint32_t place, uint32_t ip, const uint8_t mac[6],
	 uint32_t expires_s)
{
	struct bng_host *host = &hosts->hosts[place];
	uint64_t raw = 0;

	memcpy((uint8_t *)&raw + 2, mac, 6);
	host->mac = raw | (host->mac & BNG_HOST_PORT_MASK) | BNG_HOST_KNOWN;
	host->ip = ip;
	hosts->books[place].expires_s = expires_s;
}

/* The place of a host by its address, or BNG_NO_SLOT; counts the subscriber's hosts. */
static uint32_t
place_of(const struct bng_hosts *hosts, uint32_t slot, uint32_t ip, unsigned int *nb)
{
	uint32_t place = slot;

	for (*nb = 0; place != BNG_NO_SLOT; place = hosts->books[place].next) {
		if (!is_known(hosts, place))
			continue;
		if (hosts->hosts[place].ip == ip)
			return place;
		(*nb)++;
	}
	return BNG_NO_SLOT;
}

static enum bng_learned
renew(struct bng_hosts *hosts, uint32_t place, uint32_t ip, const uint8_t mac[6],
      uint32_t expires_s)
{
	bool same = memcmp((const uint8_t *)&hosts->hosts[place].mac + 2, mac, 6) == 0;

	if (hosts->books[place].expires_s == 0 && expires_s != 0)
		return BNG_LEARNED_STATIC;
	set_host(hosts, place, ip, mac, expires_s);
	return same ? BNG_LEARNED_AGAIN : BNG_LEARNED_MOVED;
}

enum bng_learned
bng_hosts_learn(struct bng_hosts *hosts, uint32_t key, uint32_t ip, const uint8_t mac[6],
		uint32_t expires_s)
{
	uint32_t slot, place;
	unsigned int nb;

	if (!bng_hosts_has_user(hosts, key))
		return BNG_LEARNED_NO_USER;
	slot = bng_hosts_slot(hosts, key);
	place = place_of(hosts, slot, ip, &nb);
	if (place != BNG_NO_SLOT)
		return renew(hosts, place, ip, mac, expires_s);
	if (nb >= BNG_HOSTS_PER_USER)
		return BNG_LEARNED_FULL;
	place = slot;
	if (is_known(hosts, slot)) {
		place = take_place(hosts);
		if (place == BNG_NO_SLOT)
			return BNG_LEARNED_FULL;
		fill_place(hosts, place, key, hosts->books[slot].line,
			   (uint8_t)(hosts->hosts[slot].mac & BNG_HOST_PORT_MASK));
		hosts->books[place].next = hosts->books[slot].next;
		hosts->books[slot].next = place;
	}
	set_host(hosts, place, ip, mac, expires_s);
	hosts->nb_known++;
	return BNG_LEARNED_NEW;
}

/* Forget one host: the slot itself stays with its subscriber, a further place is given back. */
static void
forget(struct bng_hosts *hosts, uint32_t place)
{
	uint32_t slot = bng_hosts_slot(hosts, hosts->books[place].key), before = slot;

	hosts->nb_known--;
	if (place == slot) {
		hosts->hosts[slot].mac &= BNG_HOST_PORT_MASK;
		hosts->books[slot].expires_s = 0;
		return;
	}
	while (hosts->books[before].next != place)
		before = hosts->books[before].next;
	hosts->books[before].next = hosts->books[place].next;
	give_place(hosts, place);
}

uint32_t
bng_hosts_expire(struct bng_hosts *hosts, uint32_t now_s, uint32_t count)
{
	uint32_t forgotten = 0;

	for (uint32_t i = 0; i < count && i < hosts->nb_places; i++) {
		const struct bng_book *book = &hosts->books[hosts->cursor];

		if (book->key != BNG_NO_SLOT && book->expires_s != 0 &&
		    (int32_t)(now_s - book->expires_s) >= 0) {
			forget(hosts, hosts->cursor);
			forgotten++;
		}
		if (++hosts->cursor == hosts->nb_places)
			hosts->cursor = 0;
	}
	return forgotten;
}
