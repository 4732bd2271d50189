/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "lcore.h"
#include "slice.h"
#include "tsc.h"

/* Approximate length of a stretch of rounds, and most rounds in it. */
#define STRETCH_NS 10000
#define STRETCH_MAX 16
/* Reading the mailbox costs a shared cache line, so it happens once in this many stretches. */
#define STRETCHES_PER_MAILBOX 8
/* Frames of all generators of an output after which their turn is over: a burst as drivers and
 * switches take it. */
#define SENDERS_BURST 32

static uint16_t
receive_nothing(const struct task_in *in __rte_unused, struct rte_mbuf **mbufs __rte_unused,
		uint16_t n __rte_unused)
{
	return 0;
}

struct lcore *
lcore_new(unsigned int id, uint64_t gap_limit_ns, atomic_bool *stop)
{
	int socket_id = (int)rte_lcore_to_socket_id(id);
	struct lcore *lcore =
		rte_zmalloc_socket("lcore", sizeof(*lcore), RTE_CACHE_LINE_SIZE, socket_id);

	if (lcore == NULL)
		return NULL;
	lcore->id = id;
	lcore->socket_id = socket_id;
	lcore->stretch_tsc = ns_to_tsc(STRETCH_NS);
	lcore->stretch = 1;
	lcore->stop = stop;
	if (gap_log_open(&lcore->gap_log, ns_to_tsc(gap_limit_ns)) != 0 ||
	    mailbox_open(&lcore->mailbox, id, socket_id) != 0) {
		lcore_free(lcore);
		return NULL;
	}
	return lcore;
}

void
lcore_free(struct lcore *lcore)
{
	if (lcore == NULL)
		return;
	mailbox_close(&lcore->mailbox);
	gap_log_close(&lcore->gap_log);
	rte_free(lcore);
}

static bool
same_output(const struct task *one, const struct task *other)
{
	const struct task_out *a = &one->out[0], *b = &other->out[0];

	return one->nb_out > 0 && other->nb_out > 0 && a->send == b->send && a->ring == b->ring &&
	       a->port_id == b->port_id && a->queue_id == b->queue_id;
}

/* Let a generator share the turn of those that have its output. Returns false if there are none. */
static bool
join_senders(struct lcore *lcore, struct task *task)
{
	for (unsigned int i = 0; i < lcore->nb_polls; i++) {
		struct lcore_poll *poll = &lcore->polls[i];
		struct task *first = poll->task;

		if (first->ops == task->ops && same_output(first, task)) {
			/* Behind the last one, as their order in the INI is that of the first turns. */
			struct task *last = first;

			while (last->next_sender != first)
				last = last->next_sender;
			last->next_sender = task;
			task->next_sender = first;
			poll->senders++;
			return true;
		}
	}
	return false;
}

int
lcore_add(struct lcore *lcore, struct task *task)
{
	unsigned int inputs = task->ops->generates ? 1 : task->nb_in;

	if (lcore->nb_tasks == LCORE_MAX_TASKS || lcore->nb_polls + inputs > LCORE_MAX_POLLS)
		return -ENOSPC;
	lcore->tasks[lcore->nb_tasks++] = task;
	task->next_sender = task;
	if (task->ops->generates && join_senders(lcore, task))
		return 0;
	for (unsigned int i = 0; i < inputs; i++) {
		struct lcore_poll *poll = &lcore->polls[lcore->nb_polls++];

		if (task->ops->generates)
			poll->in.receive = receive_nothing;
		else
			poll->in = task->in[i];
		poll->task = task;
		poll->handle = task->ops->handle;
		poll->number = (uint8_t)i;
		poll->senders = 1;
		/* A task that holds frames back hears of idle rounds once, not once an input. */
		poll->idle = task->ops->generates || (task->wants_idle && i == 0);
	}
	return 0;
}

/* Call a task without input. Returns how many frames it made, or sent of those that it held back. */
static __rte_always_inline uint64_t
handle_nothing(const struct lcore_poll *poll, struct task *task, struct rte_mbuf **mbufs)
{
	uint64_t rx = task->stats.rx;
	uint64_t tx = task->stats.tx;

	poll->handle(task, mbufs, 0);
	return RTE_MAX(task->stats.rx - rx, task->stats.tx - tx);
}

/* Poll one input. Returns how many frames moved. */
static __rte_always_inline uint64_t
poll_input(struct lcore_poll *poll, struct rte_mbuf **mbufs)
{
	uint16_t n = poll->in.receive(&poll->in, mbufs, TASK_BURST);
	struct task *task = poll->task;
	uint64_t moved = 0;

	if (n > 0) {
		task->from = poll->number;
		task->stats.rx += n;
		task->stats.rx_bytes += task_octets(mbufs, n);
		poll->handle(task, mbufs, n);
		return n;
	}
	if (!poll->idle)
		return 0;
	for (unsigned int i = 0; i < poll->senders && moved < SENDERS_BURST; i++) {
		moved += handle_nothing(poll, poll->task, mbufs);
		poll->task = poll->task->next_sender;
	}
	return moved;
}

