/* SPDX-License-Identifier: Apache-2.0 */
/* router: where frames go, what its host gets of those it cannot forward, and a change of tables. */
#include <string.h>
#include <unistd.h>

#include "pktlib/bytes.h"
#include "router_bench.h"

static void
test_ways(void)
{
	struct bench bench = router_up(INI_MAC);
	uint8_t frame[V6_LEN], received[128];

	router_make_v4(frame, TO_PORT_A, 1);
	CHECK(strcmp(router_way(&bench, frame, V4_LEN, received), "a") == 0);
	CHECK(memcmp(received, "\2\0\0\0\0\x1a\2\0\0\0\0\x0a", 12) == 0);
	CHECK_EQ(received[22], 63);
	router_make_v4(frame, TO_PORT_B, 1);
	router_check_way(&bench, frame, V4_LEN, "b");
	router_make_v6(frame, "\x24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1);
	router_check_way(&bench, frame, V6_LEN, "a");
	CHECK_EQ(figure(&bench, "r", "routes_ipv4"), 7);
	CHECK_EQ(figure(&bench, "r", "routes_ipv6"), 3);
	CHECK_EQ(figure(&bench, "r", "hops"), 7);
	CHECK_EQ(figure(&bench, "r", "groups"), 1);
	CHECK_EQ(figure(&bench, "r", "generation"), 1);
	CHECK(figure(&bench, "r", "tables_bytes") > (UINT64_C(64) << 20));
	CHECK_EQ(bench_task(&bench, "r")->stats.discard, 0);
	bench_down(&bench);
}

/* Frames of one flow go one way, flows use all members about as often. */
static void
test_groups(void)
{
	struct bench bench = router_up("");
	unsigned int by_member[256] = {0};
	uint8_t frame[V6_LEN], received[128], first[12];

	for (uint16_t flow = 0; flow < 3000; flow++) {
		if (flow % 2 == 0)
			router_make_v4(frame, TO_GROUP, flow);
		else
			router_make_v6(frame, "\x24\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\1", flow);
		CHECK(router_way(&bench, frame, flow % 2 == 0 ? V4_LEN : V6_LEN, received) != NULL);
		memcpy(first, received, sizeof(first));
		by_member[first[5]]++;
		CHECK(router_way(&bench, frame, flow % 2 == 0 ? V4_LEN : V6_LEN, received) != NULL);
		CHECK(memcmp(first, received, sizeof(first)) == 0);
	}
	for (unsigned int member = 0x1a; member <= 0x1c; member++)
		CHECK(by_member[member] > 850 && by_member[member] < 1150);
	check_closes(&bench_task(&bench, "r")->stats);
	bench_down(&bench);
}

/* Without a host all of it is dropped, by the same causes; padding is not part of a packet. */
static void
test_no_host(void)
{
	struct bench bench = router_up("");
	uint8_t frame[120] = {0}, received[128];

	router_make_v4(frame, TO_HOST, 1);
	CHECK(router_way(&bench, frame, V4_LEN, received) == NULL);
	router_make_v4(frame, TO_MTU_68, 1);
	be16_store(frame + 16, 106);
	frame[20] = 0x40; /* must not be fragmented */
	router_sum_up(frame);
	CHECK(router_way(&bench, frame, 120, received) == NULL);
	CHECK_EQ(figure(&bench, "r", "local"), 1);
	CHECK_EQ(figure(&bench, "r", "too_big"), 1);
	CHECK_EQ(figure(&bench, "r", "punted_protocol") + figure(&bench, "r", "punted_rest"), 0);
	router_make_v4(frame, TO_MTU_68, 1);
	router_check_way(&bench, frame, 120, "a");
	/* No address of ours was given: any is. */
	router_make_v4(frame, TO_PORT_A, 1);
	frame[5] = 0x98;
	router_check_way(&bench, frame, V4_LEN, "a");
	check_closes(&bench_task(&bench, "r")->stats);
	bench_down(&bench);
}

/* One class uses up its rate, and leaves that of the others alone. */
static void
test_rates(void)
{
	struct bench bench = router_up("punt_tx = 2\npunt_fps = 1\nprotocol_tx = 1\n");
	uint8_t frame[V4_LEN];

	for (unsigned int i = 0; i < 300; i++) {
		router_make_v4(frame, TO_NEIGHBOUR, 1);
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		bench_poll(&bench, 1);
	}
	CHECK_EQ(figure(&bench, "r", "neighbour"), 300);
	CHECK(figure(&bench, "r", "punted_neighbour") >= 256);
	CHECK(figure(&bench, "r", "over_rate_neighbour") > 0);
	CHECK_EQ(figure(&bench, "r", "punted_neighbour"), bench_drain(&bench, "h"));
	router_make_v4(frame, TO_HOST, 1);
	frame[23] = 6; /* TCP to port 179: BGP */
	be16_store(frame + 36, 179);
	router_sum_up(frame);
	router_check_way(&bench, frame, V4_LEN, "b");
	router_make_v4(frame, TO_HOST, 1);
	router_check_way(&bench, frame, V4_LEN, "h");
	router_make_v4(frame, TO_NOWHERE, 1);
	router_check_way(&bench, frame, V4_LEN, "h");
	check_closes(&bench_task(&bench, "r")->stats);
	bench_down(&bench);
}

static void *
build(struct bench *bench, const char *text, char *error, size_t size)
{
	struct task *task = bench_task(bench, "r");
	char path[] = "/tmp/wsdp-router-XXXXXX";
	void *built;

	harness_file(path, text);
	built = task->ops->reload->build(task, path, NULL, error, size);
	unlink(path);
	return built;
}

/* Tables that replace others are in force at once, and a flow whose member stays does not move. */
static void
test_reload(void)
{
	struct bench bench = router_up("");
	struct task *task = bench_task(&bench, "r");
	uint8_t frame[V4_LEN], received[128], members[1000], moved = 0;
	char error[256];
	void *built;

	for (uint16_t flow = 0; flow < 1000; flow++) {
		router_make_v4(frame, TO_GROUP, flow);
		CHECK(router_way(&bench, frame, V4_LEN, received) != NULL);
		members[flow] = received[5];
	}
	/* Member 1 is gone, and hop 2 has another number in the order of the file. */
	built = build(&bench,
		      "wirespeed-routes 1\n"
		      "hop 3 0 02:00:00:00:00:0a 02:00:00:00:00:1c\n"
		      "hop 2 1 02:00:00:00:00:0b 02:00:00:00:00:1b\n"
		      "group 20 3 2\nroute 10.20.0.0/16 20\n",
		      error, sizeof(error));
	CHECK(built != NULL);
	task->ops->reload->exchange(task, built);
	/* The former tables are there until every lcore has answered. */
	CHECK_EQ(figure(&bench, "r", "generation"), 2);
	CHECK_EQ(figure(&bench, "r", "routes_ipv4"), 1);
	task->ops->reload->settle(task);
	for (uint16_t flow = 0; flow < 1000; flow++) {
		router_make_v4(frame, TO_GROUP, flow);
		CHECK(router_way(&bench, frame, V4_LEN, received) != NULL);
		CHECK(received[5] != 0x1a);
		CHECK(members[flow] == 0x1a || members[flow] == received[5]);
		moved |= members[flow] != received[5];
	}
	CHECK_EQ(moved, 1);
	router_make_v4(frame, TO_PORT_A, 1);
	CHECK(router_way(&bench, frame, V4_LEN, received) == NULL);
	CHECK_EQ(figure(&bench, "r", "no_route"), 1);
	bench_down(&bench);
}

static void
test_reload_faults(void)
{
	struct bench bench = router_up("");
	char error[256];

	CHECK(build(&bench, "wirespeed-routes 1\nhop 1\n", error, sizeof(error)) == NULL);
	CHECK(strstr(error, "line 2: a hop is: hop ID PORT") == error);
	CHECK(build(&bench, "wirespeed-routes 1\nhop 1 3 2:0:0:0:0:1 2:0:0:0:0:2\n", error,
		    sizeof(error)) == NULL);
	CHECK(strcmp(error, "hop 1 leaves by port 3; there are 3") == 0);
	CHECK_EQ(figure(&bench, "r", "generation"), 1);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_ways();
	test_groups();
	test_no_host();
	test_rates();
	test_reload();
	test_reload_faults();
	return 0;
}
