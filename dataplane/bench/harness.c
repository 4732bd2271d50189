/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#define ROUNDS_AFTER 4 /* for what a task may still hold */

struct bench_source bench_source;
static uint64_t nb_sunk;

static uint16_t
source_receive(const struct task_in *in __rte_unused, struct rte_mbuf **mbufs, uint16_t n)
{
	uint32_t count = RTE_MIN((uint32_t)n, bench_source.nb - bench_source.next);

	for (uint32_t i = 0; i < count; i++)
		mbufs[i] = bench_source.mbufs[bench_source.next + i];
	bench_source.next += count;
	return count;
}

uint16_t
bench_sink(struct rte_mbuf **mbufs __rte_unused, uint16_t n)
{
	nb_sunk += n;
	return n;
}

static uint16_t
sink_send(const struct task_out *out __rte_unused, struct rte_mbuf **mbufs, uint16_t n)
{
	return bench_sink(mbufs, n);
}

void
bench_fail(const char *text)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
	exit(1);
}

struct app *
bench_start(struct config **config, const char *ini, int argc, char **argv)
{
	char *lcores = (char *)"--lcores=by the caller";
	struct app *app;

	if (rte_eal_init(argc, argv) < 0)
		bench_fail("DPDK does not start");
	*config = config_load(ini);
	if (*config == NULL)
		bench_fail("the INI cannot be read");
	app = app_parse(*config, 1, &lcores);
	if (app == NULL || config_report(*config) != 0 || app_start(app) != 0)
		bench_fail("the INI is faulty");
	return app;
}

struct lcore_poll
bench_from_source(struct task *task)
{
	struct lcore_poll poll = {.in = task->in[0], .handle = task->ops->handle, .task = task};

	poll.in.receive = source_receive;
	return poll;
}

void
bench_to_sink(struct task *task)
{
	for (unsigned int out = 0; out < task->nb_out; out++)
		task->out[out].send = sink_send;
}

struct lcore *
bench_lcore_of(struct app *app, const struct task *task)
{
	for (unsigned int i = 0; i < app->nb_lcores; i++)
		if (app->lcores[i]->id == task->lcore_id)
			return app->lcores[i];
	bench_fail("a task without an lcore");
}

double
bench_pass(struct lcore *lcore)
{
	uint64_t start, taken, expected = nb_sunk + bench_source.nb;

	bench_source.next = 0;
	start = rte_rdtsc_precise();
	while (bench_source.next < bench_source.nb)
		lcore_round(lcore);
	for (unsigned int i = 0; nb_sunk < expected && i < ROUNDS_AFTER; i++)
		lcore_round(lcore);
	taken = rte_rdtsc_precise() - start;
	if (nb_sunk != expected)
		bench_fail("a frame was not forwarded");
	return (double)taken / bench_source.nb;
}

static int
compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

void
bench_sort(double *numbers, unsigned int nb)
{
	qsort(numbers, nb, sizeof(*numbers), compare);
}
