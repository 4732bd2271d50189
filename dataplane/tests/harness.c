/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

#include "harness.h"

void
harness_start(void)
{
	char lcores[64], prefix[32];
	char *argv[] = {(char *)"test", (char *)"--no-huge", (char *)"-m", (char *)"512",
			(char *)"--no-pci", (char *)"--no-shconf", (char *)"--no-telemetry",
			(char *)"--log-level=error",
			/* net_ring finds its rings of an earlier bench and says so. */
			(char *)"--log-level=lib.ring:critical", lcores, prefix};
	int cpu = sched_getcpu();

	/* One CPU, wherever the test is allowed to run: the tests need no parallelism. */
	CHECK(cpu >= 0);
	snprintf(lcores, sizeof(lcores), "--lcores=(0-3)@%d", cpu);
	snprintf(prefix, sizeof(prefix), "--file-prefix=t%d", (int)getpid());
	CHECK(rte_eal_init(RTE_DIM(argv), argv) >= 0);
}

void
harness_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

struct config *
harness_config(const char *ini)
{
	char path[] = "/tmp/wsdp-test-XXXXXX";
	struct config *config;

	harness_file(path, ini);
	config = config_load(path);
	unlink(path);
	return config;
}

static struct bench
parse(const char *ini)
{
	char *lcores = (char *)"--lcores=as the harness did";
	struct bench bench = {.config = harness_config(ini)};

	CHECK(bench.config != NULL);
	bench.app = app_parse(bench.config, 1, &lcores);
	return bench;
}

unsigned int
harness_faults(const char *ini, const char *says)
{
	struct bench bench = parse(ini);
	unsigned int count = config_fault_count(bench.config);
	const char *first = count == 0 ? "no fault" : config_fault_text(bench.config, 0);

	if (strstr(first, says) == NULL)
		fprintf(stderr, "%s\ndoes not say \"%s\" but \"%s\"\n", ini, says, first);
	CHECK(strstr(first, says) != NULL);
	app_free(bench.app);
	config_free(bench.config);
	return count;
}

struct bench
bench_up(const char *ini)
{
	struct bench bench = parse(ini);

	CHECK_EQ(config_report(bench.config), 0);
	CHECK_EQ(app_start(bench.app), 0);
	return bench;
}

void
bench_down(struct bench *bench)
{
	struct app *app = bench->app;

	for (unsigned int i = 0; i < app->nb_ports; i++)
		bench_drain(bench, app->ports[i].name);
	/* Only the pools must outlive the rest, to be counted. */
	struct pools pools = app->pools;
	memset(&app->pools, 0, sizeof(app->pools));
	app_stop(app);
	for (unsigned int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		if (pools.of_socket[i] != NULL)
			CHECK_EQ(rte_mempool_in_use_count(pools.of_socket[i]), 0);
	pools_free(&pools);
	app_free(app);
	config_free(bench->config);
}

void
bench_poll(struct bench *bench, unsigned int rounds)
{
	for (unsigned int round = 0; round < rounds; round++)
		for (unsigned int i = 0; i < bench->app->nb_lcores; i++)
			lcore_round(bench->app->lcores[i]);
}

struct task *
bench_task(struct bench *bench, const char *name)
{
	struct app_task *slot = app_task_find(bench->app, name);

	CHECK(slot != NULL);
	return &slot->task;
}

static uint16_t
port_id(struct bench *bench, const char *name)
{
	for (unsigned int i = 0; i < bench->app->nb_ports; i++)
		if (strcmp(bench->app->ports[i].name, name) == 0)
			return bench->app->ports[i].id;
	CHECK(!"no such port");
	return 0;
}

bool
bench_send(struct bench *bench, const char *port, const void *octets, uint16_t length)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pools_get(&bench->app->pools, 0));
	char *room;

	CHECK(mbuf != NULL);
	room = rte_pktmbuf_append(mbuf, length);
	CHECK(room != NULL);
	memcpy(room, octets, length);
	if (rte_eth_tx_burst(port_id(bench, port), 0, &mbuf, 1) == 1)
		return true;
	rte_pktmbuf_free(mbuf);
	return false;
}

uint32_t
bench_receive(struct bench *bench, const char *port, void *octets, uint32_t size)
{
	struct rte_mbuf *mbuf;
	uint32_t length;
	const void *frame;

	if (rte_eth_rx_burst(port_id(bench, port), 0, &mbuf, 1) == 0)
		return 0;
	length = mbuf->pkt_len;
	CHECK(length <= size);
	frame = rte_pktmbuf_read(mbuf, 0, length, octets);
	CHECK(frame != NULL);
	if (frame != octets)
		memcpy(octets, frame, length);
	rte_pktmbuf_free(mbuf);
	return length;
}

uint64_t
bench_drain(struct bench *bench, const char *port)
{
	struct rte_mbuf *mbufs[TASK_BURST];
	uint64_t count = 0;
	uint16_t n;

	while ((n = rte_eth_rx_burst(port_id(bench, port), 0, mbufs, TASK_BURST)) > 0) {
		rte_pktmbuf_free_bulk(mbufs, n);
		count += n;
	}
	return count;
}

void
check_closes(const struct task_stats *stats)
{
	CHECK_EQ(stats->tx + stats->tx_fail + stats->discard + stats->handled + stats->held,
		 stats->rx);
}
