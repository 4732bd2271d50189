/* SPDX-License-Identifier: Apache-2.0 */
/* Measure the gateway's cost of a frame. `bench_bng_cycles INI TABLES TURNS CHAIN... -- EAL`
 *
 * Tasks of the INI run on a source that hands out valid frames of minimum size and into a sink that
 * keeps them; both are a few instructions. Between passes, untimed, all frames are restored for the
 * next subscribers in a random order. A pass is timed as a whole, through the lcore's own round.
 *
 * CHAIN is "SIDE:TASK[,TASK...]", for instance "up:lb,up0": the first task reads from the source, the
 * last one sends to the sink, what lies between are the INI's own rings.
 *
 * Chains take turns, with few mbufs (hot) and many (cold), so that whatever slows the CPU down for a
 * while meets all of them. The first half of a turn brings the caches to where the chain has them, the
 * median pass of the second half is the turn's figure. Prints for each chain "CHAIN hot|cold QUIET
 * MEDIAN": the turn at the lowest decile and the median turn, in TSC cycles a frame. Fails if any
 * frame was not forwarded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bng_frames.h"
#include "harness.h"
#include "pktlib/bng/table_file.h"

#define FRAMES_A_TURN 131072
#define MBUFS_HOT 64
#define MBUFS_COLD 2048
#define MODES 2
#define CHAINS_MAX 8
#define TURNS_MAX 1000
#define LOCAL_IP 0xc0000201

static void *
must(void *memory)
{
	if (memory == NULL)
		bench_fail("out of memory");
	return memory;
}

struct chain {
	const char *name;
	struct bng_frames *frames;
	struct task *tasks[TASK_MAX_OUT];
	unsigned int nb_tasks;
	struct lcore_poll polls[TASK_MAX_OUT];
	double figures[MODES][TURNS_MAX];
};

/* Polls of an lcore that runs just the tasks of a chain. */
static void
make_chain(struct chain *chain, struct app *app, const char *name, struct bng_frames frames[2])
{
	char *copy = must(strdup(name)), *task_name, *rest = NULL;

	if (strchr(copy, ':') == NULL)
		bench_fail("a chain is SIDE:TASK[,TASK...]");
	chain->name = name;
	chain->frames = &frames[strcmp(strtok_r(copy, ":", &rest), "up") == 0 ? 0 : 1];
	while ((task_name = strtok_r(NULL, ",", &rest)) != NULL) {
		struct app_task *slot = app_task_find(app, task_name);
		struct lcore_poll *poll = &chain->polls[chain->nb_tasks];

		if (slot == NULL || chain->nb_tasks == TASK_MAX_OUT)
			bench_fail("no such task, or too many");
		chain->tasks[chain->nb_tasks++] = &slot->task;
		*poll = (struct lcore_poll){.in = slot->task.in[0],
					    .handle = slot->task.ops->handle,
					    .task = &slot->task};
	}
	free(copy);
	if (chain->nb_tasks == 0)
		bench_fail("a chain has a task");
	chain->polls[0] = bench_from_source(chain->tasks[0]);
	bench_to_sink(chain->tasks[chain->nb_tasks - 1]);
}

static double
pass(struct lcore *lcore, struct bng_frames *frames)
{
	for (uint32_t i = 0; i < bench_source.nb; i++)
		bng_frames_restore(frames, bench_source.mbufs[i]);
	return bench_pass(lcore);
}

static double
turn(struct app *app, struct chain *chain, uint32_t mbufs)
{
	static double cycles[FRAMES_A_TURN / MBUFS_HOT];
	struct lcore *lcore = bench_lcore_of(app, chain->tasks[0]);
	unsigned int passes = FRAMES_A_TURN / mbufs, warm_up = passes / 2;

	memcpy(lcore->polls, chain->polls, sizeof(chain->polls));
	lcore->nb_polls = chain->nb_tasks;
	bench_source.nb = mbufs;
	for (unsigned int i = 0; i < passes; i++)
		cycles[i] = pass(lcore, chain->frames);
	bench_sort(cycles + warm_up, passes - warm_up);
	return cycles[warm_up + (passes - warm_up) / 2];
}

static void
measure(struct app *app, struct chain *chains, unsigned int nb_chains, unsigned int turns)
{
	static const uint32_t mbufs[MODES] = {MBUFS_HOT, MBUFS_COLD};
	static const char *const names[MODES] = {"hot", "cold"};

	for (unsigned int i = 0; i < turns; i++)
		for (unsigned int mode = 0; mode < MODES; mode++)
			for (unsigned int c = 0; c < nb_chains; c++)
				chains[c].figures[mode][i] = turn(app, &chains[c], mbufs[mode]);
	for (unsigned int c = 0; c < nb_chains; c++)
		for (unsigned int mode = 0; mode < MODES; mode++) {
			double *figures = chains[c].figures[mode];

			bench_sort(figures, turns);
			printf("%s %s %.3f %.3f\n", chains[c].name, names[mode],
			       figures[turns / 10], figures[turns / 2]);
		}
}

static void
check_tasks(const struct app *app)
{
	for (unsigned int i = 0; i < app->nb_tasks; i++) {
		const struct task_stats *stats = &app->tasks[i].task.stats;

		if (stats->discard + stats->handled + stats->tx_fail > 0)
			bench_fail("a task did not forward everything");
	}
}

static void
say(const struct bng_complaint *complaint __rte_unused, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

int
main(int argc, char **argv)
{
	static struct chain chains[CHAINS_MAX];
	const struct bng_complaint complaint = {say, NULL};
	unsigned int turns, nb_chains = 0;
	struct bng_table_file tables;
	struct bng_frames frames[2];
	struct config *config;
	struct app *app;

	while (4 + (int)nb_chains < argc && strcmp(argv[4 + nb_chains], "--") != 0)
		nb_chains++;
	if (nb_chains == 0 || nb_chains > CHAINS_MAX || 4 + (int)nb_chains == argc)
		bench_fail("usage: bench_bng_cycles INI TABLES TURNS SIDE:TASK[,TASK]... -- EAL");
	turns = (unsigned int)atoi(argv[3]);
	if (turns == 0 || turns > TURNS_MAX)
		bench_fail("there are 1 to 1000 turns");
	app = bench_start(&config, argv[1], argc - 4 - (int)nb_chains, argv + 4 + nb_chains);
	if (bng_table_file_read(&tables, argv[2], &complaint) != 0)
		return 1;
	bng_frames_make(&frames[0], &tables, true, LOCAL_IP);
	bng_frames_make(&frames[1], &tables, false, LOCAL_IP);
	for (unsigned int c = 0; c < nb_chains; c++)
		make_chain(&chains[c], app, argv[4 + c], frames);
	bench_source.mbufs = must(calloc(MBUFS_COLD, sizeof(*bench_source.mbufs)));
	if (rte_pktmbuf_alloc_bulk(chains[0].tasks[0]->pool, bench_source.mbufs, MBUFS_COLD) != 0)
		bench_fail("the pool is too small");
	measure(app, chains, nb_chains, turns);
	check_tasks(app);
	rte_pktmbuf_free_bulk(bench_source.mbufs, MBUFS_COLD);
	free(bench_source.mbufs);
	free(frames[0].order);
	free(frames[1].order);
	bng_table_file_free(&tables);
	app_stop(app);
	app_free(app);
	config_free(config);
	return 0;
}
