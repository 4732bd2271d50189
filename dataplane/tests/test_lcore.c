/* SPDX-License-Identifier: Apache-2.0 */
/* Lcores that really run: the mailbox, counters copied under traffic, gaps, and the end. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <rte_cycles.h>

#include "core/ask.h"
#include "core/telemetry_reply.h"
#include "core/tsc.h"
#include "harness.h"

#define TIMEOUT_NS UINT64_C(30000000000) /* far beyond any wait that a test should see */
#define SPIN_NS UINT64_C(3000000)

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

		while (rte_rdtsc() - start < SPIN_NS * tsc_hz() / NS_PER_S)
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

/* Return what the lcore answers to a request. */
static int
ask(struct lcore *lcore, int (*request)(struct lcore *lcore, struct mail *mail), struct task *task,
    const char *verb, const char *args)
{
	struct mail *mail = mail_new(request);
	int result;

	CHECK(mail != NULL);
	mail->task = task;
	mail->verb = verb;
	if (args != NULL)
		snprintf(mail->args, sizeof(mail->args), "%s", args);
	CHECK_EQ(mailbox_post(&lcore->mailbox, mail), 0);
	CHECK_EQ(mailbox_await(&lcore->mailbox, mail, TIMEOUT_NS, &result), 0);
	return result;
}

static void
test_counters_close_under_overload(void)
{
	struct bench bench = bench_up(overload);
	struct lcore **lcores = bench.app->lcores;

	CHECK_EQ(app_launch(bench.app), 0);
	for (unsigned int sample = 0; sample < 50; sample++)
		for (unsigned int i = 0; i < 2; i++) {
			CHECK_EQ(ask(lcores[i], lcore_snapshot, NULL, NULL, NULL), 0);
			for (unsigned int j = 0; j < lcores[i]->nb_tasks; j++)
				check_closes(&lcores[i]->task_copies[j]);
		}
	/* The overload is one: every way for a frame to end was taken. */
	CHECK(lcores[0]->task_copies[0].tx_fail > 0);
	CHECK(lcores[1]->task_copies[0].discard > 0);
	CHECK(lcores[1]->task_copies[0].tx > 0);
	CHECK(lcores[1]->task_copies[1].handled > 0);
	/* bench_down also finds every mbuf back in its pool. */
	bench_down(&bench);
}

static void
test_control_reaches_the_task(void)
{
	struct bench bench = bench_up(overload);
	struct lcore *lcore = bench.app->lcores[0];
	struct task *task = bench_task(&bench, "flood");

	CHECK_EQ(app_launch(bench.app), 0);
	CHECK_EQ(ask(lcore, lcore_control, task, "set", "good=1"), 0);
	CHECK_EQ(-ask(lcore, lcore_control, task, "set", "bad=1"), ERANGE);
	bench_down(&bench);
}

/* Return the log's only gap of at least this length, which must be there. */
static struct gap
gap_of(const struct gap_log *log, uint64_t least)
{
	struct gap found = {0};
	unsigned int count = 0;

	for (uint32_t i = 0; i < log->count; i++)
		if (log->gaps[i].excess_tsc >= least) {
			found = log->gaps[i];
			count++;
		}
	CHECK(count >= 1);
	return found;
}

