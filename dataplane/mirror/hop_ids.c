/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "hop_ids.h"

#define NO_ID UINT16_MAX

struct known_hop {
	struct hop_key key;
	uint32_t id;
	uint32_t index; /* in this turn's hops */
};

_Static_assert(sizeof(struct hop_key) == 48, "no padding in a key");

void
hop_ids_open(struct hop_ids *ids)
{
	memset(ids, 0, sizeof(*ids));
	table_open(&ids->known, sizeof(struct hop_key), sizeof(struct known_hop));
}

void
hop_ids_close(struct hop_ids *ids)
{
	table_close(&ids->known);
}

/* Forget what the turn before this one did not use. Return whether there was any. */
static bool
forget_unused(struct hop_ids *ids)
{
	struct known_hop *known = NULL;
	struct table kept;
	bool any = false;

	table_open(&kept, sizeof(struct hop_key), sizeof(struct known_hop));
	while ((known = table_next(&ids->known, known)) != NULL) {
		struct known_hop *copy;

		if (ids->used_in[known->id] + 1 < ids->turn)
			continue;
		copy = table_put(&kept, &known->key);
		if (copy == NULL) {
			table_close(&kept);
			return false;
		}
		*copy = *known;
	}
	for (uint32_t id = 0; id < ROUTES_HOPS_MAX; id++)
		if (ids->used_in[id] != 0 && ids->used_in[id] + 1 < ids->turn) {
			ids->used_in[id] = 0;
			any = true;
		}
	table_close(&ids->known);
	ids->known = kept;
	return any;
}

static uint32_t
free_id(struct hop_ids *ids)
{
	for (int attempt = 0; attempt < 2 && !ids->is_full; attempt++) {
		for (; ids->first_free < ROUTES_HOPS_MAX; ids->first_free++)
			if (ids->used_in[ids->first_free] == 0)
				return ids->first_free;
		/* Once a turn is enough: no id becomes free in it. */
		ids->is_full = attempt > 0 || !forget_unused(ids);
		ids->first_free = 0;
	}
	return NO_ID;
}

uint16_t
hop_ids_put(struct hop_ids *ids, struct routes *routes, const struct hop_key *key, bool *is_new)
{
	struct known_hop *known = table_find(&ids->known, key);

	*is_new = false;
	if (known == NULL) {
		uint32_t id = free_id(ids);

		if (id == NO_ID)
			return HOP_NONE;
		known = table_put(&ids->known, key);
		if (known == NULL) {
			ids->is_short = true;
			return HOP_NONE;
		}
		known->id = id;
	} else if (ids->used_in[known->id] == ids->turn) {
		return (uint16_t)known->index;
	}
	ids->used_in[known->id] = ids->turn;
	known->index = routes->nb_hops++;
	*is_new = true;
	routes->hops[known->index] = (struct route_hop){.id = (uint16_t)known->id,
							.kind = key->kind,
							.port = key->port,
							.vlan = key->vlan,
							.mtu = key->mtu};
	memcpy(routes->hops[known->index].source, key->source, sizeof(key->source));
	memcpy(routes->hops[known->index].target, key->target, sizeof(key->target));
	return (uint16_t)known->index;
}

bool
hop_ids_move(struct hop_ids *ids, struct routes *routes, const struct hop_key *from,
	     const struct hop_key *to)
{
	struct known_hop *known = table_find(&ids->known, from), *other;
	struct known_hop former;

	if (known == NULL || ids->used_in[known->id] != ids->turn)
		return true;
	former = *known;
	table_remove(&ids->known, known);
	other = table_find(&ids->known, to);
	if (other != NULL && ids->used_in[other->id] == ids->turn)
		return false;
	/* One of an earlier turn is not needed any more. */
	known = other != NULL ? other : table_put(&ids->known, to);
	if (known == NULL)
		return false;
	known->id = former.id;
	known->index = former.index;
	memcpy(routes->hops[known->index].target, to->target, sizeof(to->target));
	return true;
}

void
hop_ids_turn(struct hop_ids *ids)
{
	ids->turn++;
	ids->is_short = ids->is_full = false;
	ids->first_free = 0;
}
