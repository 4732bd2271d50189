/* SPDX-License-Identifier: Apache-2.0 */
/* Check a gateway of eight workers in one process. Both directions of a subscriber meet the same
 * worker, loads are even, counters close under overload, and updates do not affect others. */
#include <string.h>

#include "core/mailbox.h"
#include "harness.h"
#include "pktlib/bng/wire.h"
#include "pktlib/checksum.h"

#define WORKERS 8
#define USERS 4096
#define FRAMES 32768
#define LOCAL_IP 0xc0000201
#define HOST_IP 0x0a000007

static char tables[] = "/tmp/wsdp-bng-XXXXXX";

/* User i has tags 1.i and a key that is scattered over all workers. */
static uint32_t
key_of(uint32_t i)
{
	return (i * 2654435761u) >> 4;
}

static void
write_tables(void)
{
	int fd = mkstemp(tables);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	CHECK(file != NULL);
	fputs("wirespeed-bng-tables 1\nhop 0 198.51.100.1 100 02:00:00:00:10:00 0\n"
	      "route 0.0.0.0/0 0\n",
	      file);
	for (uint32_t i = 0; i < USERS; i++)
		fprintf(file, "user 1 %u %u 0 10.0.0.7 02:00:00:00:00:07\n", i, key_of(i));
	CHECK_EQ(fclose(file), 0);
}

static struct bench
gateway(uint32_t inet_ring)
{
	static char ini[16384];
	size_t at = (size_t)sprintf(
		ini,
		"[pool]\nmbufs = 8192\ncache = 0\n[port.cpe]\ndevice = net_ring0\n"
		"[port.inet]\ndevice = net_ring1\n[port.cpe_to]\ndevice = net_ring2\n"
		"[port.inet_to]\ndevice = net_ring3\n[ring.cpe_out]\nsize = 4096\n[ring.inet_out]\nsize = %u\n"
		"[task.agg_cpe]\ntype = aggregate\nlcore = 2\nrx = ring:cpe_out\ntx = cpe_to:0\n"
		"[task.agg_inet]\ntype = aggregate\nlcore = 2\nrx = ring:inet_out\ntx = inet_to:0\n",
		inet_ring);
	const char *sides[] = {"cpe", "inet"};

	for (unsigned int side = 0; side < 2; side++) {
		at += (size_t)sprintf(ini + at,
				      "[task.lb_%s]\ntype = bng_lb_%s\nlcore = 1\nrx = %s:0\n"
				      "%s%s%stx = ",
				      sides[side], sides[side], sides[side],
				      side == 0 ? "tables = " : "", side == 0 ? tables : "",
				      side == 0 ? "\n" : "");
		for (unsigned int i = 0; i < WORKERS; i++)
			at += (size_t)sprintf(ini + at, "%sring:%s%u", i == 0 ? "" : ", ",
					      sides[side], i);
		at += (size_t)sprintf(ini + at, "\n");
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		at += (size_t)sprintf(
			ini + at,
			"[ring.cpe%u]\n[ring.inet%u]\n"
			"[task.up%u]\ntype = bng_up\nlcore = 1\nrx = ring:cpe%u\ntx = ring:inet_out\n"
			"workers = 8\nworker = %u\ntables = %s\nlocal_ip = 192.0.2.1\n"
			"gateway_ip = 10.0.0.1\ngateway_mac = 02:00:00:00:00:f1\n"
			"inet_mac = 02:00:00:00:00:f2\nroom_users = 64\n"
			"[task.down%u]\ntype = bng_down\nlcore = 1\nrx = ring:inet%u\n"
			"tx = ring:cpe_out\nworkers = 8\nworker = %u\ntables = %s\n"
			"local_ip = 192.0.2.1\ngateway_mac = 02:00:00:00:00:f1\n"
			"inet_mac = 02:00:00:00:00:f2\nroom_users = 64\n",
			i, i, i, i, i, tables, i, i, i, tables);
	return bench_up(ini);
}

static void
put_ip(uint8_t *ip)
{
	memset(ip, 0, 28);
	ip[0] = IPV4_NO_OPTIONS;
	be16_store(ip + 2, 28);
	ip[8] = 64;
	ip[9] = IP_PROTO_UDP;
	be32_store(ip + 12, HOST_IP);
	be32_store(ip + 16, HOST_IP);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
}

static bool
send_up(struct bench *bench, uint32_t cvid)
{
	uint8_t frame[60] = {2, 0, 0, 0, 0, 0xf1, 2, 0, 0, 0, 0, 7, 0x88, 0xa8, 0, 1, 0x81, 0};

	be16_store(frame + 18, (uint16_t)cvid);
	be16_store(frame + 20, ETH_TYPE_IPV4);
	put_ip(frame + 22);
	return bench_send(bench, "cpe", frame, sizeof(frame));
}

static bool
send_down(struct bench *bench, uint32_t key)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x10, 0};
	const struct bng_hop_spec spec = {.tunnel = LOCAL_IP, .label = 100};
	uint8_t frame[BNG_OUTER_ROOM + 28];
	struct bng_hop hop;

	bng_hop_build(&hop, &spec, 0xc6336401, mac);
	put_ip(frame + BNG_OUTER_ROOM);
	bng_encapsulate(frame + BNG_OUTER_ROOM, 28, &hop, key);
	return bench_send(bench, "inet", frame + BNG_OUTER_ROOM - BNG_OUTER_MAX,
			  BNG_OUTER_MAX + 28);
}

