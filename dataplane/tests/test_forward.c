/* SPDX-License-Identifier: Apache-2.0 */
/* io, mac and macswap: frames in, frames out, compared octet by octet. */
#include <string.h>

#include "harness.h"

#define JUMBO_BYTES 9212 /* 9216 with FCS */

/* Every octet of every frame differs from its neighbours', so that nothing can hide. */
static void
fill(uint8_t *octets, uint32_t length, uint8_t seed)
{
	for (uint32_t i = 0; i < length; i++)
		octets[i] = (uint8_t)(seed + i * 7 + i / 251);
}

static struct bench
forwarder(const char *type, const char *keys)
{
	char ini[1024];

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 1024\ncache = 0\n"
		 "[port.in]\ndevice = net_ring0\nmtu = 9198\n"
		 "[port.out]\ndevice = net_ring1\nmtu = 9198\n"
		 "[task.fwd]\ntype = %s\nlcore = 1\nrx = in:0\ntx = out:0\n%s",
		 type, keys);
	return bench_up(ini);
}

/* Send frames of every size, expect them with their first `changed` octets as `expect` says. */
static void
check_sizes(struct bench *bench, void (*expect)(uint8_t *octets))
{
	static const uint16_t sizes[] = {14, 60, 61, 64, 1500, 1514, 9000, JUMBO_BYTES};
	static uint8_t sent[JUMBO_BYTES], received[JUMBO_BYTES];
	uint64_t octets = 0;

	for (uint8_t i = 0; i < RTE_DIM(sizes); i++) {
		fill(sent, sizes[i], i);
		CHECK(bench_send(bench, "in", sent, sizes[i]));
		octets += sizes[i] + RTE_ETHER_CRC_LEN;
	}
	bench_poll(bench, 1);
	for (uint8_t i = 0; i < RTE_DIM(sizes); i++) {
		fill(sent, sizes[i], i);
		expect(sent);
		CHECK_EQ(bench_receive(bench, "out", received, sizeof(received)), sizes[i]);
		CHECK(memcmp(sent, received, sizes[i]) == 0);
	}
	CHECK_EQ(bench_receive(bench, "out", received, sizeof(received)), 0);
	CHECK_EQ(bench_task(bench, "fwd")->stats.rx, RTE_DIM(sizes));
	CHECK_EQ(bench_task(bench, "fwd")->stats.tx, RTE_DIM(sizes));
	CHECK_EQ(bench_task(bench, "fwd")->stats.rx_bytes, octets);
	CHECK_EQ(bench_task(bench, "fwd")->stats.tx_bytes, octets);
	check_closes(&bench_task(bench, "fwd")->stats);
}

static void
unchanged(uint8_t *octets __rte_unused)
{
}

static void
swapped(uint8_t *octets)
{
	uint8_t source[RTE_ETHER_ADDR_LEN];

	memcpy(source, octets + 6, 6);
	memmove(octets + 6, octets, 6);
	memcpy(octets, source, 6);
}

static void
new_destination(uint8_t *octets)
{
	memcpy(octets, "\x02\x00\x00\x00\x00\x0a", 6);
}

static void
new_both(uint8_t *octets)
{
	memcpy(octets, "\x02\x00\x00\x00\x00\x0a\x02\x00\x00\x00\x00\x0b", 12);
}

static void
test_contents(void)
{
	struct bench bench = forwarder("io", "");

	check_sizes(&bench, unchanged);
	bench_down(&bench);
	bench = forwarder("macswap", "");
	check_sizes(&bench, swapped);
	bench_down(&bench);
	bench = forwarder("mac", "dst_mac = 02:00:00:00:00:0a\n");
	check_sizes(&bench, new_destination);
	bench_down(&bench);
	bench = forwarder("mac", "dst_mac = 02:00:00:00:00:0a\nsrc_mac = 02:00:00:00:00:0b\n");
	check_sizes(&bench, new_both);
	bench_down(&bench);
}

