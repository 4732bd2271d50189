/* SPDX-License-Identifier: Apache-2.0 */
/* Measure a router's cost of a frame. `bench_router_cycles INI ROUTES TURNS TASK... -- EAL`
 *
 * Tasks of the INI run on a source that hands out valid frames of minimum size and into a sink that
 * keeps them; both are a few instructions. Between passes, untimed, all frames are restored for the
 * next destinations. There is one in each prefix of ROUTES, in a random order: "used" takes turns
 * among 2,048 of them, "wide" among all. A pass is timed as a whole, through the lcore's own round.
 *
 * Tasks take turns, so that whatever slows the CPU down for a while meets all of them. In the first
 * half of a turn the caches settle, the median pass of the second half is the turn's figure. Prints
 * "TASK ipv4|ipv6 used|wide QUIET MEDIAN": the turn at the lowest decile and the median turn, in TSC
 * cycles a frame. Fails if any frame was not forwarded.
 *
 * In place of a TASK named "dpdk_l3fwd", DPDK's sample application handles the frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpdk_l3fwd.h"
#include "harness.h"
#include "pktlib/bytes.h"
#include "pktlib/checksum.h"
#include "pktlib/routes.h"

#define FRAMES_A_TURN 131072
#define MBUFS 256u
#define PASSES (FRAMES_A_TURN / MBUFS)
#define USED 2048u
#define VERSIONS 2
#define MODES 2
#define TASKS_MAX 8
#define TURNS_MAX 1000
#define V4_LEN 60
#define V6_LEN 62
#define DPDK_L3FWD "dpdk_l3fwd"

/* One destination in each prefix. */
struct destinations {
	uint8_t version;
	uint8_t (*list)[16];
	uint32_t nb, next;
};

struct measured {
	const char *name;
	struct task *task;
	struct lcore_poll poll;
	double figures[VERSIONS][MODES][TURNS_MAX];
};

static struct rte_mbuf *mbufs[MBUFS];
static void
say(void *context __rte_unused, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

/* An address of the prefix with random low bits. */
static void
choose(uint8_t *address, const struct route *route)
{
	memcpy(address, route->prefix, 16);
	for (unsigned int bit = route->length; bit < (route->version == 4 ? 32 : 128); bit++)
		address[bit / 8] |= (uint8_t)((random() & 1) << (7 - bit % 8));
}

static void
find_destinations(struct destinations *to, const struct routes *routes, uint8_t version)
{
	*to = (struct destinations){.version = version};
	to->list = calloc(routes->nb_routes + 1, sizeof(*to->list));
	if (to->list == NULL)
		bench_fail("out of memory");
	for (uint32_t i = 0; i < routes->nb_routes; i++)
		if (routes->list[i].version == version)
			choose(to->list[to->nb++], &routes->list[i]);
	for (uint32_t i = to->nb; i > 1; i--) {
		uint32_t other = (uint32_t)random() % i;
		uint8_t kept[16];

		memcpy(kept, to->list[i - 1], sizeof(kept));
		memcpy(to->list[i - 1], to->list[other], sizeof(kept));
		memcpy(to->list[other], kept, sizeof(kept));
	}
}

static void
restore_v4(struct rte_mbuf *mbuf, const uint8_t *destination)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *), *ip = frame + 14;

	mbuf->data_len = V4_LEN;
	mbuf->pkt_len = V4_LEN;
	mbuf->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4;
	be16_store(frame + 12, 0x0800);
	memset(ip, 0, 20);
	ip[0] = 0x45;
	be16_store(ip + 2, V4_LEN - 14);
	ip[8] = 64;
	ip[9] = 17;
	be32_store(ip + 12, 0xc6120001);
	memcpy(ip + 16, destination, 4);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
}

static void
restore_v6(struct rte_mbuf *mbuf, const uint8_t *destination)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *), *ip = frame + 14;

	mbuf->data_len = V6_LEN;
	mbuf->pkt_len = V6_LEN;
	mbuf->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6;
	be16_store(frame + 12, 0x86dd);
	memset(ip, 0, 24);
	ip[0] = 0x60;
	be16_store(ip + 4, V6_LEN - 54);
	ip[6] = 17;
	ip[7] = 64;
	be32_store(ip + 8, 0x20010002);
	memcpy(ip + 24, destination, 16);
}