uint64_t
lcore_round(struct lcore *lcore)
{
	struct rte_mbuf *mbufs[TASK_BURST];
	uint64_t frames = 0;

	for (unsigned int i = 0; i < lcore->nb_polls; i++)
		frames += poll_input(&lcore->polls[i], mbufs);
	return frames;
}

/* Return the rest of a stretch after its idle rounds, at the cost of the fastest idle round. */
static uint64_t
work_time(struct lcore *lcore, uint64_t gap, unsigned int rounds, unsigned int busy)
{
	uint64_t round = gap / rounds;

	if (busy == 0 && (lcore->idle_round_tsc == 0 || round < lcore->idle_round_tsc))
		lcore->idle_round_tsc = round;
	return gap - RTE_MIN(gap, (rounds - busy) * lcore->idle_round_tsc);
}

void
lcore_stretch(struct lcore *lcore)
{
	struct lcore_counts *counts = &lcore->counts;
	unsigned int rounds = lcore->stretch, busy = 0;
	uint64_t frames = 0, now, gap, work;

	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t moved = lcore_round(lcore);

		frames += moved;
		busy += moved != 0;
	}

	now = rte_rdtsc();
	gap = now - lcore->last_tsc;
	work = work_time(lcore, gap, rounds, busy);
	gap_log_stretch(&lcore->gap_log, lcore->last_tsc, work, frames);
	lcore->last_tsc = now;
	counts->polls += rounds;
	counts->busy_polls += busy;
	if (busy != 0)
		counts->busy_tsc += work;
	if (gap > lcore->stretch_tsc)
		lcore->stretch = RTE_MAX(rounds / 2, 1u);
	else if (gap < lcore->stretch_tsc / 2 && rounds < STRETCH_MAX)
		lcore->stretch = rounds * 2;
}

/* Leave the CPU to others for a while. The time is no gap: nobody expects to be polled. A single
 * round follows, so that who pauses takes no more than a burst from each input between two pauses.
 */
static void
pause_polling(struct lcore *lcore)
{
	struct timespec pause = {.tv_nsec = (long)lcore->pause_ns};

	nanosleep(&pause, NULL);
	lcore->stretch = 1;
	lcore->last_tsc = rte_rdtsc();
}

int
lcore_run(void *arg)
{
	struct lcore *lcore = arg;

	lcore->tid = gettid();
	lcore->last_tsc = lcore->reset_tsc = rte_rdtsc();
	while (!atomic_load_explicit(lcore->stop, memory_order_relaxed)) {
		unsigned int stretches = lcore->pause_ns != 0 ? 1 : STRETCHES_PER_MAILBOX;

		for (unsigned int i = 0; i < stretches; i++)
			lcore_stretch(lcore);
		mailbox_serve(&lcore->mailbox, lcore);
		if (unlikely(lcore->pause_ns != 0))
			pause_polling(lcore);
	}
	return 0;
}

int
lcore_snapshot(struct lcore *lcore, struct mail *mail __rte_unused)
{
	lcore->counts_copy = lcore->counts;
	lcore->cpu_copy = (unsigned int)sched_getcpu();
	lcore->counts_copy.total_tsc = lcore->last_tsc - lcore->reset_tsc;
	for (unsigned int i = 0; i < lcore->nb_tasks; i++)
		lcore->task_copies[i] = lcore->tasks[i]->stats;
	return 0;
}

int
lcore_reset(struct lcore *lcore, struct mail *mail)
{
	for (unsigned int i = 0; i < lcore->nb_tasks; i++) {
		struct task *task = lcore->tasks[i];
		uint64_t held = task->stats.held;

		/* Frames held back now will be sent or dropped later: carry them over as received,
		 * or the sum would not close any more. */
		memset(&task->stats, 0, sizeof(task->stats));
		task->stats.rx = held;
		task->stats.held = held;
		if (task->ops->reset != NULL)
			task->ops->reset(task);
	}
	memset(&lcore->counts, 0, sizeof(lcore->counts));
	gap_log_reset(&lcore->gap_log);
	if (mail->value != 0)
		lcore->gap_log.limit_tsc = ns_to_tsc(mail->value);
	/* The time this reset took is not a gap of what is measured from here on. */
	lcore->last_tsc = lcore->reset_tsc = rte_rdtsc();
	return 0;
}

int
lcore_pause(struct lcore *lcore, struct mail *mail)
{
	lcore->pause_ns = mail->value;
	/* Who sleeps often wakes often. Without a short slice it only waits for longer. */
	(void)slice_shorten(mail->value != 0);
	return 0;
}

int
lcore_control(struct lcore *lcore __rte_unused, struct mail *mail)
{
	return mail->task->ops->control(mail->task, mail->verb, mail->args);
}
