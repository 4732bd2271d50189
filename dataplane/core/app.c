/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "app.h"

/* The lcore of a task, made on first use. */
static struct lcore *
lcore_of(struct app *app, const struct task *task)
{
	unsigned int i = 0;

	for (; i < app->nb_lcores; i++)
		if (app->lcores[i]->id == task->lcore_id)
			return app->lcores[i];
	app->lcores[i] = lcore_new(task->lcore_id, app->gap_limit_ns, &app->stop);
	if (app->lcores[i] == NULL)
		fprintf(stderr, "wsdp: no memory for lcore %u\n", task->lcore_id);
	else
		app->nb_lcores++;
	return app->lcores[i];
}

static int
check_lcore(const struct task *task)
{
	if (!rte_lcore_is_enabled(task->lcore_id)) {
		fprintf(stderr, "wsdp: [task.%s] lcore = %u: --lcores does not name it\n",
			task->name, task->lcore_id);
		return -EINVAL;
	}
	if (task->lcore_id == rte_get_main_lcore()) {
		fprintf(stderr,
			"wsdp: [task.%s] lcore = %u: this is the main lcore, which runs no "
			"task; name another with [eal] main_lcore\n",
			task->name, task->lcore_id);
		return -EINVAL;
	}
	return 0;
}

/* Give a task its memory, its pool, its inputs and outputs, and a place on its lcore. */
static int
start_task(struct app *app, struct app_task *slot)
{
	struct task *task = &slot->task;
	struct lcore *lcore;
	int ret = check_lcore(task);

	if (ret != 0)
		return ret;
	lcore = lcore_of(app, task);
	if (lcore == NULL)
		return -ENOMEM;
	task->socket_id = lcore->socket_id;
	task->pool = pools_get(&app->pools, task->socket_id);
	task->priv = rte_zmalloc_socket(task->name, task->ops->private_size + 1,
					RTE_CACHE_LINE_SIZE, task->socket_id);
	if (task->priv == NULL)
		return -ENOMEM;
	memcpy(task->priv, slot->arguments, task->ops->private_size);
	wiring_connect(slot);
	if (task->ops->prepare != NULL) {
		ret = task->ops->prepare(task);
		if (ret != 0) {
			fprintf(stderr, "wsdp: [task.%s] cannot be prepared: %s\n", task->name,
				strerror(-ret));
			return ret;
		}
	}
	slot->prepared = true;
	ret = lcore_add(lcore, task);
	if (ret != 0)
		fprintf(stderr, "wsdp: [task.%s] lcore %u polls too much already\n", task->name,
			task->lcore_id);
	return ret;
}

/* All pools there will be: where tasks run, and where NICs are. */
static int
make_pools(struct app *app)
{
	int ret = 0, node;

	for (unsigned int i = 0; ret == 0 && i < app->nb_tasks; i++)
		ret = pools_add(&app->pools, rte_lcore_to_socket_id(app->tasks[i].task.lcore_id));
	for (unsigned int i = 0; ret == 0 && i < app->nb_ports; i++)
		if (port_nic_node(&app->ports[i], &node))
			ret = pools_add(&app->pools, node);
	/* Without tasks, ports still want one. */
	if (ret == 0 && pools_count(&app->pools) == 0)
		ret = pools_add(&app->pools, SOCKET_ID_ANY);
	return ret;
}

static int
start_ports_and_rings(struct app *app)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < app->nb_tasks; i++)
		ret = check_lcore(&app->tasks[i].task);
	if (ret == 0)
		ret = make_pools(app);
	for (unsigned int i = 0; ret == 0 && i < app->nb_ports; i++)
		ret = port_start(&app->ports[i], &app->pools);
	for (unsigned int i = 0; ret == 0 && i < app->nb_rings; i++)
		ret = ring_start(&app->rings[i],
				 rte_lcore_to_socket_id(app->rings[i].readers.lcore_id));
	return ret;
}

int
app_start(struct app *app)
{
	int ret = start_ports_and_rings(app);

	for (unsigned int i = 0; ret == 0 && i < app->nb_tasks; i++)
		ret = start_task(app, &app->tasks[i]);
	return ret;
}

int
app_launch(struct app *app)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < app->nb_lcores; i++)
		ret = rte_eal_remote_launch(lcore_run, app->lcores[i], app->lcores[i]->id);
	if (ret != 0)
		fprintf(stderr, "wsdp: an lcore cannot be launched: %s\n", strerror(-ret));
	return ret;
}

bool
app_stop(struct app *app)
{
	bool closed = true;

	atomic_store(&app->stop, true);
	for (unsigned int i = 0; i < app->nb_lcores; i++)
		rte_eal_wait_lcore(app->lcores[i]->id);
	for (unsigned int i = 0; i < app->nb_tasks; i++) {
		struct app_task *slot = &app->tasks[i];

		if (slot->prepared && slot->task.ops->close != NULL)
			slot->task.ops->close(&slot->task);
		slot->prepared = false;
		if (slot->task.priv != slot->arguments)
			rte_free(slot->task.priv);
		slot->task.priv = slot->arguments;
	}
	for (unsigned int i = 0; i < app->nb_lcores; i++)
		lcore_free(app->lcores[i]);
	app->nb_lcores = 0;
	for (unsigned int i = 0; i < app->nb_rings; i++)
		ring_stop(&app->rings[i]);
	for (unsigned int i = 0; i < app->nb_ports; i++)
		closed &= port_stop(&app->ports[i]);
	if (closed)
		pools_free(&app->pools);
	return closed;
}

void
app_free(struct app *app)
{
	if (app == NULL)
		return;
	for (unsigned int i = 0; i < app->nb_tasks; i++)
		free(app->tasks[i].arguments);
	free(app);
}

struct app_task *
app_task_find(struct app *app, const char *name)
{
	for (unsigned int i = 0; i < app->nb_tasks; i++)
		if (strcmp(app->tasks[i].task.name, name) == 0)
			return &app->tasks[i];
	return NULL;
}
