/* SPDX-License-Identifier: Apache-2.0 */
/* An lcore: a thread that polls its tasks in turn, and what it can say about how well it did. */
#ifndef WSDP_LCORE_H
#define WSDP_LCORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <rte_common.h>

#include "gap_log.h"
#include "mailbox.h"
#include "task.h"

#define LCORE_MAX_TASKS 64
#define LCORE_MAX_POLLS 128

/* A round polls every input of every task once. Reading the clock drains the CPU's pipeline, which
 * costs a busy lcore as much as several frames: so it is read once in a stretch of rounds, as many
 * as fit into a few microseconds, and single rounds when they take longer. */
struct lcore_counts {
	uint64_t polls;      /* rounds */
	uint64_t busy_polls; /* rounds that moved at least one frame */
	uint64_t busy_tsc;   /* time in those: what is left when idle rounds are taken off */
	uint64_t total_tsc;  /* since the last reset; of a copy only */
};

/* Kept together: all that a poll reads before it knows whether there is a frame. */
struct __rte_cache_aligned lcore_poll {
	struct task_in in;
	void (*handle)(struct task *task, struct rte_mbuf **mbufs, uint16_t n);
	struct task *task;
	bool idle;       /* call handle without input too */
	uint8_t number;  /* of the input among its task's */
	uint8_t senders; /* generators that take turns at one output: `task` is next; others: 1 */
};

struct __rte_cache_aligned lcore {
	/* Written by the lcore only. */
	struct lcore_counts counts;
	struct gap_log gap_log;
	uint64_t last_tsc; /* end of the last stretch */
	uint64_t reset_tsc;
	uint64_t stretch_tsc;    /* how long a stretch should take at most */
	uint64_t idle_round_tsc; /* a round without a frame, at its fastest */
	unsigned int stretch;    /* rounds in the next stretch */
	uint64_t pause_ns;       /* sleep this long after each look into the mailbox; 0: never */
	unsigned int nb_polls;
	struct lcore_poll polls[LCORE_MAX_POLLS];
	struct mailbox mailbox;
	_Atomic uint64_t held; /* the last hold for which it stood still: see hold.h */
	atomic_bool *stop;

	/* Written by the lcore on request (lcore_snapshot), read by control once it has answered. */
	struct lcore_counts counts_copy;
	unsigned int cpu_copy;
	struct task_stats task_copies[LCORE_MAX_TASKS];

	/* Set up by control; the lcore adds its thread's id. */
	unsigned int id;
	int socket_id;
	_Atomic pid_t tid;
	unsigned int nb_tasks;
	struct task *tasks[LCORE_MAX_TASKS];
};

/* A new lcore on the right NUMA node, polling nothing yet. NULL when memory is short. */
struct lcore *lcore_new(unsigned int id, uint64_t gap_limit_ns, atomic_bool *stop);
void lcore_free(struct lcore *lcore);
/* Poll this task too, last in turn. Generators of one output share a turn: once they have made a
 * burst, the next of them waits for the next round. Otherwise a full ring would belong to the first,
 * and tasks behind them would get one turn for the bursts of all. */
int lcore_add(struct lcore *lcore, struct task *task);

/* Poll until *stop: the argument of rte_eal_remote_launch is the lcore. */
int lcore_run(void *lcore);
/* One round over all tasks. Returns how many frames moved. */
uint64_t lcore_round(struct lcore *lcore);
/* A stretch of rounds and its account. lcore_run does nothing but this and the mailbox. */
void lcore_stretch(struct lcore *lcore);

/* Requests for the mailbox. Each runs between two rounds, so that counters are of one moment. */
int lcore_snapshot(struct lcore *lcore, struct mail *mail); /* copies the counters */
int lcore_reset(struct lcore *lcore, struct mail *mail);    /* value: gap limit in ns, or 0 */
int lcore_pause(struct lcore *lcore, struct mail *mail);    /* value: ns, 0 to poll again */
int lcore_control(struct lcore *lcore, struct mail *mail);  /* task, verb, args */

#endif
