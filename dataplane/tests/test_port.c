/* SPDX-License-Identifier: Apache-2.0 */
/* Ports and pools: jumbo frames, several queues, counters since a reset, devices that refuse. */
#include <errno.h>
#include <string.h>
#include <rte_ethdev.h>

#include "harness.h"

/* Start a configuration that has no fault but that a device refuses; clean up after it. */
static int
start_refused(const char *ini)
{
	char *lcores = (char *)"--lcores=as the harness did";
	struct config *config = harness_config(ini);
	struct app *app = app_parse(config, 1, &lcores);
	int ret;

	CHECK_EQ(config_report(config), 0);
	ret = app_start(app);
	app_stop(app);
	app_free(app);
	config_free(config);
	return ret;
}

static void
test_mtu_decides_the_room(void)
{
	static const char ini[] = "[pool]\nmbufs = 1024\ncache = 0\n%s"
				  "[port.a]\ndevice = net_ring0\nmtu = %u\n"
				  "[task.t]\ntype = io\nlcore = 1\nrx = a:0\ntx = a:0\n";
	char text[512];
	struct bench bench;

	snprintf(text, sizeof(text), ini, "", 1500);
	bench = bench_up(text);
	CHECK_EQ(rte_pktmbuf_data_room_size(pools_get(&bench.app->pools, 0)),
		 RTE_MBUF_DEFAULT_BUF_SIZE);
	bench_down(&bench);
	snprintf(text, sizeof(text), ini, "", 9216);
	bench = bench_up(text);
	/* A frame with two VLAN tags fits in one piece. */
	CHECK(pools_frame_room(&bench.app->pools) >= 9216 + 14 + 8);
	CHECK_EQ(bench.app->ports[0].mtu, 9216);
	bench_down(&bench);
	snprintf(text, sizeof(text), ini, "data_bytes = 4224\n", 9216);
	bench = bench_up(text);
	CHECK_EQ(pools_frame_room(&bench.app->pools), 4096);
	bench_down(&bench);
}

static void
test_queues_are_apart(void)
{
	struct bench bench = bench_up("[pool]\nmbufs = 1024\ncache = 0\n"
				      "[port.a]\ndevice = net_ring0\nrx_queues = 2\ntx_queues = 2\n"
				      "spread = peer\n"
				      "[port.b]\ndevice = net_ring1\nrx_queues = 2\ntx_queues = 2\n"
				      "spread = peer\n"
				      "[task.t]\ntype = io\nlcore = 1\nrx = a:0\ntx = b:1\n"
				      "[task.u]\ntype = io\nlcore = 2\nrx = a:1\ntx = b:0\n");
	uint16_t a = bench.app->ports[0].id, b = bench.app->ports[1].id;

	for (uint16_t queue = 0; queue < 2; queue++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pools_get(&bench.app->pools, 0));

		rte_pktmbuf_append(mbuf, 60u + queue);
		CHECK_EQ(rte_eth_tx_burst(a, queue, &mbuf, 1), 1);
		bench_poll(&bench, 1);
		CHECK_EQ(rte_eth_rx_burst(b, queue, &mbuf, 1), 0);
		CHECK_EQ(rte_eth_rx_burst(b, !queue, &mbuf, 1), 1);
		CHECK_EQ(mbuf->pkt_len, 60 + queue);
		rte_pktmbuf_free(mbuf);
	}
	bench_down(&bench);
}

/* net_ring has no RSS, net_null has. */
static void
test_queues_need_somebody_who_spreads(void)
{
	static const char ini[] = "[pool]\nmbufs = 1024\ncache = 0\n"
				  "[port.a]\ndevice = %s\nrx_queues = 2\n%s"
				  "[task.t]\ntype = io\nlcore = 1\nrx = a:0\ntx = a:0\n"
				  "[task.u]\ntype = io\nlcore = 1\nrx = a:1\ntx = a:0\n";
	char text[512];
	struct rte_eth_rss_conf rss = {0};
	struct bench bench;

	snprintf(text, sizeof(text), ini, "net_ring0", "");
	CHECK_EQ(start_refused(text), -EINVAL);
	snprintf(text, sizeof(text), ini, "net_ring0", "spread = rss\n");
	CHECK_EQ(start_refused(text), -EINVAL);
	snprintf(text, sizeof(text), ini, "net_ring0", "spread = peer\n");
	bench = bench_up(text);
	bench_down(&bench);
	snprintf(text, sizeof(text), ini, "net_null0", "");
	bench = bench_up(text);
	CHECK_EQ(rte_eth_dev_rss_hash_conf_get(bench.app->ports[0].id, &rss), 0);
	CHECK(rss.rss_hf != 0);
	/* Nobody spreads the frames of net_null, and they never end: no draining. */
	app_stop(bench.app);
	app_free(bench.app);
	config_free(bench.config);
}

static void
test_counters_since_reset(void)
{
	struct bench bench = bench_up("[pool]\nmbufs = 1024\ncache = 0\n"
				      "[port.a]\ndevice = net_ring0\n"
				      "[port.b]\ndevice = net_ring1\n"
				      "[task.t]\ntype = io\nlcore = 1\nrx = a:0\ntx = b:0\n");
	struct port *port = &bench.app->ports[0];
	struct rte_eth_stats stats;
	uint8_t frame[60] = {0};

	for (unsigned int i = 0; i < 5; i++)
		CHECK(bench_send(&bench, "a", frame, sizeof(frame)));
	bench_poll(&bench, 1);
	CHECK_EQ(port_stats(port, &stats), 0);
	CHECK_EQ(stats.ipackets, 5);
	port_reset(port);
	CHECK_EQ(port_stats(port, &stats), 0);
	CHECK_EQ(stats.ipackets, 0);
	CHECK(bench_send(&bench, "a", frame, sizeof(frame)));
	bench_poll(&bench, 1);
	CHECK_EQ(port_stats(port, &stats), 0);
	CHECK_EQ(stats.ipackets, 1);
	CHECK_EQ(stats.opackets, 1);
	bench_down(&bench);
}

/* A device that was refused half way is gone again: the same name can be used at once. */
static void
test_refused_devices_leave_nothing(void)
{
	for (unsigned int i = 0; i < 2; i++)
		CHECK(start_refused("[pool]\nmbufs = 1024\ncache = 0\n"
				    "[port.p]\ndevice = net_null7\n"
				    "[port.q]\ndevice = net_ring0\nrx_queues = 17\n"
				    "[task.t]\ntype = io\nlcore = 1\nrx = p:0\ntx = p:0\n") < 0);
	CHECK(start_refused("[pool]\nmbufs = 1024\ncache = 0\n"
			    "[port.p]\ndevice = no_such_driver0\n"
			    "[task.t]\ntype = io\nlcore = 1\nrx = p:0\ntx = p:0\n") < 0);
}

int
main(void)
{
	harness_start();
	test_mtu_decides_the_room();
	test_queues_are_apart();
	test_queues_need_somebody_who_spreads();
	test_counters_since_reset();
	test_refused_devices_leave_nothing();
	return 0;
}
