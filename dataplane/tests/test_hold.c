/* SPDX-License-Identifier: Apache-2.0 */
/* Lcores that stand still while something they read changes, and go on. */
#include "core/hold.h"

#include <errno.h>
#include <rte_cycles.h>

#include "core/control.h"
#include "core/reload.h"
#include "core/tsc.h"
#include "lcore_bench.h"

#define HOLDS 2
#define LONG_NS 500000 /* lcores sleep instead of spinning before it has passed */

static uint64_t
rounds(const struct lcore *lcore)
{
	return __atomic_load_n(&lcore->counts.polls, __ATOMIC_RELAXED);
}

/* Check that no lcore makes a round. */
static void
change(void *context)
{
	struct bench *bench = context;
	const uint64_t began = rte_rdtsc();
	uint64_t before[RTE_MAX_LCORE];

	for (unsigned int i = 0; i < bench->app->nb_lcores; i++)
		before[i] = rounds(bench->app->lcores[i]);
	while (tsc_to_ns(rte_rdtsc() - began) < LONG_NS)
		rte_pause();
	for (unsigned int i = 0; i < bench->app->nb_lcores; i++)
		CHECK_EQ(rounds(bench->app->lcores[i]), before[i]);
}

/* Wait for a round of each lcore. */
static void
await_rounds(const struct bench *bench)
{
	const uint64_t deadline = rte_rdtsc() + ns_to_tsc(LATE_NS);

	for (unsigned int i = 0; i < bench->app->nb_lcores; i++) {
		const uint64_t before = rounds(bench->app->lcores[i]);

		while (rounds(bench->app->lcores[i]) == before)
			CHECK(rte_rdtsc() < deadline);
	}
}

static void
test_lcores_stand_still_and_go_on(void)
{
	struct bench bench = bench_overloaded();

	CHECK_EQ(app_launch(bench.app), 0);
	reload_open(bench.app);
	for (unsigned int i = 0; i < HOLDS; i++) {
		int ret = -ETIMEDOUT;

		await_rounds(&bench);
		while (ret == -ETIMEDOUT) /* the machine is busy */
			ret = reload_in_place(change, &bench);
		CHECK_EQ(ret, 0);
	}
	await_rounds(&bench);
	reload_close();
	CHECK_EQ(reload_in_place(change, &bench), -ECANCELED);
	bench_down(&bench);
}

static void
fail(void *context __rte_unused)
{
	CHECK(!"an lcore has not stood still");
}

/* An lcore that does not come: nothing changes, and once it comes it does not wait. */
static void
test_lcore_comes_too_late(void)
{
	struct bench bench = bench_overloaded(); /* whose lcores do not run yet */

	control_lock();
	CHECK_EQ(hold_lcores(bench.app, fail, NULL), -ETIMEDOUT);
	CHECK_EQ(app_launch(bench.app), 0);
	await_rounds(&bench);
	control_unlock();
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_lcores_stand_still_and_go_on();
	test_lcore_comes_too_late();
	return 0;
}
