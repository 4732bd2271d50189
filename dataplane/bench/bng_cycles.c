/* SPDX-License-Identifier: Apache-2.0 */
/* What does the gateway cost a frame? `bench_bng_cycles INI TABLES PASSES MBUFS CHAIN -- EAL`
 *
 * Tasks of the INI run on a source that hands out valid frames of minimum size and into a sink that
 * keeps them; both are a few instructions. Between passes, untimed, all frames are restored for the
 * next subscribers in a random order. A pass is timed as a whole, through the lcore's own round.
 *
 * CHAIN is "SIDE:TASK[,TASK...]", for instance "up:lb,up0": the first task reads from the source, the
 * last one sends to the sink, what lies between are the INI's own rings. Prints the median, the
 * least and the mean of the passes in TSC cycles a frame. Fails if any frame was not forwarded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#include "core/app.h"
#include "core/config.h"
#include "pktlib/bng/table_file.h"
#include "pktlib/bng/wire.h"
#include "pktlib/checksum.h"

#define WARM_UP_PASSES 20
#define ROUNDS_AFTER 4 /* for what a chain may still hold */
#define UP_BYTES 60    /* 64 with FCS */
#define DOWN_BYTES 74  /* 78 with FCS */
#define HOST_IP 0x0a000007

struct source {
	struct rte_mbuf **mbufs;
	uint32_t nb, next;
};

static struct source source;
static uint64_t nb_sunk;

static uint16_t
source_receive(const struct task_in *in __rte_unused, struct rte_mbuf **mbufs, uint16_t n)
{
	uint32_t count = RTE_MIN((uint32_t)n, source.nb - source.next);

	for (uint32_t i = 0; i < count; i++)
		mbufs[i] = source.mbufs[source.next + i];
	source.next += count;
	return count;
}

static uint16_t
sink_send(const struct task_out *out __rte_unused, struct rte_mbuf **mbufs __rte_unused, uint16_t n)
{
	nb_sunk += n;
	return n;
}

/* Frames of one direction, ready to be copied; what differs is put in afterwards. */
struct traffic {
	const struct bng_table_file *tables;
	uint32_t *order; /* users in random order */
	uint32_t next_user, next_route;
	bool up;
	uint8_t frame[128];
	uint16_t bytes;
	uint64_t sum; /* of the inner header without destination and checksum */
};

static void
fail(const char *text)
{
	fprintf(stderr, "bench_bng_cycles: %s\n", text);
	exit(1);
}

static void *
must(void *memory)
{
	if (memory == NULL)
		fail("out of memory");
	return memory;
}

static void
put_inner(uint8_t *ip)
{
	memset(ip, 0, 28);
	ip[0] = BNG_IPV4_NO_OPTIONS;
	be16_store(ip + 2, 28);
	ip[8] = 64;
	ip[9] = 17;
	be32_store(ip + 12, HOST_IP);
	be16_store(ip + 24, 8);
}

static void
make_traffic(struct traffic *traffic, const struct bng_table_file *tables, bool up,
	     uint32_t local_ip)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
	uint8_t *frame = traffic->frame;
	const struct bng_hop_spec spec = {
		.tunnel = local_ip, .label = 1000, .mac = {2, 0, 0, 0, 0, 2}};
	struct bng_hop hop;

	*traffic = (struct traffic){.tables = tables, .up = up};
	traffic->order = must(calloc(tables->nb_users, sizeof(*traffic->order)));
	for (uint32_t i = 0; i < tables->nb_users; i++) {
		uint32_t j = (uint32_t)(((uint64_t)rand() << 31 | (uint64_t)rand()) % (i + 1));

		traffic->order[i] = traffic->order[j];
		traffic->order[j] = i;
	}
	if (up) {
		memcpy(frame, "\x02\0\0\0\0\1\x02\0\0\0\0\2\x88\xa8\0\0\x81\0\0\0\x08\0",
		       BNG_QINQ_LEN);
		put_inner(frame + BNG_QINQ_LEN);
		traffic->bytes = UP_BYTES;
		traffic->sum = checksum_add(0, frame + BNG_QINQ_LEN, BNG_IPV4_LEN);
		return;
	}
	bng_hop_build(&hop, &spec, 0xc6336401, mac);
	put_inner(frame + BNG_OUTER_ROOM);
	traffic->sum = checksum_add(0, frame + BNG_OUTER_ROOM, BNG_IPV4_LEN);
	bng_encapsulate(frame + BNG_OUTER_ROOM, 28, &hop, 0);
	memmove(frame, frame + BNG_OUTER_ROOM - BNG_OUTER_MAX, DOWN_BYTES);
	traffic->bytes = DOWN_BYTES;
}

static void
restore(struct traffic *traffic, struct rte_mbuf *mbuf)
{
	const struct bng_user_entry *user =
		&traffic->tables->users[traffic->order[traffic->next_user]];
	uint32_t destination = HOST_IP;
	uint8_t *frame, *ip;

	if (++traffic->next_user == traffic->tables->nb_users)
		traffic->next_user = 0;
	mbuf->data_off = RTE_PKTMBUF_HEADROOM;
	mbuf->data_len = traffic->bytes;
	mbuf->pkt_len = traffic->bytes;
	frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	memcpy(frame, traffic->frame, 80);
	if (traffic->up) {
		/* A stride that has no factor in common with the number of routes: all in turn. */
		traffic->next_route = (traffic->next_route + 4999) % traffic->tables->nb_routes;
		destination = traffic->tables->routes[traffic->next_route].prefix + 9;
		be16_store(frame + 14, (uint16_t)(user->line >> 12));
		be16_store(frame + 18, user->line & BNG_VID_MASK);
		ip = frame + BNG_QINQ_LEN;
	} else {
		be32_store(frame + BNG_OUTER_MAX - 4, user->key);
		ip = frame + BNG_OUTER_MAX;
	}
	be32_store(ip + 16, destination);
	be16_store(ip + 10, checksum_finish(traffic->sum + (destination >> 16) +
					    (destination & UINT16_MAX)));
}