static double
pass(struct lcore *lcore, struct destinations *to, uint32_t nb)
{
	for (uint32_t i = 0; i < MBUFS; i++) {
		if (to->next >= nb)
			to->next = 0;
		(to->version == 4 ? restore_v4 : restore_v6)(mbufs[i], to->list[to->next++]);
	}
	return bench_pass(lcore);
}

static double
turn(struct app *app, struct measured *measured, struct destinations *to, unsigned int mode)
{
	static double cycles[PASSES];
	struct lcore *lcore = bench_lcore_of(app, measured->task);

	lcore->polls[0] = measured->poll;
	lcore->nb_polls = 1;
	for (unsigned int i = 0; i < PASSES; i++)
		cycles[i] = pass(lcore, to, mode == 0 ? RTE_MIN(to->nb, USED) : to->nb);
	bench_sort(cycles + PASSES / 2, PASSES / 2);
	return cycles[PASSES / 2 + PASSES / 4];
}

static void
measure(struct app *app, struct measured *all, unsigned int nb, struct destinations *to,
	unsigned int turns)
{
	static const char *const modes[MODES] = {"used", "wide"};

	for (unsigned int i = 0; i < turns; i++)
		for (unsigned int v = 0; v < VERSIONS; v++)
			for (unsigned int mode = 0; to[v].nb > 0 && mode < MODES; mode++)
				for (unsigned int t = 0; t < nb; t++)
					all[t].figures[v][mode][i] =
						turn(app, &all[t], &to[v], mode);
	for (unsigned int t = 0; t < nb; t++)
		for (unsigned int v = 0; v < VERSIONS; v++)
			for (unsigned int mode = 0; to[v].nb > 0 && mode < MODES; mode++) {
				double *figures = all[t].figures[v][mode];

				bench_sort(figures, turns);
				printf("%s ipv%u %s %.3f %.3f\n", all[t].name, to[v].version,
				       modes[mode], figures[turns / 10], figures[turns / 2]);
			}
}

static void
take_task(struct measured *measured, struct app *app, const char *name, const struct routes *routes)
{
	struct app_task *slot = app_task_find(app, name);

	if (slot == NULL)
		bench_fail("no such task");
	measured->name = name;
	measured->task = &slot->task;
	measured->poll = bench_from_source(&slot->task);
	bench_to_sink(&slot->task);
	if (strcmp(name, DPDK_L3FWD) == 0) {
		dpdk_l3fwd_start(routes);
		measured->poll.handle = dpdk_l3fwd_handle;
		measured->poll.idle = true;
		measured->poll.senders = 1;
		slot->task.next_sender = &slot->task;
	}
}

int
main(int argc, char **argv)
{
	static struct measured all[TASKS_MAX];
	const struct routes_complaint complaint = {.say = say};
	struct destinations to[VERSIONS];
	unsigned int turns, nb = 0;
	struct routes routes;
	struct config *config;
	struct app *app;

	while (4 + (int)nb < argc && strcmp(argv[4 + nb], "--") != 0)
		nb++;
	if (nb == 0 || nb > TASKS_MAX || 4 + (int)nb == argc)
		bench_fail("usage: bench_router_cycles INI ROUTES TURNS TASK... -- EAL");
	turns = (unsigned int)atoi(argv[3]);
	if (turns == 0 || turns > TURNS_MAX)
		bench_fail("there are 1 to 1000 turns");
	app = bench_start(&config, argv[1], argc - 4 - (int)nb, argv + 4 + nb);
	if (routes_read(&routes, argv[2], &complaint) > 0)
		bench_fail("the routes are faulty");
	find_destinations(&to[0], &routes, 4);
	find_destinations(&to[1], &routes, 6);
	for (unsigned int t = 0; t < nb; t++)
		take_task(&all[t], app, argv[4 + t], &routes);
	routes_free(&routes);
	if (rte_pktmbuf_alloc_bulk(all[0].task->pool, mbufs, MBUFS) != 0)
		bench_fail("the pool is too small");
	bench_source = (struct bench_source){.mbufs = mbufs, .nb = MBUFS};
	measure(app, all, nb, to, turns);
	rte_pktmbuf_free_bulk(mbufs, MBUFS);
	free(to[0].list);
	free(to[1].list);
	app_stop(app);
	app_free(app);
	config_free(config);
	return 0;
}