/* A frame without room for a MAC header is dropped and counted; its neighbours pass in order. */
static void
test_runts(void)
{
	uint8_t sent[60], received[60];
	struct bench bench = forwarder("macswap", "");

	for (uint8_t i = 0; i < 5; i++) {
		fill(sent, sizeof(sent), i);
		CHECK(bench_send(&bench, "in", sent, i % 2 == 0 ? 60 : 13));
	}
	bench_poll(&bench, 1);
	for (uint8_t i = 0; i < 5; i += 2) {
		fill(sent, sizeof(sent), i);
		swapped(sent);
		CHECK_EQ(bench_receive(&bench, "out", received, sizeof(received)), 60);
		CHECK(memcmp(sent, received, 60) == 0);
	}
	CHECK_EQ(bench_task(&bench, "fwd")->stats.discard, 2);
	CHECK_EQ(bench_task(&bench, "fwd")->stats.tx, 3);
	check_closes(&bench_task(&bench, "fwd")->stats);
	bench_down(&bench);
}

/* More than the outgoing ring holds: what does not fit is counted, freed, and the sum closes. */
static void
test_output_full(void)
{
	struct bench bench =
		bench_up("[pool]\nmbufs = 1024\ncache = 0\n"
			 "[port.in]\ndevice = net_ring0\n"
			 "[port.out]\ndevice = net_ring1\n"
			 "[task.a]\ntype = io\nlcore = 1\nrx = in:0\ntx = ring:r\n"
			 /* b is on another lcore, which does not run until the end of the test. */
			 "[task.b]\ntype = io\nlcore = 2\nrx = ring:r\ntx = out:0\n"
			 "[ring.r]\nsize = 100\n");
	const struct task_stats *stats = &bench_task(&bench, "a")->stats;
	uint8_t frame[60] = {0};

	for (unsigned int i = 0; i < 150; i++)
		CHECK(bench_send(&bench, "in", frame, sizeof(frame)));
	for (unsigned int round = 0; round < 5; round++)
		lcore_round(bench.app->lcores[0]);
	CHECK_EQ(stats->rx, 150);
	CHECK_EQ(stats->tx, 100);
	CHECK_EQ(stats->tx_fail, 50);
	CHECK_EQ(stats->tx_bytes, 100 * 64);
	check_closes(stats);
	bench_poll(&bench, 5);
	CHECK_EQ(bench_task(&bench, "b")->stats.rx, 100);
	CHECK_EQ(bench_drain(&bench, "out"), 100);
	bench_down(&bench);
}

/* One task may read several inputs: all are polled in every round, and order is kept in each. */
static void
test_many_inputs(void)
{
	struct bench bench =
		bench_up("[pool]\nmbufs = 1024\ncache = 0\n"
			 "[port.a]\ndevice = net_ring0\n[port.b]\ndevice = net_ring1\n"
			 "[port.out]\ndevice = net_ring2\n"
			 "[task.fwd]\ntype = io\nlcore = 1\nrx = a:0, b:0\ntx = out:0\n");
	uint8_t frame[60] = {0}, received[60];

	for (frame[0] = 0; frame[0] < 2; frame[0]++) {
		frame[1] = 'a';
		CHECK(bench_send(&bench, "a", frame, sizeof(frame)));
		frame[1] = 'b';
		CHECK(bench_send(&bench, "b", frame, sizeof(frame)));
	}
	bench_poll(&bench, 1);
	for (const char *expected = "a0a1b0b1"; *expected != '\0'; expected += 2) {
		CHECK_EQ(bench_receive(&bench, "out", received, sizeof(received)), 60);
		CHECK_EQ(received[1], expected[0]);
		CHECK_EQ(received[0], expected[1] - '0');
	}
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_contents();
	test_runts();
	test_output_full();
	test_many_inputs();
	return 0;
}
