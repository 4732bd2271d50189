/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that both directions of a worker have. */
#include "bng_files.h"
#include "bng_worker.h"
#include "core/config.h"
#include "pktlib/bytes.h"

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
	settings->worker = bng_worker_name(task, section, path, number, count);
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