static const struct task_stats *
stats_of(struct bench *bench, const char *kind, unsigned int i)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%u", kind, i);
	return &bench_task(bench, name)->stats;
}

/* Frames of random subscribers, each way: every one leaves, so it met its worker's own tables. */
static void
test_balance(void)
{
	struct bench bench = gateway(4096);
	uint64_t state = 5;

	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t user;

		/* xorshift64: the same in every run */
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		user = (uint32_t)(state >> 20) % USERS;
		CHECK(send_up(&bench, user));
		CHECK(send_down(&bench, key_of(user)));
		if (i % 32 != 31)
			continue;
		bench_poll(&bench, 4);
		CHECK_EQ(bench_drain(&bench, "inet_to"), 32);
		CHECK_EQ(bench_drain(&bench, "cpe_to"), 32);
	}
	for (unsigned int i = 0; i < WORKERS; i++) {
		const struct task_stats *up = stats_of(&bench, "up", i);
		const struct task_stats *down = stats_of(&bench, "down", i);

		CHECK_EQ(up->rx, down->rx);
		CHECK_EQ(up->tx, up->rx);
		CHECK_EQ(down->tx, down->rx);
		/* Within 5 % of an even share. */
		CHECK(up->rx * WORKERS * 20 >= FRAMES * 19);
		CHECK(up->rx * WORKERS * 20 <= FRAMES * 21);
	}
	bench_down(&bench);
}

/* More than the ring to the network takes: every task closes after every round, nothing leaks. */
static void
test_overload(void)
{
	static const char *const names[] = {"lb_cpe", "lb_inet", "agg_cpe", "agg_inet"};
	struct bench bench = gateway(16);
	uint64_t failed = 0, out = 0;

	for (uint32_t i = 0; i < USERS; i++) {
		CHECK(send_up(&bench, i));
		if (i % 64 != 63)
			continue;
		lcore_round(bench.app->lcores[1]);
		lcore_round(bench.app->lcores[1]);
		for (unsigned int j = 0; j < WORKERS; j++) {
			check_closes(stats_of(&bench, "up", j));
			check_closes(stats_of(&bench, "down", j));
		}
		for (unsigned int j = 0; j < RTE_DIM(names); j++)
			check_closes(&bench_task(&bench, names[j])->stats);
		bench_poll(&bench, 1);
		out += bench_drain(&bench, "inet_to");
	}
	bench_poll(&bench, 4);
	out += bench_drain(&bench, "inet_to");
	for (unsigned int i = 0; i < WORKERS; i++)
		failed += stats_of(&bench, "up", i)->tx_fail;
	CHECK(failed > 0);
	CHECK_EQ(out + failed, USERS);
	bench_down(&bench);
}

static void
set(struct bench *bench, const char *name, const char *args)
{
	struct task *task = bench_task(bench, name);

	CHECK_EQ((uint64_t)(int64_t)task->ops->control(task, "set", args), 0);
}

/* Subscribers and routes come and go between bursts of one that is not concerned: it loses none. */
static void
test_updates(void)
{
	struct bench bench = gateway(4096);
	char name[16], args[160];

	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t key = 400 + i * WORKERS, worker = key % WORKERS;

		snprintf(name, sizeof(name), "up%u", worker);
		snprintf(args, sizeof(args), "user=2 %u %u 0,route=20.0.%u.0/24 0", i, key,
			 i % 256);
		set(&bench, name, args);
		snprintf(args, sizeof(args), "user=2 %u %u 0", i, key);
		set(&bench, "lb_cpe", args);
		CHECK(send_up(&bench, 5));
		CHECK(send_down(&bench, key_of(5)));
		bench_poll(&bench, 4);
		CHECK_EQ(bench_drain(&bench, "inet_to"), 1);
		CHECK_EQ(bench_drain(&bench, "cpe_to"), 1);
		snprintf(args, sizeof(args), "no_user=2 %u %u,no_route=20.0.%u.0/24", i, key,
			 i % 256);
		set(&bench, name, args);
		snprintf(args, sizeof(args), "no_user=2 %u %u", i, key);
		set(&bench, "lb_cpe", args);
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		CHECK_EQ(stats_of(&bench, "up", i)->discard + stats_of(&bench, "down", i)->discard,
			 0);
	bench_down(&bench);
}

/* Frames that no worker knows are dropped in front of the workers. */
static void
test_unknown(void)
{
	struct bench bench = gateway(4096);
	uint8_t runt[20] = {0};

	CHECK(send_up(&bench, 4095));
	CHECK(bench_send(&bench, "cpe", runt, sizeof(runt)));
	CHECK(bench_send(&bench, "inet", runt, sizeof(runt)));
	bench_poll(&bench, 4);
	CHECK_EQ(bench_task(&bench, "lb_cpe")->stats.tx, 1);
	CHECK_EQ(bench_task(&bench, "lb_cpe")->stats.discard, 1);
	CHECK_EQ(stats_of(&bench, "down", 0)->discard, 1);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	write_tables();
	test_balance();
	test_overload();
	test_updates();
	test_unknown();
	CHECK_EQ(remove(tables), 0);
	return 0;
}
