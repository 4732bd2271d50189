/* SPDX-License-Identifier: Apache-2.0 */
/* Everything one configuration file declares, and its life: parse, start, launch,
 * stop. */
#ifndef WSDP_APP_H
#define WSDP_APP_H

#include <stdatomic.h>
#include <stdint.h>

#include "eal.h"
#include "lcore.h"
#include "pool.h"
#include "port.h"
#include "ring.h"
#include "task.h"
#include "wiring.h"

#define APP_MAX_PORTS 64
#define APP_MAX_RINGS 128
#define APP_MAX_TASKS LCORE_MAX_TASKS

struct config;
struct config_section;

struct app_task {
	struct task task;
	const struct config_section *section;
	void *arguments; /* priv as init filled it, before it moves to the lcore */
	bool prepared;
	struct endpoint in[TASK_MAX_IN];
	struct endpoint out[TASK_MAX_OUT];
};

struct app {
	struct eal_settings eal;
	struct pools pools;
	uint64_t gap_limit_ns;
	unsigned int nb_ports, nb_rings, nb_tasks, nb_lcores;
	struct port ports[APP_MAX_PORTS];
	struct ring rings[APP_MAX_RINGS];
	struct app_task tasks[APP_MAX_TASKS];
	struct lcore *lcores[RTE_MAX_LCORE]; /* nb_lcores of them, in order of their ids */
	atomic_bool stop;
};

/* A new app from a file; faults are recorded in the config. Needs no DPDK, starts nothing. `argv`
 * are the EAL options of the command line. */
struct app *app_parse(const struct config *config, int argc, char **argv);
/* Make ports, rings and tasks; DPDK is up. On failure: message on stderr, negative errno; call
 * app_stop then too. */
int app_start(struct app *app);
/* Let the lcores run. */
int app_launch(struct app *app);
/* Stop the lcores and give everything back. False: a port must stay as it is, see port_stop. */
bool app_stop(struct app *app);
void app_free(struct app *app);

struct app_task *app_task_find(struct app *app, const char *name);

#endif
