/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bng_files.h"
#include "bng_traffic.h"
#include "bng_worker.h"
#include "core/config.h"
#include "pktlib/bng/wire.h"
#include "pktlib/flow_step.h"

static int
read_macs(struct bng_script_spec *spec, const struct config_section *section)
{
	struct rte_ether_addr gateway = {0}, inet = {0};
	int ret = 0;

	ret |= config_mac(section, "gateway_mac", &gateway);
	ret |= config_mac(section, "inet_mac", &inet);
	memcpy(spec->gateway_mac, &gateway, sizeof(gateway));
	memcpy(spec->inet_mac, &inet, sizeof(inet));
	if (!(config_require(section, "gateway_mac") & config_require(section, "inet_mac")))
		ret = -1;
	return ret;
}

/* The tables stay at hand until bng_script_open has read them. */
static int
read_tables(struct bng_traffic_keys *keys, const struct config_section *section)
{
	const struct bng_table_file *file;
	struct fault why;

	if (!config_require(section, "tables"))
		return -1;
	file = bng_file_get(section, keys->tables);
	if (file == NULL)
		return -1;
	if (bng_script_check(&keys->spec, file, &why) != 0) {
		config_fault(section, keys->spec.flows != 0 ? "flows" : "tables", "%s", why.text);
		return -1;
	}
	/* As every flow has a sequence number at the sink. */
	if (keys->spec.flows == 0 && file->nb_users > FLOWS_MAX)
		keys->spec.flows = FLOWS_MAX;
	else if (keys->spec.flows == 0)
		keys->spec.flows = file->nb_users;
	return 0;
}

int
bng_traffic_read(struct bng_traffic_keys *keys, const struct config_section *section)
{
	static const char *const sides[] = {"up", "down", NULL};
	static const char *const orders[] = {"random", "file", NULL};
	static const char *const tpids[] = {"0x88a8", "0x8100", NULL};
	static const char *const accesses[] = {"ipoe", "pppoe", NULL};
	struct bng_script_spec *spec = &keys->spec;
	unsigned int side = 0, order = 0, tpid = 0, access = 0;
	int ret = 0;

	ret |= config_enum(section, "bng", sides, &side);
	ret |= config_enum(section, "order", orders, &order);
	ret |= config_enum(section, "access", accesses, &access);
	ret |= config_enum(section, "outer_tpid", tpids, &tpid);
	ret |= config_u32(section, "flows", &spec->flows, 1, FLOWS_MAX);
	ret |= bng_config_ipv4(section, "local_ip", &spec->local_ip);
	ret |= config_require(section, "local_ip") ? 0 : -1;
	ret |= read_macs(spec, section);
	keys->tables = config_string(section, "tables");
	spec->upstream = side == 0;
	spec->shuffled = order == 0;
	spec->pppoe = access == 1;
	spec->tpid = tpid == 0 ? TPID_QINQ : TPID_VLAN;
	ret |= read_tables(keys, section);
	return ret == 0 ? 0 : -1;
}

int
bng_traffic_open(struct bng_script *script, const struct bng_traffic_keys *keys,
		 const struct task *task)
{
	const struct bng_table_file *file = bng_file_find(keys->tables);
	int ret = file == NULL ? -1
			       : bng_script_build(script, &keys->spec, file,
						  bng_memory_of(task->socket_id));

	if (ret != 0)
		fprintf(stderr,
			"wsdp: [task.%s] tables = %s: the traffic of %u users does not fit into "
			"the memory of NUMA node %d; give it more huge pages (without them, more "
			"[eal] options = -m MiB)\n",
			task->name, keys->tables, keys->spec.flows, task->socket_id);
	bng_file_put(keys->tables);
	return ret == 0 ? 0 : -ENOMEM;
}

static const struct content_ops bng = {
	.name = "bng",
	.gen =
		{
			.read = bng_traffic_gen_read,
			.open = bng_traffic_gen_open,
			.rewind = bng_traffic_gen_rewind,
			.close = bng_traffic_gen_close,
		},
	.sink =
		{
			.read = bng_traffic_sink_read,
			.open = bng_traffic_sink_open,
			.judge = bng_traffic_judge,
			.stats = bng_traffic_sink_stats,
			.reset = bng_traffic_sink_reset,
			.close = bng_traffic_sink_close,
		},
};

CONTENT_REGISTER(bng)
