/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to an app that is ready to start, or to faults. */
#include <stdlib.h>
#include <string.h>
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

/* Return whether one more section of this type fits; record a fault otherwise. */
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
		config_u64(section, "gap_limit_ns", &app->gap_limit_ns, 1, GAP_LIMIT_NS_MAX);
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
