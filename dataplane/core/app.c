/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "app.h"
#include "config.h"

#define NAME_MAX_LEN 24 /* names become parts of DPDK ring names and JSON keys */
#define GAP_LIMIT_NS 100000

static void
check_name(const struct config_section *section)
{
	const char *name = config_name(section);
	size_t length = strlen(name);

	if (length < 1 || length > NAME_MAX_LEN ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
		    length)
		config_fault(section, NULL,
			     "the name after the dot must be 1 to %d letters, digits or _",
			     NAME_MAX_LEN);
}

/* May one more section of this kind be taken? */
static bool
has_room(const struct config_section *section, unsigned int count, unsigned int max)
{
	check_name(section);
	if (count < max)
		return true;
	config_fault(section, NULL, "too many sections of this kind; at most %u", max);
	return false;
}

static void
parse_ports_and_rings(struct app *app, const struct config *config)
{
	const struct config_section *section = NULL;

	while ((section = config_next(config, "port", section)) != NULL)
		if (has_room(section, app->nb_ports, APP_MAX_PORTS))
			port_parse(&app->ports[app->nb_ports++], section);
	while ((section = config_next(config, "ring", section)) != NULL)
		if (has_room(section, app->nb_rings, APP_MAX_RINGS))
			ring_parse(&app->rings[app->nb_rings++], section);
}

/* The keys that every task has, then the task's own. Returns whether the slot is in use. */
static bool
parse_task(struct app *app, struct app_task *slot, const struct config_section *section)
{
	struct task *task = &slot->task;
	bool typed = config_require(section, "type"), placed = config_require(section, "lcore");

	if (typed) {
		task->ops = task_ops_find(config_string(section, "type"));
		if (task->ops == NULL)
			config_fault(section, "type", "must be one of: %s", task_ops_names());
	}
	if (config_u32(section, "lcore", &task->lcore_id, 0, RTE_MAX_LCORE - 1) != 0)
		placed = false;
	if (task->ops == NULL || !placed) {
		config_skip(section);
		return false;
	}
	slot->section = section;
	rte_strscpy(task->name, config_name(section), sizeof(task->name));
	wiring_parse(app, slot);
	slot->arguments = calloc(1, task->ops->private_size + 1);
	if (slot->arguments == NULL) {
		config_fault(section, NULL, "out of memory");
		return false;
	}
	task->priv = slot->arguments;
	if (task->ops->init != NULL)
		task->ops->init(task, section);
	return true;
}

static void
parse_tasks(struct app *app, const struct config *config)
{
	const struct config_section *section = NULL;

	while ((section = config_next(config, "task", section)) != NULL)
		if (has_room(section, app->nb_tasks, APP_MAX_TASKS) &&
		    parse_task(app, &app->tasks[app->nb_tasks], section))
			app->nb_tasks++;
}

static uint32_t
largest_frame(const struct app *app)
{
	uint32_t largest = RTE_ETHER_MAX_LEN;

	for (unsigned int i = 0; i < app->nb_ports; i++)
		largest = RTE_MAX(largest, port_frame_bytes(&app->ports[i]));
	for (unsigned int i = 0; i < app->nb_tasks; i++)
		largest = RTE_MAX(largest, app->tasks[i].task.frame_bytes_max);
	return largest;
}

static void
check_pool(const struct app *app)
{
	for (unsigned int i = 0; i < app->nb_tasks; i++) {
		uint32_t frame = app->tasks[i].task.frame_bytes_max;

		if (frame > pools_frame_room(&app->pools) + RTE_ETHER_CRC_LEN)
			config_fault(app->tasks[i].section, NULL,
				     "frames of %u octets do not fit "
				     "into an mbuf: [pool] data_bytes must be at least %u",
				     frame, frame - RTE_ETHER_CRC_LEN + RTE_PKTMBUF_HEADROOM);
	}
}

struct app *
app_parse(const struct config *config, int argc, char **argv)
{
	struct app *app = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*app));
	const struct config_section *section = config_find(config, "lcore");

	if (app == NULL)
		return NULL;
	memset(app, 0, sizeof(*app));
	app->gap_limit_ns = GAP_LIMIT_NS;
	if (section != NULL)
		config_u64(section, "gap_limit_ns", &app->gap_limit_ns, 1, 1000000000);
	parse_ports_and_rings(app, config);
	parse_tasks(app, config);
	for (unsigned int i = 0; i < app->nb_rings; i++)
		ring_check(&app->rings[i]);
	pools_parse(&app->pools, config, largest_frame(app));
	app->pools.no_dma = true;
	for (unsigned int i = 0; i < app->nb_ports; i++)
		app->pools.no_dma &= !app->ports[i].is_pci;
	check_pool(app);
	eal_parse(app, config, argc, argv);
	return app;
}

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
	if (task->pool == NULL || task->priv == NULL)
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

static int
start_ports_and_rings(struct app *app)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < app->nb_tasks; i++)
		ret = check_lcore(&app->tasks[i].task);
	/* The pools of the lcores come first: ports ask how many there are. */
	for (unsigned int i = 0; ret == 0 && i < app->nb_tasks; i++)
		if (pools_get(&app->pools, rte_lcore_to_socket_id(app->tasks[i].task.lcore_id)) ==
		    NULL)
			ret = -ENOMEM;
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

void
app_stop(struct app *app)
{
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
		port_stop(&app->ports[i]);
	pools_free(&app->pools);
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
