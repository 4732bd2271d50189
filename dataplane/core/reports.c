/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that only tell. Counters are copied by each lcore between two of its rounds, so that
 * the sum of every task closes even while traffic flows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_ring.h>
#include <rte_version.h>

#include "app.h"
#include "ask.h"
#include "commands.h"
#include "export.h"
#include "telemetry_reply.h"
#include "tsc.h"

static void
add_task_stats(struct telemetry_out *out, const struct task_stats *stats)
{
	telemetry_u64(out, "rx", stats->rx);
	telemetry_u64(out, "tx", stats->tx);
	telemetry_u64(out, "tx_fail", stats->tx_fail);
	telemetry_u64(out, "discard", stats->discard);
	telemetry_u64(out, "handled", stats->handled);
	telemetry_u64(out, "held", stats->held);
	telemetry_u64(out, "rx_bytes", stats->rx_bytes);
	telemetry_u64(out, "tx_bytes", stats->tx_bytes);
}

/* The copy that the task's lcore made last. */
static const struct task_stats *
copied_stats(const struct app *app, const struct task *task)
{
	const struct lcore *lcore = ask_lcore_of(app, task);

	for (unsigned int i = 0; i < lcore->nb_tasks; i++)
		if (lcore->tasks[i] == task)
			return &lcore->task_copies[i];
	return NULL;
}

void
report_info(struct app *app, const char *params __rte_unused, struct telemetry_out *out)
{
	struct telemetry_out tasks, ports, child;

	telemetry_string(out, "version", WSDP_VERSION);
	telemetry_string(out, "dpdk", rte_version());
	telemetry_u64(out, "pid", getpid());
	telemetry_u64(out, "tsc", rte_rdtsc());
	telemetry_u64(out, "tsc_hz", tsc_hz());
	telemetry_u64(out, "tsc_invariant", rte_cpu_get_flag_enabled(RTE_CPUFLAG_INVTSC) == 1);
	telemetry_u64(out, "main_lcore", rte_get_main_lcore());
	if (!telemetry_open(out, &tasks))
		return;
	for (unsigned int i = 0; i < app->nb_tasks && telemetry_open(&tasks, &child); i++) {
		telemetry_string(&child, "type", app->tasks[i].task.ops->name);
		telemetry_u64(&child, "lcore", app->tasks[i].task.lcore_id);
		telemetry_close(&tasks, app->tasks[i].task.name, &child);
	}
	telemetry_close(out, "tasks", &tasks);
	if (!telemetry_open(out, &ports))
		return;
	for (unsigned int i = 0; i < app->nb_ports; i++)
		telemetry_string(&ports, app->ports[i].name, app->ports[i].device_name);
	telemetry_close(out, "ports", &ports);
}

void
report_stats(struct app *app, const char *params __rte_unused, struct telemetry_out *out)
{
	struct telemetry_out child;

	if (ask_lcores(app, out, lcore_snapshot, 0) != 0)
		return;
	for (unsigned int i = 0; i < app->nb_tasks && telemetry_open(out, &child); i++) {
		add_task_stats(&child, copied_stats(app, &app->tasks[i].task));
		telemetry_close(out, app->tasks[i].task.name, &child);
	}
}

void
report_task(struct app *app, const char *params, struct telemetry_out *out)
{
	const char *rest;
	struct app_task *slot = command_task(app, out, params, &rest);

	if (slot == NULL || ask_lcores(app, out, lcore_snapshot, 0) != 0)
		return;
	telemetry_string(out, "type", slot->task.ops->name);
	telemetry_u64(out, "lcore", slot->task.lcore_id);
	add_task_stats(out, copied_stats(app, &slot->task));
	if (slot->task.ops->stats != NULL)
		slot->task.ops->stats(&slot->task, out);
}