/* Time that a control request keeps an lcore shows as a gap at its time; a reset forgets it. */
static void
test_gaps(void)
{
	struct bench bench = bench_up(overload);
	struct lcore *lcore = bench.app->lcores[0];
	const struct lcore_counts *counts = &lcore->counts_copy;
	uint64_t spin = SPIN_NS * tsc_hz() / NS_PER_S, before, after;
	struct gap gap;

	CHECK_EQ(app_launch(bench.app), 0);
	CHECK_EQ(ask(lcore, lcore_reset, NULL, NULL, NULL), 0);
	before = rte_rdtsc();
	CHECK_EQ(ask(lcore, lcore_control, bench_task(&bench, "flood"), "spin", NULL), 0);
	CHECK_EQ(ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
	after = rte_rdtsc();
	/* The cost of the stretch's frames is no part of it. */
	gap = gap_of(&lcore->gap_log, spin / 2);
	CHECK(gap.begin_tsc <= after && gap.begin_tsc + gap.excess_tsc >= before);
	CHECK(gap.excess_tsc <= after - gap.begin_tsc);
	CHECK(counts->polls > 0 && counts->busy_polls <= counts->polls);
	CHECK(counts->busy_tsc <= counts->total_tsc);
	before = rte_rdtsc();
	CHECK_EQ(ask(lcore, lcore_reset, NULL, NULL, NULL), 0);
	CHECK_EQ(ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
	for (uint32_t i = 0; i < lcore->gap_log.count; i++)
		CHECK(lcore->gap_log.gaps[i].begin_tsc >= before);
	bench_down(&bench);
}

/* Time of a stretch beyond its work is a gap, for any amount of work; nothing else is. */
static void
test_gaps_are_excess(void)
{
	struct gap_log log;

	CHECK_EQ(gap_log_open(&log, 1000), 0);
	/* Work of 10 cycles a frame is no gap, however much of it there is. */
	gap_log_stretch(&log, 0, 100, 10);
	gap_log_stretch(&log, 100, 5000, 500);
	gap_log_stretch(&log, 5100, 5900, 500);
	CHECK_EQ(log.count, 0);
	/* Then 5,000 of work and 7,000 without. */
	gap_log_reset(&log);
	log.work_tsc = 10000;
	log.frames = 1000;
	gap_log_stretch(&log, 11000, 12000, 500);
	CHECK_EQ(log.count, 1);
	CHECK_EQ(log.gaps[0].begin_tsc, 11000);
	CHECK_EQ(log.gaps[0].excess_tsc, 7000);
	CHECK_EQ(log.gaps[0].frames, 500);
	/* It has not become what frames cost. */
	CHECK_EQ(log.work_tsc, 10000);
	/* Without a frame, all that idle rounds did not take. */
	gap_log_stretch(&log, 23000, 1001, 0);
	CHECK_EQ(log.count, 2);
	CHECK_EQ(log.gaps[1].excess_tsc, 1001);
	gap_log_stretch(&log, 24001, 1000, 0);
	CHECK_EQ(log.count, 2);
	gap_log_close(&log);
}

/* Gaps without space in the log are counted. */
static void
test_gaps_overflow(void)
{
	struct gap_log log;

	CHECK_EQ(gap_log_open(&log, 10), 0);
	for (uint64_t i = 0; i < GAP_LOG_RECORDS + 3; i++)
		gap_log_stretch(&log, i, 11, 0);
	CHECK_EQ(log.count, GAP_LOG_RECORDS);
	CHECK_EQ(log.overflowed, 3);
	CHECK_EQ(log.gaps[GAP_LOG_RECORDS - 1].begin_tsc, GAP_LOG_RECORDS - 1);
	gap_log_reset(&log);
	CHECK_EQ(log.count + log.overflowed, 0);
	gap_log_close(&log);
}

/* The average follows what frames cost, slowly. */
static void
test_gaps_learn(void)
{
	struct gap_log log;

	CHECK_EQ(gap_log_open(&log, 1000000), 0);
	for (unsigned int i = 0; i < 10000; i++)
		gap_log_stretch(&log, 0, 500 * 30, 500);
	CHECK(log.work_tsc / log.frames == 30 || (log.work_tsc + 1) / log.frames == 30);
	for (unsigned int i = 0; i < 10000; i++)
		gap_log_stretch(&log, 0, 500 * 90, 500);
	CHECK(log.work_tsc / log.frames >= 80);
	gap_log_close(&log);
}

/* An lcore that was away for a while, its thread not running: about as long in the log. */
static void
test_gaps_of_a_stretch(void)
{
	struct bench bench = bench_up(overload);
	struct lcore *lcore = bench.app->lcores[0];
	uint64_t before, after, spin = SPIN_NS * tsc_hz() / NS_PER_S;
	struct gap gap;

	lcore->last_tsc = rte_rdtsc();
	for (unsigned int i = 0; i < 100; i++)
		lcore_stretch(lcore);
	gap_log_reset(&lcore->gap_log);
	before = lcore->last_tsc;
	usleep(SPIN_NS / 1000);
	lcore_stretch(lcore);
	after = rte_rdtsc();
	gap = gap_of(&lcore->gap_log, spin * 9 / 10);
	CHECK_EQ(gap.begin_tsc, before);
	CHECK(gap.excess_tsc <= after - before);
	CHECK_EQ(gap.frames % TASK_BURST, 0);
	bench_down(&bench);
}

/* An lcore that does not run answers nothing: the request times out, later ones still work. */
static void
test_late_answers(void)
{
	struct bench bench = bench_up(overload);
	struct lcore *lcore = bench.app->lcores[0];
	struct mail *mail;
	int result;

	for (unsigned int i = 0; i < MAILBOX_SIZE; i++) {
		mail = mail_new(lcore_snapshot);
		CHECK_EQ(mailbox_post(&lcore->mailbox, mail), 0);
		CHECK_EQ(-mailbox_await(&lcore->mailbox, mail, 1, &result), ETIMEDOUT);
	}
	CHECK_EQ(-mailbox_post(&lcore->mailbox, mail_new(lcore_snapshot)), EBUSY);
	CHECK_EQ(app_launch(bench.app), 0);
	while (rte_ring_count(lcore->mailbox.requests) > 0)
		usleep(100);
	CHECK_EQ(ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
	CHECK_EQ(lcore->mailbox.outstanding, 0);
	bench_down(&bench);
}

/* Lcores that do not answer are given up together, not one after the other. */
static void
test_silent_lcores_are_awaited_at_once(void)
{
	struct bench bench = bench_up(overload);
	struct telemetry_reply reply = {0};
	struct telemetry_out out = {.reply = &reply, .data = rte_tel_data_alloc()};
	uint64_t begin = rte_rdtsc();

	CHECK(out.data != NULL);
	rte_tel_data_start_dict(out.data);
	CHECK_EQ(bench.app->nb_lcores, 2);
	CHECK_EQ(-ask_lcores(bench.app, &out, lcore_snapshot, 0), ETIMEDOUT);
	CHECK(tsc_to_ns(rte_rdtsc() - begin) < 2 * ANSWER_TIMEOUT_NS);
	telemetry_restart(&out);
	rte_tel_data_free(out.data);
	bench_down(&bench);
}

static atomic_bool taking, taken;

static void
run_on(pid_t tid, unsigned int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	CHECK_EQ(sched_setaffinity(tid, sizeof(cpus), &cpus), 0);
}

static void *
take_cpu(void *cpu)
{
	run_on(0, *(unsigned int *)cpu);
	atomic_store(&taken, true);
	while (atomic_load_explicit(&taking, memory_order_relaxed))
		rte_pause();
	return NULL;
}

/* A niced lcore answers though an urgent thread polls on its CPU, and keeps its nice value. */
static void
test_niced_lcore_answers(void)
{
	struct bench bench;
	struct lcore *lcore;
	struct telemetry_reply reply = {0};
	struct telemetry_out out = {.reply = &reply};
	unsigned int cpu = (unsigned int)sched_getcpu();
	int before = getpriority(PRIO_PROCESS, 0);
	pthread_t thread;

	if (setpriority(PRIO_PROCESS, 0, -20) != 0)
		return; /* only root may be as urgent */
	bench = bench_up(overload);
	lcore = bench.app->lcores[0];
	CHECK_EQ(app_launch(bench.app), 0);
	CHECK_EQ(ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
	run_on(lcore->tid, cpu);
	CHECK_EQ(setpriority(PRIO_PROCESS, lcore->tid, 19), 0);
	atomic_store(&taking, true);
	CHECK_EQ(pthread_create(&thread, NULL, take_cpu, &cpu), 0);
	while (!atomic_load(&taken))
		usleep(100);
	out.data = rte_tel_data_alloc();
	CHECK(out.data != NULL);
	rte_tel_data_start_dict(out.data);
	for (unsigned int i = 0; i < 3; i++)
		CHECK_EQ(ask_lcores(bench.app, &out, lcore_snapshot, 0), 0);
	CHECK_EQ(getpriority(PRIO_PROCESS, lcore->tid), 19);
	atomic_store(&taking, false);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(setpriority(PRIO_PROCESS, lcore->tid, before), 0);
	telemetry_restart(&out);
	rte_tel_data_free(out.data);
	bench_down(&bench);
	CHECK_EQ(setpriority(PRIO_PROCESS, 0, before), 0);
}

/* Many requests at once: one that is answered before the next is posted is not forgotten. */
static void
test_many_requests_at_once(void)
{
	struct bench bench = bench_up(overload);
	struct mailbox *mailbox = &bench.app->lcores[0]->mailbox;
	struct mail *mails[MAILBOX_SIZE];
	int result;

	CHECK_EQ(app_launch(bench.app), 0);
	for (unsigned int i = 0; i < MAILBOX_SIZE; i++) {
		mails[i] = mail_new(lcore_snapshot);
		CHECK_EQ(mailbox_post(mailbox, mails[i]), 0);
		while (i == 0 && rte_ring_count(mailbox->answers) == 0)
			usleep(100);
	}
	for (unsigned int i = 0; i < MAILBOX_SIZE; i++)
		CHECK_EQ(mailbox_await(mailbox, mails[i], TIMEOUT_NS, &result), 0);
	CHECK_EQ(mailbox->outstanding, 0);
	bench_down(&bench);
}

/* A round polls every task once; a stretch counts its rounds, and grows while they are short. */
static void
test_rounds_and_stretches(void)
{
	struct bench bench = bench_up("[pool]\nmbufs = 1024\ncache = 0\n"
				      "[task.flood]\ntype = flood\nlcore = 1\ntx = ring:a\n"
				      "[task.drain]\ntype = drain\nlcore = 1\nrx = ring:a\n"
				      "[ring.a]\nsize = 256\n");
	struct lcore *lcore = bench.app->lcores[0];
	uint64_t rounds = 0;

	bench_poll(&bench, 3);
	CHECK_EQ(bench_task(&bench, "flood")->stats.tx, 3 * TASK_BURST);
	CHECK_EQ(bench_task(&bench, "drain")->stats.handled, 3 * TASK_BURST);
	do {
		rounds += lcore->stretch;
		lcore_stretch(lcore);
		CHECK_EQ(lcore->counts.polls, rounds);
		CHECK_EQ(lcore->counts.busy_polls, rounds);
		CHECK_EQ(bench_task(&bench, "drain")->stats.handled, (3 + rounds) * TASK_BURST);
	} while (lcore->stretch == 1);
	bench_down(&bench);
}

/* An idle lcore has no busy time, and its stretches become as long as they may. */
static void
test_idle(void)
{
	struct bench bench = bench_up("[pool]\nmbufs = 1024\ncache = 0\n"
				      "[port.p]\ndevice = net_ring0\n"
				      "[task.t]\ntype = drain\nlcore = 1\nrx = p:0\n");
	struct lcore *lcore = bench.app->lcores[0];

	while (lcore->stretch < 16)
		lcore_stretch(lcore);
	CHECK(lcore->counts.polls > 0);
	CHECK_EQ(lcore->counts.busy_polls, 0);
	CHECK_EQ(lcore->counts.busy_tsc, 0);
	bench_down(&bench);
}

/* The system's clock and the TSC at one moment: of many readings the least interrupted. */
static void
both_clocks(uint64_t *ns, uint64_t *cycles)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < 100; i++) {
		struct timespec now;
		uint64_t before = rte_rdtsc();

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (rte_rdtsc() - before >= least)
			continue;
		least = rte_rdtsc() - before;
		*ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
		*cycles = before;
	}
}

/* DPDK's own figure may be 0.2% off. */
static void
test_tsc_hz(void)
{
	uint64_t ns[2], cycles[2];
	double found_ns, error;

	both_clocks(&ns[0], &cycles[0]);
	usleep(100000);
	both_clocks(&ns[1], &cycles[1]);
	found_ns = (double)(cycles[1] - cycles[0]) * NS_PER_S / (double)tsc_hz();
	error = found_ns / (double)(ns[1] - ns[0]) - 1;
	CHECK(error > -1e-4 && error < 1e-4);
}

/* A time of the clock is mapped to the TSC as exactly as is said, wherever it is between two moments. */
static void
test_tsc_at(void)
{
	enum { READINGS = 1000 };
	static uint64_t before[READINGS], ns[READINGS], after[READINGS];
	struct tsc_moment begin = tsc_read_both(), end;
	uint64_t error;

	for (unsigned int i = 0; i < READINGS; i++) {
		struct timespec now;

		before[i] = rte_rdtsc_precise();
		clock_gettime(CLOCK_MONOTONIC, &now);
		after[i] = rte_rdtsc_precise();
		ns[i] = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
		usleep(20);
	}
	end = tsc_read_both();
	error = ns_to_tsc(tsc_at_error_ns(&begin, &end));
	CHECK(error < ns_to_tsc(100000));
	for (unsigned int i = 0; i < READINGS; i++) {
		uint64_t mapped = tsc_at(ns[i], &begin, &end);

		CHECK(mapped + error >= before[i] && mapped <= after[i] + error);
	}
}

int
main(void)
{
	test_tsc_hz();
	test_tsc_at();
	test_gaps_are_excess();
	test_gaps_overflow();
	test_gaps_learn();
	harness_start();
	test_rounds_and_stretches();
	test_idle();
	test_counters_close_under_overload();
	test_control_reaches_the_task();
	test_gaps();
	test_gaps_of_a_stretch();
	test_late_answers();
	test_silent_lcores_are_awaited_at_once();
	test_niced_lcore_answers();
	test_many_requests_at_once();
	return 0;
}
