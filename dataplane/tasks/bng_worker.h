/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the two directions of a BNG's worker: the tables, their INI keys, and changes at run
 * time.
 *
 * bng_up and bng_down of one worker run on one lcore and use the same tables, so that one knows
 * without a lock what the other learns. */
#ifndef TASKS_BNG_WORKER_H
#define TASKS_BNG_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/task.h"
#include "pktlib/bng/tables.h"
#include "pktlib/bng/verdict.h"

#define BNG_PATH_LEN 256
#define BNG_NO_TX UINT32_MAX
#define BNG_MAX_OUT TASK_MAX_OUT

struct argument;
struct config_section;
struct telemetry_out;

/* The tables of one worker, as long as one of its tasks lives. */
struct bng_worker {
	struct bng_tables tables;
	unsigned int nb_tasks;    /* that have named it in the INI */
	unsigned int nb_prepared; /* that use the tables */
	uint32_t up_ports;        /* INET ports that hops may name; 0: no bng_up yet */
	uint32_t down_ports;      /* CPE ports that users may name */
	char path[BNG_PATH_LEN];
	uint32_t number, workers;
	unsigned int lcore_id;
	bool pppoe; /* every user has a session, or none has */
	struct bng_worker *next;
};

/* INI keys of both tasks. */
struct bng_settings {
	struct bng_worker *worker;
	uint32_t room_users, room_routes;
	uint32_t local_ip;   /* the gateway's end of all tunnels */
	uint32_t reply_tx;   /* the first output for ARP replies */
	uint32_t slow_tx;    /* the output of the slow path */
	bool pppoe;          /* subscribers come in PPPoE sessions */
	uint32_t nb_forward; /* outputs 0 to nb_forward - 1 are ports that the tables name */
};

/* Read the keys that both directions have. Returns 0, or -1 after config_fault. */
int bng_worker_init(struct bng_settings *settings, struct task *task,
		    const struct config_section *section, bool upstream);
/* The worker of this number, made by the first task that names it. NULL after config_fault. */
struct bng_worker *bng_worker_name(const struct task *task, const struct config_section *section,
				   const char *path, uint32_t number, uint32_t count);
/* Build the tables, if the other direction has not. 0 or a negative errno, after a message. */
int bng_worker_prepare(struct bng_settings *settings, const struct task *task);
void bng_worker_close(struct bng_settings *settings);

/* "set,user=...": changes the tables. For task_ops.control. */
int bng_worker_control(struct bng_settings *settings, const char *verb, const char *args);
void bng_worker_stats(const struct bng_settings *settings, const uint64_t *verdicts,
		      struct telemetry_out *out);

/* Huge pages of a NUMA node. One for each, as long as the program: tables point to theirs. */
const struct bng_memory *bng_memory_of(int socket_id);

/* "user=..." or "no_user=..." of a control request, for tasks that know subscribers only. Returns 0
 * or -EINVAL. */
int bng_user_argument(const struct argument *argument, struct bng_user_entry *user, bool *adds);

/* An IPv4 address of the INI, in host order. Returns 0 or -1; leaves *ip alone when absent. */
int bng_config_ipv4(const struct config_section *section, const char *key, uint32_t *ip);

#endif
