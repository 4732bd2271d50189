/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tables.h"

#define RUN_TIME_PREFIX_MIN 8

static void
set_default(struct bng_hops *hops)
{
	struct bng_hop *ready = &hops->ready[BNG_HOP_DEFAULT];

	if (hops->default_hop < BNG_HOPS_MAX)
		*ready = hops->ready[hops->default_hop + 1];
	else
		*ready = (struct bng_hop){.verdict = BNG_NO_ROUTE, .header_len = BNG_OUTER_MAX};
}

static void
set_hop(struct bng_hops *hops, uint16_t id)
{
	bng_hop_build(&hops->ready[id + 1], &hops->specs[id], hops->local_ip, hops->local_mac);
	set_default(hops);
}

static void
add_hop(struct bng_hops *hops, const struct bng_hop_entry *entry)
{
	hops->specs[entry->id] = entry->spec;
	hops->exists[entry->id] = true;
	set_hop(hops, entry->id);
}

static enum bng_change
add_route(struct bng_tables *tables, const struct bng_route_entry *entry)
{
	if (!tables->hops->exists[entry->hop])
		return BNG_NOT_THERE;
	if (entry->length == 0) {
		if (tables->hops->default_hop < BNG_HOPS_MAX)
			return BNG_IN_USE;
		tables->hops->default_hop = entry->hop;
		set_default(tables->hops);
		return BNG_CHANGED;
	}
	switch (bng_lpm_add(&tables->routes, entry->prefix, entry->length, entry->hop + 1)) {
	case BNG_LPM_EXISTS:
		return BNG_IN_USE;
	case BNG_LPM_FULL:
		return BNG_NO_ROOM;
	default:
		return BNG_CHANGED;
	}
}

static enum bng_change
remove_route(struct bng_tables *tables, const struct bng_route_entry *entry)
{
	if (entry->length > 0)
		return bng_lpm_remove(&tables->routes, entry->prefix, entry->length) == BNG_LPM_OK
			       ? BNG_CHANGED
			       : BNG_NOT_THERE;
	if (tables->hops->default_hop == BNG_HOPS_MAX)
		return BNG_NOT_THERE;
	tables->hops->default_hop = BNG_HOPS_MAX;
	set_default(tables->hops);
	return BNG_CHANGED;
}

static enum bng_change
add_user(struct bng_tables *tables, const struct bng_user_entry *entry)
{
	if (entry->key % tables->workers != tables->worker)
		return BNG_NOT_OURS;
	if (bng_map_get(&tables->lines, entry->line) != 0 ||
	    bng_hosts_has_user(&tables->hosts, entry->key))
		return BNG_IN_USE;
	if (bng_map_set(&tables->lines, entry->line, entry->key | BNG_LINE_KNOWN) != 0)
		return BNG_NO_ROOM;
	if (bng_hosts_add_user(&tables->hosts, entry->key, entry->line, entry->port) != 0) {
		bng_map_remove(&tables->lines, entry->line);
		return BNG_NO_ROOM;
	}
	bng_hosts_set_session(&tables->hosts, entry->key, entry->session);
	if (entry->has_host)
		bng_hosts_learn(&tables->hosts, entry->key, entry->ip, entry->mac, 0);
	return BNG_CHANGED;
}

static enum bng_change
remove_user(struct bng_tables *tables, const struct bng_user_entry *entry)
{
	if (entry->key % tables->workers != tables->worker)
		return BNG_NOT_OURS;
	if (bng_map_get(&tables->lines, entry->line) != (entry->key | BNG_LINE_KNOWN))
		return BNG_NOT_THERE;
	bng_map_remove(&tables->lines, entry->line);
	bng_hosts_remove_user(&tables->hosts, entry->key);
	return BNG_CHANGED;
}

enum bng_change
bng_tables_add(struct bng_tables *tables, const struct bng_entry *entry)
{
	switch (entry->kind) {
	case BNG_HOP_ENTRY:
		add_hop(tables->hops, &entry->hop);
		return BNG_CHANGED;
	case BNG_ROUTE_ENTRY:
		if (entry->route.length > 0 && entry->route.length < RUN_TIME_PREFIX_MIN)
			return BNG_TOO_SHORT;
		return add_route(tables, &entry->route);
	case BNG_USER_ENTRY:
		return add_user(tables, &entry->user);
	default:
		return BNG_NOT_THERE;
	}
}

enum bng_change
bng_tables_remove(struct bng_tables *tables, const struct bng_entry *entry)
{
	switch (entry->kind) {
	case BNG_ROUTE_ENTRY:
		if (entry->route.length > 0 && entry->route.length < RUN_TIME_PREFIX_MIN)
			return BNG_TOO_SHORT;
		return remove_route(tables, &entry->route);
	case BNG_USER_ENTRY:
		return remove_user(tables, &entry->user);
	default:
		return BNG_NOT_THERE;
	}
}

