/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "bng_files.h"
#include "bng_worker.h"
#include "core/arguments.h"
#include "core/config.h"
#include "core/telemetry.h"

static struct bng_worker *workers; /* of the main thread; lcores reach theirs through settings */

struct bng_worker *
bng_worker_name(const struct task *task, const struct config_section *section, const char *path,
		uint32_t number, uint32_t count)
{
	struct bng_worker *worker = workers;

	while (worker != NULL && (worker->number != number || worker->workers != count ||
				  strcmp(worker->path, path) != 0))
		worker = worker->next;
	if (worker == NULL) {
		worker = calloc(1, sizeof(*worker));
		if (worker == NULL) {
			config_fault(section, NULL, "out of memory");
			return NULL;
		}
		rte_strscpy(worker->path, path, sizeof(worker->path));
		worker->number = number;
		worker->workers = count;
		worker->lcore_id = task->lcore_id;
		worker->next = workers;
		workers = worker;
	}
	if (worker->lcore_id != task->lcore_id) {
		config_fault(section, "lcore",
			     "both directions of worker %u share what is learnt "
			     "and must run on one lcore; the other one runs on %u",
			     number, worker->lcore_id);
		return NULL;
	}
	worker->nb_tasks++;
	return worker;
}

static void *
take_huge(const struct bng_memory *memory, size_t bytes)
{
	return rte_zmalloc_socket("bng", bytes, RTE_CACHE_LINE_SIZE, memory->socket_id);
}

static void
give_huge(const struct bng_memory *memory __rte_unused, void *taken)
{
	rte_free(taken);
}

/* One for each NUMA node, as long as the program: tables point to theirs. */
const struct bng_memory *
bng_memory_of(int socket_id)
{
	static struct bng_memory memories[RTE_MAX_NUMA_NODES];
	struct bng_memory *memory = &memories[socket_id < 0 ? 0 : socket_id];

	*memory = (struct bng_memory){take_huge, give_huge, socket_id};
	return memory;
}

int
bng_worker_prepare(struct bng_settings *settings, const struct task *task)
{
	struct bng_worker *worker = settings->worker;
	const struct bng_tables_room room = {settings->room_users, settings->room_routes};
	const struct bng_table_file *file = bng_file_find(worker->path);
	int ret = 0;

	if (worker->nb_prepared == 0) {
		ret = file == NULL ? -1
				   : bng_tables_build(&worker->tables, file, worker->number,
						      worker->workers, &room,
						      bng_memory_of(task->socket_id));
		if (ret != 0)
			fprintf(stderr,
				"wsdp: [task.%s] tables = %s: %u users and %u routes do "
				"not fit into the memory of NUMA node %d; give it more huge pages "
				"(without them, more [eal] options = -m MiB)\n",
				task->name, worker->path, file == NULL ? 0 : file->nb_users,
				file == NULL ? 0 : file->nb_routes, task->socket_id);
	}
	bng_file_put(worker->path);
	if (ret != 0)
		return -ENOMEM;
	worker->nb_prepared++;
	return 0;
}

void
bng_worker_close(struct bng_settings *settings)
{
	struct bng_worker *worker = settings->worker, **link = &workers;

	if (--worker->nb_prepared == 0)
		bng_tables_free(&worker->tables);
	if (--worker->nb_tasks > 0)
		return;
	while (*link != worker)
		link = &(*link)->next;
	*link = worker->next;
	free(worker);
}

static void
say_nothing(const struct bng_complaint *complaint __rte_unused, const char *text __rte_unused)
{
}

int
bng_user_argument(const struct argument *argument, struct bng_user_entry *user, bool *adds)
{
	static const struct bng_complaint silent = {say_nothing, NULL};
	const char *text = argument->value, *end = text + strlen(text);
	struct bng_entry entry;
	int ret = -1;

	*adds = strcmp(argument->key, "user") == 0;
	if (*adds)
		ret = bng_entry_parse(&entry, BNG_USER_ENTRY, text, end, &silent);
	else if (strcmp(argument->key, "no_user") == 0)
		ret = bng_entry_parse_name(&entry, BNG_USER_ENTRY, text, end, &silent);
	if (ret != 0)
		return -EINVAL;
	*user = entry.user;
	return 0;
}

/* Return whether a frame of this entry would find its port. */
static bool
has_port(const struct bng_worker *worker, const struct bng_entry *entry)
{
	if (entry->kind == BNG_HOP_ENTRY)
		return worker->up_ports == 0 || entry->hop.spec.port < worker->up_ports;
	if (entry->kind == BNG_USER_ENTRY)
		return worker->down_ports == 0 || entry->user.port < worker->down_ports;
	return true;
}

static int
change(struct bng_worker *worker, const struct argument *argument)
{
	static const int errors[] = {
		[BNG_CHANGED] = 0,       [BNG_NOT_THERE] = -ENOENT, [BNG_IN_USE] = -EEXIST,
		[BNG_NO_ROOM] = -ENOSPC, [BNG_NOT_OURS] = -EXDEV,   [BNG_TOO_SHORT] = -ERANGE,
	};
	static const struct bng_complaint silent = {say_nothing, NULL};
	bool remove = strncmp(argument->key, "no_", 3) == 0;
	const char *word = argument->key + (remove ? 3 : 0);
	enum bng_entry_kind kind = bng_entry_kind_of(word, strlen(word));
	const char *text = argument->value, *end = text + strlen(text);
	struct bng_entry entry;

	if (kind == BNG_ENTRY_KINDS)
		return -EINVAL;
	if (remove)
		return bng_entry_parse_name(&entry, kind, text, end, &silent) != 0
			       ? -EINVAL
			       : errors[bng_tables_remove(&worker->tables, &entry)];
	if (bng_entry_parse(&entry, kind, text, end, &silent) != 0)
		return -EINVAL;
	if (!has_port(worker, &entry))
		return -ENXIO;
	if (entry.kind == BNG_USER_ENTRY && (entry.user.session > 0) != worker->pppoe)
		return -EPROTO;
	return errors[bng_tables_add(&worker->tables, &entry)];
}

int
bng_worker_control(struct bng_settings *settings, const char *verb, const char *args)
{
	struct argument argument;
	int ret;

	if (strcmp(verb, "set") != 0)
		return 0;
	while ((ret = arguments_next(&args, &argument)) == 1) {
		ret = change(settings->worker, &argument);
		if (ret != 0)
			return ret;
	}
	return ret;
}

void
bng_worker_stats(const struct bng_settings *settings, const uint64_t *verdicts,
		 struct telemetry_out *out)
{
	const struct bng_tables *tables = &settings->worker->tables;

	for (enum bng_verdict verdict = BNG_TRUNCATED; verdict < BNG_VERDICTS; verdict++)
		telemetry_u64(out, bng_verdict_name(verdict), verdicts[verdict]);
	telemetry_u64(out, "users", tables->hosts.nb_users);
	telemetry_u64(out, "hosts", tables->hosts.nb_known);
	telemetry_u64(out, "routes", tables->routes.nb_rules);
	telemetry_u64(out, "table_bytes", bng_tables_octets(tables));
}
