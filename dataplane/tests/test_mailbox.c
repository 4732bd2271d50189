/* SPDX-License-Identifier: Apache-2.0 */
/* The mailbox of an lcore: requests that are late, many, or compete with an urgent thread. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
#include <sys/resource.h>
#include <rte_cycles.h>

#include "core/ask.h"
#include "core/telemetry_reply.h"
#include "core/tsc.h"
#include "lcore_bench.h"

/* An lcore that does not run answers nothing: the request times out, later ones still work. */
static void
test_late_answers(void)
{
	struct bench bench = bench_overloaded();
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
	CHECK_EQ(bench_ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
	CHECK_EQ(lcore->mailbox.outstanding, 0);
	bench_down(&bench);
}

/* Lcores that do not answer are given up together, not one after the other. */
static void
test_silent_lcores_are_awaited_at_once(void)
{
	struct bench bench = bench_overloaded();
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
	bench = bench_overloaded();
	lcore = bench.app->lcores[0];
	CHECK_EQ(app_launch(bench.app), 0);
	CHECK_EQ(bench_ask(lcore, lcore_snapshot, NULL, NULL, NULL), 0);
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
	struct bench bench = bench_overloaded();
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
		CHECK_EQ(mailbox_await(mailbox, mails[i], LATE_NS, &result), 0);
	CHECK_EQ(mailbox->outstanding, 0);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_late_answers();
	test_silent_lcores_are_awaited_at_once();
	test_niced_lcore_answers();
	test_many_requests_at_once();
	return 0;
}
