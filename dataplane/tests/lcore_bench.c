/* SPDX-License-Identifier: Apache-2.0 */
#include "lcore_bench.h"

#include <errno.h>
#include <string.h>
#include <rte_cycles.h>

#include "core/tsc.h"

/* flood: a generator that makes full bursts as fast as it can; "set,x" fails, "spin" lingers. */
static void
flood_handle(struct task *task, struct rte_mbuf **mbufs __rte_unused, uint16_t n __rte_unused)
{
	struct rte_mbuf *made[TASK_BURST];

	if (rte_pktmbuf_alloc_bulk(task->pool, made, TASK_BURST) != 0)
		return;
	for (unsigned int i = 0; i < TASK_BURST; i++)
		rte_pktmbuf_append(made[i], 60);
	task->stats.rx += TASK_BURST;
	task_send(task, 0, made, TASK_BURST);
}

static int
flood_control(struct task *task __rte_unused, const char *verb, const char *args)
{
	if (strcmp(verb, "spin") == 0) {
		uint64_t start = rte_rdtsc();

		while (rte_rdtsc() - start < FLOOD_SPIN_NS * tsc_hz() / NS_PER_S)
			rte_pause();
		return 0;
	}
	return strcmp(args, "good=1") == 0 ? 0 : -ERANGE;
}

static const struct task_ops flood = {
	.name = "flood",
	.generates = true,
	.max_out = 1,
	.handle = flood_handle,
	.control = flood_control,
};

TASK_REGISTER(flood)

/* drain: consumes whatever comes. */
static const struct task_ops drain = {
	.name = "drain",
	.takes_input = true,
	.handle = task_consume,
};

TASK_REGISTER(drain)

static const char overload[] =
	"[pool]\nmbufs = 8192\ncache = 64\n"
	"[lcore]\ngap_limit_ns = 1000000\n"
	"[task.flood]\ntype = flood\nlcore = 1\ntx = ring:a\n"
	"[task.sut]\ntype = impair\nlcore = 2\nrx = ring:a\ntx = ring:b\n"
	"rate_fps = 100000\nloss_every = 3\nqueue_frames = 50\ndelay_ns = 100000\n"
	"[task.drain]\ntype = drain\nlcore = 2\nrx = ring:b\n"
	"[ring.a]\nsize = 256\n[ring.b]\nsize = 16\n";

struct bench
bench_overloaded(void)
{
	return bench_up(overload);
}

int
bench_ask(struct lcore *lcore, int (*request)(struct lcore *lcore, struct mail *mail),
	  struct task *task, const char *verb, const char *args)
{
	struct mail *mail = mail_new(request);
	int result;

	CHECK(mail != NULL);
	mail->task = task;
	mail->verb = verb;
	if (args != NULL)
		snprintf(mail->args, sizeof(mail->args), "%s", args);
	CHECK_EQ(mailbox_post(&lcore->mailbox, mail), 0);
	CHECK_EQ(mailbox_await(&lcore->mailbox, mail, LATE_NS, &result), 0);
	return result;
}