/* Let an lcore poll just the tasks of a chain. Returns the last task. */
static struct lcore *
connect_chain(struct app *app, char *chain, struct task *tasks[TASK_MAX_OUT], unsigned int *nb)
{
	struct lcore *lcore = NULL;
	char *name, *rest = NULL;

	*nb = 0;
	for (name = strtok_r(chain, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
		struct app_task *slot = app_task_find(app, name);

		if (slot == NULL || *nb == TASK_MAX_OUT)
			fail("no such task, or too many");
		tasks[(*nb)++] = &slot->task;
	}
	for (unsigned int i = 0; i < app->nb_lcores; i++)
		if (app->lcores[i]->id == tasks[0]->lcore_id)
			lcore = app->lcores[i];
	lcore->nb_polls = 0;
	for (unsigned int i = 0; i < *nb; i++) {
		struct lcore_poll *poll = &lcore->polls[lcore->nb_polls++];

		poll->in = tasks[i]->in[0];
		poll->handle = tasks[i]->ops->handle;
		poll->task = tasks[i];
		poll->idle = false;
	}
	lcore->polls[0].in.receive = source_receive;
	for (unsigned int i = *nb > 1; i < *nb; i++)
		for (unsigned int out = 0; out < tasks[i]->nb_out; out++)
			tasks[i]->out[out].send = sink_send;
	return lcore;
}

static int
compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void
measure(struct lcore *lcore, struct traffic *traffic, unsigned int passes, double *cycles)
{
	for (unsigned int pass = 0; pass < passes + WARM_UP_PASSES; pass++) {
		uint64_t start, expected = nb_sunk + source.nb;

		for (uint32_t i = 0; i < source.nb; i++)
			restore(traffic, source.mbufs[i]);
		source.next = 0;
		start = rte_rdtsc_precise();
		while (source.next < source.nb)
			lcore_round(lcore);
		for (unsigned int i = 0; nb_sunk < expected && i < ROUNDS_AFTER; i++)
			lcore_round(lcore);
		if (pass >= WARM_UP_PASSES)
			cycles[pass - WARM_UP_PASSES] =
				(double)(rte_rdtsc_precise() - start) / source.nb;
		if (nb_sunk != expected)
			fail("a frame was not forwarded");
	}
}

static void
say(const struct bng_complaint *complaint __rte_unused, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

static struct app *
start_app(struct config **config, const char *ini, int argc, char **argv)
{
	char *lcores = (char *)"--lcores=by the caller";
	struct app *app;

	if (rte_eal_init(argc, argv) < 0)
		fail("DPDK does not start");
	*config = config_load(ini);
	if (*config == NULL)
		fail("the INI cannot be read");
	app = app_parse(*config, 1, &lcores);
	if (app == NULL || config_report(*config) != 0 || app_start(app) != 0)
		fail("the INI is faulty");
	return app;
}

int
main(int argc, char **argv)
{
	const struct bng_complaint complaint = {say, NULL};
	struct bng_table_file tables;
	struct task *tasks[TASK_MAX_OUT];
	struct traffic traffic;
	struct config *config;
	struct lcore *lcore;
	struct app *app;
	unsigned int passes, nb_tasks;
	double *cycles, sum = 0;
	bool up;

	if (argc < 7 || strcmp(argv[6], "--") != 0)
		fail("usage: bench_bng_cycles INI TABLES PASSES MBUFS SIDE:TASK[,TASK] -- EAL");
	passes = (unsigned int)atoi(argv[3]);
	source.nb = (uint32_t)atoi(argv[4]);
	up = strncmp(argv[5], "up:", 3) == 0;
	if (passes == 0 || source.nb == 0 || strchr(argv[5], ':') == NULL)
		fail("passes, mbufs and chain must be given");
	app = start_app(&config, argv[1], argc - 6, argv + 6);
	if (bng_table_file_read(&tables, argv[2], &complaint) != 0)
		return 1;
	lcore = connect_chain(app, strchr(argv[5], ':') + 1, tasks, &nb_tasks);
	source.mbufs = must(calloc(source.nb, sizeof(*source.mbufs)));
	if (rte_pktmbuf_alloc_bulk(tasks[0]->pool, source.mbufs, source.nb) != 0)
		fail("the pool is too small");
	make_traffic(&traffic, &tables, up, 0xc0000201);
	cycles = must(calloc(passes, sizeof(*cycles)));
	measure(lcore, &traffic, passes, cycles);
	for (unsigned int i = 0; i < nb_tasks; i++)
		if (tasks[i]->stats.discard + tasks[i]->stats.handled + tasks[i]->stats.tx_fail > 0)
			fail("a task did not forward everything");
	for (unsigned int i = 0; i < passes; i++)
		sum += cycles[i];
	qsort(cycles, passes, sizeof(*cycles), compare);
	printf("median %.3f least %.3f mean %.3f frames %" PRIu64 " discard 0\n",
	       cycles[passes / 2], cycles[0], sum / passes, nb_sunk);
	rte_pktmbuf_free_bulk(source.mbufs, source.nb);
	app_stop(app);
	app_free(app);
	config_free(config);
	return 0;
}
