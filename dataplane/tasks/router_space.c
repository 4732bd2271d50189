/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "router_tables.h"

static struct router_space *all;

void
router_space_exchange(struct router_space *space, struct router_tables *tables)
{
	struct router_tables *former =
		atomic_exchange_explicit(&space->current, tables, memory_order_acq_rel);

	space->generation++;
	if (former == NULL)
		return;
	former->older = space->replaced;
	space->replaced = former;
}

void
router_space_settle(struct router_space *space)
{
	while (space->replaced != NULL) {
		struct router_tables *gone = space->replaced;

		space->replaced = gone->older;
		if (gone == space->kept) {
			space->kept = NULL;
			space->spare = gone;
		} else {
			router_tables_free(gone);
		}
	}
}

struct router_tables *
router_space_take_spare(struct router_space *space)
{
	struct router_tables *spare = space->spare;

	space->spare = NULL;
	return spare;
}

static void
free_space(struct router_space *space)
{
	router_space_settle(space);
	router_tables_free(space->spare);
	router_tables_free(atomic_load(&space->current));
	free(space->path);
	free(space);
}

static struct router_space *
make_space(const char *path, bool is_empty, int socket_id, unsigned int nb_out)
{
	struct router_space *space = calloc(1, sizeof(*space));
	const struct routes none = {0};
	struct router_tables *tables = NULL;
	char error[512] = "out of memory";

	if (space == NULL)
		return NULL;
	space->path = strdup(path);
	space->socket_id = socket_id;
	space->nb_out = nb_out;
	if (space->path != NULL && is_empty)
		tables = router_tables_make(space, &none, NULL, error, sizeof(error));
	else if (space->path != NULL)
		tables = router_tables_build(space, path, NULL, error, sizeof(error));
	if (tables == NULL) {
		fprintf(stderr, "routes: %s: %s\n", path, error);
		free_space(space);
		return NULL;
	}
	router_space_exchange(space, tables);
	/* Those that follow. */
	space->has_room = is_empty;
	return space;
}

static struct router_space *
get(const char *path, bool is_empty, int socket_id, unsigned int nb_out)
{
	struct router_space *space = all;

	while (space != NULL && strcmp(space->path, path) != 0)
		space = space->next;
	if (space == NULL) {
		space = make_space(path, is_empty, socket_id, nb_out);
		if (space == NULL)
			return NULL;
		space->next = all;
		all = space;
	}
	space->nb_out = RTE_MIN(space->nb_out, nb_out);
	space->users++;
	return space;
}

struct router_space *
router_space_get(const char *path, int socket_id, unsigned int nb_out)
{
	return get(path, false, socket_id, nb_out);
}

struct router_space *
router_space_get_empty(const char *key, int socket_id, unsigned int nb_out)
{
	return get(key, true, socket_id, nb_out);
}

void
router_space_put(struct router_space *space)
{
	struct router_space **link = &all;

	if (--space->users > 0)
		return;
	while (*link != space)
		link = &(*link)->next;
	*link = space->next;
	free_space(space);
}
