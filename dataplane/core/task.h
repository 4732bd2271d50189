/* SPDX-License-Identifier: Apache-2.0 */
/* A task: a piece of packet work that an lcore polls in turn with its other tasks.
 *
 * To add one, write one file tasks/NAME.c: its argument struct, init, handle, stats, and
 * TASK_REGISTER(NAME) at the bottom. Nothing else changes but tasks/meson.build.
 *
 * Life of a task: init (arguments only) -> prepare (memory) -> handle ... -> close.
 *
 * Rules of the data path (handle): no allocation, no lock, no printf, no system call. Every frame
 * handed to a task is accounted for: rx = tx + tx_fail + discard + handled + held. The core counts
 * rx; a task counts the rest, through the helpers below wherever it can. A task sends frames that
 * nobody else refers to (reference count 1, not indirect): drivers rely on it to free them in bulk.
 */
#ifndef WSDP_TASK_H
#define WSDP_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#define TASK_NAME_LEN 32
#define TASK_BURST 64 /* the most frames handle() is given at once */
#define TASK_MAX_IN 16
#define TASK_MAX_OUT 16

struct config_section; /* core/config.h: one INI section, checked for unknown keys */
struct telemetry_out;  /* core/telemetry.h: JSON object under construction */
struct task;

/* Written by the task's lcore only: one cache line of their own. */
struct __rte_cache_aligned task_stats {
	uint64_t rx;       /* frames handed to the task, or made by it */
	uint64_t tx;       /* frames accepted by an output */
	uint64_t tx_fail;  /* frames an output had no room for (freed) */
	uint64_t discard;  /* frames dropped on purpose: error, lookup miss, impairment */
	uint64_t handled;  /* frames consumed on purpose: sink, ARP */
	uint64_t held;     /* frames the task holds back now: a level, not a count */
	uint64_t rx_bytes; /* octets with FCS */
	uint64_t tx_bytes;
};

/* A source of frames: a port's queue or a ring of another task. Filled by the core. */
struct task_in {
	uint16_t (*receive)(const struct task_in *in, struct rte_mbuf **mbufs, uint16_t n);
	uint16_t port_id;
	uint16_t queue_id;
	struct rte_ring *ring;
};

/* A destination of frames: a port's queue or a ring to another task. Filled by the core. */
struct task_out {
	uint16_t (*send)(const struct task_out *out, struct rte_mbuf **mbufs, uint16_t n);
	uint16_t port_id;
	uint16_t queue_id;
	struct rte_ring *ring;
};

/* For a task that reads tables which may change while it runs. Whoever replaces them builds the new
 * ones next to the old, exchanges a pointer, and waits until each lcore has answered its mailbox:
 * then no handle() that began before reads the old ones. */
struct task_reload {
	/* Build from a file; not on an lcore, without the control lock, may take seconds. On failure,
	 * or soon after *cancel: a sentence in `error` and NULL. */
	void *(*build)(const struct task *task, const char *path, const atomic_bool *cancel,
		       char *error, size_t size);
	/* Let handle() read them from now on. With the control lock. */
	void (*exchange)(struct task *task, void *built);
	/* Free what exchange has replaced: no lcore reads it any more. Without the control lock. */
	void (*settle)(struct task *task);
};

struct task_ops {
	const char *name;     /* the INI's "type =" */
	size_t private_size;  /* zeroed; moved to the lcore's NUMA node before prepare */
	bool generates;       /* handle() is called with n = 0 on every poll */
	bool takes_input;     /* the INI must name "rx", up to TASK_MAX_IN of them */
	unsigned int max_out; /* how many "tx" the INI may name (one at least), or 0 */

