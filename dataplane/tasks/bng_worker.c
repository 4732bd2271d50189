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
#include "pktlib/bytes.h"

static struct bng_worker *workers; /* of the main thread; lcores reach theirs through settings */

int
bng_config_ipv4(const struct config_section *section, const char *key, uint32_t *ip)
{
	struct config_ip address = {.version = 4};

	if (!config_has(section, key))
		return 0;
	if (config_ip(section, key, &address) != 0)
		return -1;
	if (address.version != 4) {
		config_fault(section, key, "must be an IPv4 address");
		return -1;
	}
	*ip = be32_load(address.bytes);
	return 0;
}

/* The worker of this number, made by the first task that names it. */
static struct bng_worker *
name_worker(const struct task *task, const struct config_section *section, const char *path,
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

/* Outputs by their number in "tx": forwarding ones first, then those for replies, then the slow
 * path's. */
static int
parse_outputs(struct bng_settings *settings, const struct task *task,
	      const struct config_section *section)
{
	uint32_t last = task->nb_out > 0 ? task->nb_out - 1 : BNG_MAX_OUT;
	int ret = 0;

	settings->reply_tx = settings->slow_tx = BNG_NO_TX;
	ret |= config_u32(section, "reply_tx", &settings->reply_tx, 1, last);
	ret |= config_u32(section, "slow_tx", &settings->slow_tx, 1, last);
	if (ret == 0 && settings->reply_tx != BNG_NO_TX &&
	    settings->slow_tx <= settings->reply_tx) {
		config_fault(section, "slow_tx", "must come behind reply_tx = %u",
			     settings->reply_tx);
		ret = -1;
	}
	settings->nb_forward = RTE_MIN(settings->reply_tx, settings->slow_tx);
	settings->nb_forward = RTE_MIN(settings->nb_forward, task->nb_out);
	return ret;
}

/* Every port that the tables name has an output. */
static int
check_ports(const struct config_section *section, const struct bng_settings *settings,
	    const struct task *task, const struct bng_table_file *file, bool upstream)
{
	uint32_t replies = settings->reply_tx == BNG_NO_TX
				   ? UINT32_MAX
				   : RTE_MIN(settings->slow_tx, task->nb_out) - settings->reply_tx;
	uint32_t user_ports = upstream ? replies : settings->nb_forward;

	for (uint32_t i = 0; upstream && i < file->nb_hops; i++) {
		if (file->hops[i].spec.port < settings->nb_forward)
			continue;
		config_fault(section, "tx",
			     "hop %u of the tables leaves through port %u; there "
			     "are %u",
			     file->hops[i].id, file->hops[i].spec.port, settings->nb_forward);
		return -1;
	}
	for (uint32_t i = 0; i < file->nb_users; i++) {
		if (file->users[i].port < user_ports)
			continue;
		config_fault(section, "tx",
			     "the user with key %u of the tables is on port %u; "
			     "there are %u%s",
			     file->users[i].key, file->users[i].port, user_ports,
			     upstream ? " outputs for replies" : "");
		return -1;
	}
	return 0;
}

/* Subscribers with and without PPPoE do not share a worker: both tasks and all users agree. */
static int
check_access(const struct config_section *section, struct bng_settings *settings,
	     const struct bng_table_file *file)
{
	struct bng_worker *worker = settings->worker;

	if (worker->nb_tasks > 1 && worker->pppoe != settings->pppoe) {
		config_fault(section, "access",
			     "both directions of worker %u must have the same; the "
			     "other one has %s",
			     worker->number, worker->pppoe ? "pppoe" : "ipoe");
		return -1;
	}
	worker->pppoe = settings->pppoe;
	for (uint32_t i = 0; i < file->nb_users; i++) {
		if ((file->users[i].session > 0) == settings->pppoe)
			continue;
		config_fault(section, settings->pppoe ? "access" : "tables",
			     "the user with key %u of the tables has %s PPPoE session; with access "
			     "= %s every user has %s",
			     file->users[i].key, settings->pppoe ? "no" : "a",
			     settings->pppoe ? "pppoe" : "ipoe", settings->pppoe ? "one" : "none");
		return -1;
	}
	return 0;
}

int
bng_worker_init(struct bng_settings *settings, struct task *task,
		const struct config_section *section, bool upstream)
{
	static const char *const accesses[] = {"ipoe", "pppoe", NULL};
	const char *path = config_string(section, "tables");
	const struct bng_table_file *file;
	uint32_t number = 0, count = 1;
	unsigned int access = 0;
	int ret = config_enum(section, "access", accesses, &access);

	settings->room_users = 1024;
	settings->room_routes = 1024;
	ret |= config_u32(section, "workers", &count, 1, BNG_WORKERS_MAX);
	ret |= config_u32(section, "worker", &number, 0, count - 1);
	ret |= config_u32(section, "room_users", &settings->room_users, 0, 1u << 24);
	ret |= config_u32(section, "room_routes", &settings->room_routes, 0, 1u << 20);
	ret |= bng_config_ipv4(section, "local_ip", &settings->local_ip);
	if (!(config_require(section, "tables") & config_require(section, "local_ip")) || ret != 0)
		return -1;
	settings->worker = name_worker(task, section, path, number, count);
	if (settings->worker == NULL || parse_outputs(settings, task, section) != 0)
		return -1;
	settings->pppoe = access == 1;
	file = bng_file_get(section, path);
	if (file == NULL || check_access(section, settings, file) != 0 ||
	    check_ports(section, settings, task, file, upstream) != 0)
		return -1;
	if (upstream)
		settings->worker->up_ports = settings->nb_forward;
	else
		settings->worker->down_ports = settings->nb_forward;
	return 0;
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

/* Would a frame of this entry find its port? */
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

void
bng_worker_settle(struct task *task, const struct bng_settings *settings,
		  const struct bng_aside *aside, uint64_t *verdicts,
		  void (*arp)(struct task *task, struct rte_mbuf *mbuf))
{
	struct rte_mbuf *dropped[TASK_BURST], *slow[TASK_BURST];
	uint16_t nb_dropped = 0, nb_slow = 0;

	for (uint16_t i = 0; i < aside->nb; i++) {
		enum bng_verdict verdict = aside->verdicts[i];

		verdicts[verdict]++;
		if (verdict == BNG_ARP)
			arp(task, aside->mbufs[i]);
		else if (bng_is_for_slow_path(verdict) && settings->slow_tx != BNG_NO_TX)
			slow[nb_slow++] = aside->mbufs[i];
		else
			dropped[nb_dropped++] = aside->mbufs[i];
	}
	if (nb_slow > 0)
		task_send(task, settings->slow_tx, slow, nb_slow);
	if (nb_dropped > 0)
		task_discard(task, dropped, nb_dropped);
}

void
bng_worker_send(struct task *task, uint32_t nb_forward, struct rte_mbuf **mbufs,
		const uint8_t *ports, uint16_t n)
{
	struct rte_mbuf *chosen[TASK_BURST];

	for (uint32_t port = 0; port < nb_forward; port++) {
		uint16_t count = 0;

		for (uint16_t i = 0; i < n; i++)
			if (ports[i] == port)
				chosen[count++] = mbufs[i];
		if (count > 0)
			task_send(task, port, chosen, count);
	}
}

void
bng_scatter(struct task *task, struct rte_mbuf **mbufs, const uint8_t *outputs, uint16_t n)
{
	struct rte_mbuf *sorted[TASK_BURST];
	uint16_t counts[TASK_MAX_OUT + 1] = {0}, starts[TASK_MAX_OUT + 1], at = 0;

	for (uint16_t i = 0; i < n; i++)
		counts[outputs[i]]++;
	if (counts[outputs[0]] == n && outputs[0] < TASK_MAX_OUT) {
		task_send(task, outputs[0], mbufs, n);
		return;
	}
	for (unsigned int out = 0; out <= TASK_MAX_OUT; out++) {
		starts[out] = at;
		at += counts[out];
	}
	for (uint16_t i = 0; i < n; i++)
		sorted[starts[outputs[i]]++] = mbufs[i];
	for (unsigned int out = 0; out < task->nb_out; out++)
		if (counts[out] > 0)
			task_send(task, out, &sorted[starts[out] - counts[out]], counts[out]);
	if (counts[TASK_MAX_OUT] > 0)
		task_discard(task, &sorted[starts[TASK_MAX_OUT] - counts[TASK_MAX_OUT]],
			     counts[TASK_MAX_OUT]);
}
