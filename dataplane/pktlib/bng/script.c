/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

/* The same everywhere, and another one than the generator of tables uses. */
#define SHUFFLE_SEED UINT64_C(0x5851f42d4c957f2d)

static uint32_t
flows_of(const struct bng_script_spec *spec, const struct bng_table_file *file)
{
	return spec->flows != 0 ? spec->flows : file->nb_users;
}

int
bng_script_check(const struct bng_script_spec *spec, const struct bng_table_file *file,
		 struct fault *why)
{
	if (file->nb_users == 0)
		return fault_say(why, "no traffic without a user");
	if (file->nb_routes == 0)
		return fault_say(why, "no traffic without a route");
	if (flows_of(spec, file) > file->nb_users)
		return fault_say(why, "%u flows need as many users; the tables have %u",
				 spec->flows, file->nb_users);
	for (uint32_t i = 0; i < flows_of(spec, file); i++)
		if ((file->users[i].session > 0) != spec->pppoe)
			return fault_say(why, "the user with key %u has %s PPPoE session",
					 file->users[i].key, spec->pppoe ? "no" : "a");
	if (flows_of(spec, file) > BNG_SCRIPT_FLOW_MAX)
		return fault_say(why, "%u users: at most %u can be distinguished",
				 flows_of(spec, file), BNG_SCRIPT_FLOW_MAX);
	return 0;
}

static int
by_prefix(const void *left, const void *right)
{
	const struct bng_route_entry *a = left, *b = right;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

static uint32_t
mask_of(uint8_t length)
{
	return length == 0 ? 0 : UINT32_MAX << (32 - length);
}

/* The hop of the longest prefix of this address: one binary search a length, longest first. */
static uint32_t
hop_of(const struct bng_route_entry *sorted, uint32_t nb, uint32_t ip)
{
	for (int length = 32; length >= 0; length--) {
		const struct bng_route_entry wanted = {ip & mask_of((uint8_t)length),
						       (uint8_t)length, 0};
		const struct bng_route_entry *found =
			bsearch(&wanted, sorted, nb, sizeof(*sorted), by_prefix);

		if (found != NULL)
			return found->hop;
	}
	return 0; /* not reached: the address was made from one of the routes */
}

/* An address of each route, its host part as good as random. Where there is a choice it is neither
 * all zeros nor all ones, nor 1, where gateways like to be. */
static int
build_peers(struct bng_script *script, const struct bng_table_file *file)
{
	struct bng_route_entry *sorted = malloc(file->nb_routes * sizeof(*sorted));

	if (sorted == NULL)
		return -1;
	memcpy(sorted, file->routes, file->nb_routes * sizeof(*sorted));
	qsort(sorted, file->nb_routes, sizeof(*sorted), by_prefix);
	for (uint32_t i = 0; i < file->nb_routes; i++) {
		uint32_t hosts = ~mask_of(file->routes[i].length);
		uint32_t part = hosts > 3 ? 2 + (i * UINT32_C(0x9e3779b1)) % (hosts - 2) : 0;
		uint32_t ip = file->routes[i].prefix | part;

		script->peers[i] =
			(struct bng_script_peer){ip, hop_of(sorted, file->nb_routes, ip)};
	}
	free(sorted);
	return 0;
}

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void
build_users(struct bng_script *script, const struct bng_table_file *file)
{
	uint64_t state = SHUFFLE_SEED;

	for (uint32_t i = 0; i < script->nb_users; i++) {
		const struct bng_user_entry *entry = &file->users[i];
		struct bng_script_user *user = &script->users[i];
		uint64_t mac = BNG_SCRIPT_DEFAULT_MAC + i;

		*user = (struct bng_script_user){
			.line = entry->line,
			.key = entry->key,
			.ip = entry->has_host ? entry->ip : BNG_SCRIPT_DEFAULT_HOST,
			.port = entry->port,
			.session = entry->session,
		};
		for (unsigned int octet = 0; octet < 6; octet++)
			user->mac[octet] = entry->has_host ? entry->mac[octet]
							   : (uint8_t)(mac >> 8 * (5 - octet));
	}
	for (uint32_t i = script->nb_users; script->spec.shuffled && i > 1; i--) {
		uint32_t other = (uint32_t)(next_random(&state) % i);
		struct bng_script_user user = script->users[i - 1];

		script->users[i - 1] = script->users[other];
		script->users[other] = user;
	}
}

int
bng_script_build(struct bng_script *script, const struct bng_script_spec *spec,
		 const struct bng_table_file *file, const struct bng_memory *memory)
{
	*script = (struct bng_script){
		.spec = *spec,
		.nb_users = flows_of(spec, file),
		.nb_peers = file->nb_routes,
		.memory = memory,
	};
	script->users = memory->take(memory, script->nb_users * sizeof(*script->users));
	script->peers = memory->take(memory, script->nb_peers * sizeof(*script->peers));
	script->hops = memory->take(memory, BNG_HOPS_MAX * sizeof(*script->hops));
	if (script->users == NULL || script->peers == NULL || script->hops == NULL ||
	    build_peers(script, file) != 0) {
		bng_script_free(script);
		return -1;
	}
	build_users(script, file);
	for (uint32_t i = 0; i < file->nb_hops; i++)
		script->hops[file->hops[i].id] = file->hops[i].spec;
	return 0;
}

void
bng_script_free(struct bng_script *script)
{
	if (script->users != NULL)
		script->memory->give(script->memory, script->users);
	if (script->peers != NULL)
		script->memory->give(script->memory, script->peers);
	if (script->hops != NULL)
		script->memory->give(script->memory, script->hops);
	memset(script, 0, sizeof(*script));
}
