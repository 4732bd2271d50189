/* SPDX-License-Identifier: Apache-2.0 */
/* Lcores that really run: counters copied under traffic, control, rounds and idle time. */
#include <errno.h>

#include "lcore_bench.h"

static void
test_counters_close_under_overload(void)
{
	struct bench bench = bench_overloaded();
	struct lcore **lcores = bench.app->lcores;

	CHECK_EQ(app_launch(bench.app), 0);
	for (unsigned int sample = 0; sample < 50; sample++)
		for (unsigned int i = 0; i < 2; i++) {
			CHECK_EQ(bench_ask(lcores[i], lcore_snapshot, NULL, NULL, NULL), 0);
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
	struct bench bench = bench_overloaded();
	struct lcore *lcore = bench.app->lcores[0];
	struct task *task = bench_task(&bench, "flood");

	CHECK_EQ(app_launch(bench.app), 0);
	CHECK_EQ(bench_ask(lcore, lcore_control, task, "set", "good=1"), 0);
	CHECK_EQ(-bench_ask(lcore, lcore_control, task, "set", "bad=1"), ERANGE);
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

/* Generators of one output share a turn in each round; one with an output of its own has it alone. */
static void
test_generators_of_an_output_take_turns(void)
{
	struct bench bench = bench_up("[pool]\nmbufs = 1024\ncache = 0\n"
				      "[task.one]\ntype = flood\nlcore = 1\ntx = ring:a\n"
				      "[task.two]\ntype = flood\nlcore = 1\ntx = ring:a\n"
				      "[task.three]\ntype = flood\nlcore = 1\ntx = ring:a\n"
				      "[task.other]\ntype = flood\nlcore = 1\ntx = ring:b\n"
				      "[task.drain_a]\ntype = drain\nlcore = 1\nrx = ring:a\n"
				      "[task.drain_b]\ntype = drain\nlcore = 1\nrx = ring:b\n"
				      "[ring.a]\nsize = 128\n[ring.b]\nsize = 128\n");
	const char *const names[] = {"one", "two", "three"};

	for (unsigned int i = 0; i < 3; i++) {
		bench_poll(&bench, 1);
		CHECK_EQ(bench_task(&bench, names[i])->stats.tx, TASK_BURST);
		CHECK_EQ(bench_task(&bench, "other")->stats.tx, (i + 1) * TASK_BURST);
	}
	bench_poll(&bench, 3);
	for (unsigned int i = 0; i < 3; i++)
		CHECK_EQ(bench_task(&bench, names[i])->stats.tx, 2 * TASK_BURST);
	/* So the drain took all that was sent. */
	CHECK_EQ(bench_task(&bench, "drain_a")->stats.handled, 6 * TASK_BURST);
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

int
main(void)
{
	harness_start();
	test_rounds_and_stretches();
	test_generators_of_an_output_take_turns();
	test_idle();
	test_counters_close_under_overload();
	test_control_reaches_the_task();
	return 0;
}
