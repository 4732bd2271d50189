/* SPDX-License-Identifier: Apache-2.0 */
/* A task: a piece of packet work that an lcore polls in turn with its other tasks.
 *
 * To add one, write one file tasks/NAME.c: its argument struct, init, handle, stats, and
 * TASK_REGISTER(NAME) at the bottom. Nothing else changes but tasks/meson.build.
 *
 * Rules of the data path (handle): no allocation, no lock, no printf, no system call. Every frame
 * handed to a task is accounted for: rx = tx + tx_fail + discard + handled. The core counts rx; a
 * task counts the rest, through the helpers below wherever it can.
 */
#ifndef WSDP_TASK_H
#define WSDP_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#define TASK_NAME_LEN 32
#define TASK_BURST 64		/* the most frames handle() is given at once */
#define TASK_MAX_OUT 16

struct config_section;		/* core/config.h: one INI section, checked for unknown keys */
struct telemetry_out;		/* core/telemetry.h: JSON object under construction */
struct task;

/* Written by the task's lcore only, read by telemetry: one cache line of their own. */
struct task_stats {
	uint64_t rx;		/* frames handed to the task, or made by it */
	uint64_t tx;		/* frames accepted by an output */
	uint64_t tx_fail;	/* frames an output had no room for (freed) */
	uint64_t discard;	/* frames dropped on purpose: error, lookup miss, impairment */
	uint64_t handled;	/* frames consumed on purpose: sink, ARP */
	uint64_t rx_bytes;	/* octets with FCS */
	uint64_t tx_bytes;
} __rte_cache_aligned;

/* Where a task sends: a port's queue or a ring to another task. Filled by the core. */
struct task_out {
	uint16_t (*send)(const struct task_out *out, struct rte_mbuf **mbufs, uint16_t n);
	uint16_t port_id;
	uint16_t queue_id;
	struct rte_ring *ring;
};

struct task_ops {
	const char *name;		/* the INI's "type =" */
	size_t private_size;		/* zeroed, cache aligned, on the lcore's NUMA node */
	bool generates;			/* handle() is called with n = 0 on every poll */
	bool takes_input;		/* the INI must name "rx" */
	unsigned int max_out;		/* how many "tx" the INI may name, 0 for none */

	/* Read the arguments. On a fault: config_fault(...) and a negative return. */
	int (*init)(struct task *task, const struct config_section *section);
	/* Handle a burst; owns the mbufs. A poll without input comes with n = 0 only to generators
	 * and to tasks that hold frames back (see struct task's `wants_idle`). */
	void (*handle)(struct task *task, struct rte_mbuf **mbufs, uint16_t n);
	/* Add the task's own figures to the reply of /wirespeed/task,NAME. May be NULL. */
	void (*stats)(const struct task *task, struct telemetry_out *out);
	/* Forget all counts; runs on the task's own lcore through its mailbox. May be NULL. */
	void (*reset)(struct task *task);
	/* A control message ("start", "stop", "set"...) from telemetry, delivered on the task's own
	 * lcore through its mailbox; args as in the request: "rate_fps=F,duration_ns=N,trial=T".
	 * "start" and "stop" go to every task that has control: a start first to those that do not
	 * generate (a sink learns the trial's number), and when all have answered, to generators.
	 * Returns 0 or a negative errno. May be NULL. */
	int (*control)(struct task *task, const char *verb, const char *args);
	/* Write `what` ("histogram" or "capture") to a file; runs on the control thread, never on an
	 * lcore. Returns 0 or a negative errno (-ENOTSUP: no such thing here). May be NULL. */
	int (*export)(const struct task *task, const char *what, const char *path);
	/* Runs once on the main thread after all lcores have stopped. May be NULL. */
	void (*close)(struct task *task);
};

struct task {
	const struct task_ops *ops;
	char name[TASK_NAME_LEN];
	unsigned int lcore_id;
	int socket_id;
	struct rte_mempool *pool;	/* of the lcore's NUMA node: refcnt 1, one segment, no private area */
	bool wants_idle;		/* call handle with n = 0 too: frames may be held back */
	struct task_stats stats;
	unsigned int nb_out;
	struct task_out out[TASK_MAX_OUT];
	void *priv;			/* ops->private_size octets */
};

/* Send to one output: counts tx, tx_bytes and tx_fail, frees what did not fit. */
uint16_t task_send(struct task *task, unsigned int out, struct rte_mbuf **mbufs, uint16_t n);
/* Free and count as discarded, or as handled. */
void task_discard(struct task *task, struct rte_mbuf **mbufs, uint16_t n);
void task_consume(struct task *task, struct rte_mbuf **mbufs, uint16_t n);

void task_register(const struct task_ops *ops);

#define TASK_REGISTER(task_ops_symbol)					\
	RTE_INIT(register_##task_ops_symbol)				\
	{								\
		task_register(&task_ops_symbol);			\
	}

#endif