void
report_lcores(struct app *app, const char *params __rte_unused, struct telemetry_out *out)
{
	struct telemetry_out child;

	if (ask_lcores(app, out, lcore_snapshot, 0) != 0)
		return;
	for (unsigned int i = 0; i < app->nb_lcores && telemetry_open(out, &child); i++) {
		const struct lcore *lcore = app->lcores[i];
		const struct lcore_counts *counts = &lcore->counts_copy;
		char key[16];

		telemetry_u64(&child, "tid", lcore->tid);
		telemetry_u64(&child, "cpu", lcore->cpu_copy);
		telemetry_u64(&child, "polls", counts->polls);
		telemetry_u64(&child, "busy_polls", counts->busy_polls);
		telemetry_u64(&child, "busy_tsc", counts->busy_tsc);
		telemetry_u64(&child, "total_tsc", counts->total_tsc);
		telemetry_u64(&child, "busy_ns", tsc_to_ns(counts->busy_tsc));
		telemetry_u64(&child, "total_ns", tsc_to_ns(counts->total_tsc));
		telemetry_u64(&child, "gap_limit_ns", tsc_to_ns(lcore->gap_log.limit_tsc));
		snprintf(key, sizeof(key), "%u", lcore->id);
		telemetry_close(out, key, &child);
	}
}

static void
write_gaps(const struct app *app, FILE *file)
{
	fprintf(file, "{\"format\": \"wirespeed-gaps-1\", \"tsc_hz\": %" PRIu64 ", \"lcores\": {",
		tsc_hz());
	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		const struct lcore *lcore = app->lcores[i];

		fprintf(file, "%s\"%u\": {\"cpu\": %u, ", i == 0 ? "" : ", ", lcore->id,
			lcore->cpu_copy);
		gap_log_write(&lcore->gap_log, file);
		fputc('}', file);
	}
	fputs("}}\n", file);
}

/* "/wirespeed/gaps,FILE" */
void
report_gaps(struct app *app, const char *params, struct telemetry_out *out)
{
	const char *path = params == NULL ? "" : params;
	FILE *file;
	int ret = 0;

	/* Once they have answered, what they were asked to forget before is forgotten, too. */
	if (ask_lcores(app, out, lcore_snapshot, 0) != 0)
		return;
	file = export_open(path);
	if (file == NULL) {
		ret = -errno;
	} else {
		write_gaps(app, file);
		ret = export_close(file);
	}
	if (ret != 0)
		telemetry_error(out, "gaps to \"%s\": %s", path, strerror(-ret));
	else
		telemetry_u64(out, "ok", 1);
}

static void
add_port(struct telemetry_out *out, const struct port *port)
{
	struct rte_eth_link link = {0};
	struct rte_eth_stats counts;

	telemetry_string(out, "device", port->device_name);
	telemetry_u64(out, "mtu", port->mtu);
	if (rte_eth_link_get_nowait(port->id, &link) == 0)
		telemetry_u64(out, "link", link.link_status == RTE_ETH_LINK_UP);
	if (port_stats(port, &counts) != 0)
		return;
	telemetry_u64(out, "ipackets", counts.ipackets);
	telemetry_u64(out, "opackets", counts.opackets);
	telemetry_u64(out, "ibytes", counts.ibytes);
	telemetry_u64(out, "obytes", counts.obytes);
	telemetry_u64(out, "imissed", counts.imissed);
	telemetry_u64(out, "ierrors", counts.ierrors);
	telemetry_u64(out, "oerrors", counts.oerrors);
	telemetry_u64(out, "rx_nombuf", counts.rx_nombuf);
}

void
report_ports(struct app *app, const char *params __rte_unused, struct telemetry_out *out)
{
	struct telemetry_out child;

	for (unsigned int i = 0; i < app->nb_ports && telemetry_open(out, &child); i++) {
		add_port(&child, &app->ports[i]);
		telemetry_close(out, app->ports[i].name, &child);
	}
}

void
report_rings(struct app *app, const char *params __rte_unused, struct telemetry_out *out)
{
	struct telemetry_out child;

	for (unsigned int i = 0; i < app->nb_rings && telemetry_open(out, &child); i++) {
		telemetry_u64(&child, "size", app->rings[i].size);
		telemetry_u64(&child, "used", rte_ring_count(app->rings[i].ring));
		telemetry_close(out, app->rings[i].name, &child);
	}
}