	/* Read the arguments into priv. On a fault: config_fault(...) and a negative return. Runs
	 * before DPDK is up and under --check: no mbufs, no rte_malloc, no pointer into priv. */
	int (*init)(struct task *task, const struct config_section *section);
	/* Allocate and build what the data path needs; DPDK, ports and task->pool are ready. On
	 * failure: say why on stderr, return a negative errno. May be NULL. */
	int (*prepare)(struct task *task);
	/* Handle a burst; owns the mbufs. A poll without input comes with n = 0 only to generators
	 * and to tasks that hold frames back (see struct task's `wants_idle`). */
	void (*handle)(struct task *task, struct rte_mbuf **mbufs, uint16_t n);
	/* Add the task's own counters to the reply of /wirespeed/task,NAME. Runs in parallel with
	 * the data path, so counters are exact only while no traffic flows. May be NULL. */
	void (*stats)(const struct task *task, struct telemetry_out *out);
	/* Forget all counts; runs on the task's own lcore through its mailbox. May be NULL. */
	void (*reset)(struct task *task);
	/* A control message ("start", "stop", "set"...) from telemetry, delivered on the task's own
	 * lcore through its mailbox; args as in the request: "rate_fps=F,duration_ns=N,trial=T".
	 * "start" and "stop" go to every task that has control: a start first to those that do not
	 * generate (a sink learns the trial's number), and when all have answered, to generators.
	 * Returns 0 or a negative errno. May be NULL. */
	int (*control)(struct task *task, const char *verb, const char *args);
	/* Write `what` ("histogram", "windows"...) to a file; runs on the control thread, never on an
	 * lcore. Returns 0 or a negative errno (-ENOTSUP: no such thing here). May be NULL. */
	int (*export)(const struct task *task, const char *what, const char *path);
	/* NULL: its tables do not change. */
	const struct task_reload *reload;
	/* Compare the tables with what they follow: add figures to the reply, write each difference to
	 * the file. Not on an lcore, one at a time, without the control lock, may take seconds, and
	 * ends early once `cancel` is set. The tables stay only between reload_hold and
	 * reload_release. Returns 0 or a negative errno: the reply is an error already. May be
	 * NULL. */
	int (*check)(struct task *task, const char *path, const atomic_bool *cancel,
		     struct telemetry_out *out);
	/* Runs once on the main thread after all lcores have stopped: frees what prepare allocated
	 * and the frames still held. May be NULL. */
	void (*close)(struct task *task);
};

struct task {
	const struct task_ops *ops;
	char name[TASK_NAME_LEN];
	unsigned int lcore_id;
	int socket_id;
	bool wants_idle;          /* call handle with n = 0 too: frames may be held back */
	struct task *next_sender; /* generator after this one at its output; set by the lcore */
	uint8_t from;             /* number of the input that the frames of handle came by */
	uint32_t frame_bytes_max; /* init may set it: largest frame the task makes, with FCS */
	struct rte_mempool *pool; /* mbufs on the lcore's NUMA node; set before prepare */
	struct task_stats stats;
	unsigned int nb_in;
	unsigned int nb_out;
	struct task_in in[TASK_MAX_IN];
	struct task_out out[TASK_MAX_OUT];
	void *priv; /* ops->private_size octets, cache aligned */
};

/* Send to one output: counts tx, tx_bytes and tx_fail, frees what did not fit. Returns how many the
 * output took. */
uint16_t task_send(struct task *task, unsigned int out, struct rte_mbuf **mbufs, uint16_t n);
/* The same for a task that knows the octets (with FCS) of its frames: reading them back costs. */
uint16_t task_send_octets(struct task *task, unsigned int out, struct rte_mbuf **mbufs, uint16_t n,
			  uint64_t octets);
/* Send each frame to the output of its own; the order within an output stays. */
void task_send_each(struct task *task, struct rte_mbuf **mbufs, const uint8_t *outs, uint16_t n);
/* Free and count as discarded, or as handled. */
void task_discard(struct task *task, struct rte_mbuf **mbufs, uint16_t n);
void task_consume(struct task *task, struct rte_mbuf **mbufs, uint16_t n);

/* Discard the frames that are shorter than `bytes` (without FCS) in their first segment; close the
 * gaps. Returns how many are left. */
uint16_t task_discard_short(struct task *task, struct rte_mbuf **mbufs, uint16_t n, uint16_t bytes);

/* Octets of a burst, FCS included. */
static inline uint64_t
task_octets(struct rte_mbuf *const *mbufs, uint16_t n)
{
	uint64_t octets = (uint64_t)n * RTE_ETHER_CRC_LEN;

	/* volatile: a compiler that makes gather instructions of these loads makes them slower. */
	for (uint16_t i = 0; i < n; i++)
		octets += *(const volatile uint32_t *)&mbufs[i]->pkt_len;
	return octets;
}

void task_register(const struct task_ops *ops);
const struct task_ops *task_ops_find(const char *type);
/* "a, b, c": every registered type, for fault messages and --help. */
const char *task_ops_names(void);

#define TASK_REGISTER(task_ops_symbol)           \
	RTE_INIT(register_##task_ops_symbol)     \
	{                                        \
		task_register(&task_ops_symbol); \
	}

#endif