enum bng_change
bng_tables_add_local(struct bng_tables *tables, uint32_t ip)
{
	switch (bng_lpm_add(&tables->routes, ip, 32, BNG_HOP_LOCAL)) {
	case BNG_LPM_EXISTS:
		return BNG_IN_USE;
	case BNG_LPM_FULL:
		return BNG_NO_ROOM;
	default:
		return BNG_CHANGED;
	}
}

void
bng_tables_set_source(struct bng_tables *tables, uint32_t local_ip, const uint8_t mac[6])
{
	struct bng_hops *hops = tables->hops;

	hops->local_ip = local_ip;
	memcpy(hops->local_mac, mac, sizeof(hops->local_mac));
	for (uint16_t id = 0; id < BNG_HOPS_MAX; id++)
		if (hops->exists[id])
			set_hop(hops, id);
}

/* Users of this worker: their number, and the range of their keys and tags. */
struct extent {
	uint32_t nb;
	uint32_t first_key, last_key;
	uint32_t first_line, last_line;
};

static struct extent
measure_users(const struct bng_table_file *file, uint32_t worker, uint32_t workers)
{
	struct extent extent = {.first_key = UINT32_MAX, .first_line = UINT32_MAX};

	for (uint32_t i = 0; i < file->nb_users; i++) {
		const struct bng_user_entry *user = &file->users[i];

		if (user->key % workers != worker)
			continue;
		extent.nb++;
		if (user->key < extent.first_key)
			extent.first_key = user->key;
		if (user->key > extent.last_key)
			extent.last_key = user->key;
		if (user->line < extent.first_line)
			extent.first_line = user->line;
		if (user->line > extent.last_line)
			extent.last_line = user->line;
	}
	return extent;
}

/* Each route may be alone in its /24; two local addresses are added later. */
static uint32_t
measure_subs(const struct bng_table_file *file, const struct bng_tables_room *room)
{
	uint32_t subs = room->routes + 2;

	for (uint32_t i = 0; i < file->nb_routes; i++)
		subs += file->routes[i].length > 24;
	return subs;
}

static int
take_memory(struct bng_tables *tables, const struct bng_table_file *file,
	    const struct bng_tables_room *room)
{
	const struct bng_memory *memory = tables->memory;
	struct extent users = measure_users(file, tables->worker, tables->workers);
	struct bng_hops *hops = memory->take(memory, sizeof(*hops));

	tables->hops = hops;
	if (hops == NULL)
		return -1;
	hops->default_hop = BNG_HOPS_MAX;
	hops->ready[BNG_HOP_LOCAL].verdict = BNG_LOCAL;
	set_default(hops);
	if (bng_map_init(&tables->lines, memory, users.nb, users.first_line, users.last_line,
			 room->users) != 0)
		return -1;
	if (bng_hosts_init(&tables->hosts, memory, users.nb, users.first_key, users.last_key,
			   tables->workers, room->users) != 0)
		return -1;
	return bng_lpm_init(&tables->routes, memory, file->nb_routes + room->routes + 2,
			    measure_subs(file, room));
}

int
bng_tables_build(struct bng_tables *tables, const struct bng_table_file *file, uint32_t worker,
		 uint32_t workers, const struct bng_tables_room *room,
		 const struct bng_memory *memory)
{
	enum bng_change change = BNG_CHANGED;

	*tables = (struct bng_tables){.worker = worker, .workers = workers, .memory = memory};
	if (take_memory(tables, file, room) != 0) {
		bng_tables_free(tables);
		return -1;
	}
	for (uint32_t i = 0; i < file->nb_hops; i++)
		add_hop(tables->hops, &file->hops[i]);
	for (uint32_t i = 0; i < file->nb_routes && change == BNG_CHANGED; i++)
		change = add_route(tables, &file->routes[i]);
	for (uint32_t i = 0; i < file->nb_users && change != BNG_NO_ROOM; i++)
		if (file->users[i].key % workers == worker)
			change = add_user(tables, &file->users[i]);
	/* The file was checked: nothing but room can be missing. */
	if (change == BNG_CHANGED)
		return 0;
	bng_tables_free(tables);
	return -1;
}

void
bng_tables_free(struct bng_tables *tables)
{
	if (tables->memory == NULL)
		return;
	bng_map_free(&tables->lines);
	bng_lpm_free(&tables->routes);
	bng_hosts_free(&tables->hosts);
	tables->memory->give(tables->memory, tables->hops);
	*tables = (struct bng_tables){0};
}

uint64_t
bng_tables_octets(const struct bng_tables *tables)
{
	return bng_map_octets(&tables->lines) + bng_lpm_octets(&tables->routes) +
	       bng_hosts_octets(&tables->hosts) + sizeof(*tables->hops);
}
