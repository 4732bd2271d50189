/* SPDX-License-Identifier: Apache-2.0 */
/* l3fwd: which way a frame goes, what is rewritten, and which cause every drop has. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tasks/l3fwd_tables.h"
#include "figures.h"
#include "pktlib/bytes.h"
#include "pktlib/checksum.h"

#define V4_LEN 60
#define V6_LEN 74

static const char routes[] = "wirespeed-routes 1\n"
			     "hop 1 0 02:00:00:00:00:0a 02:00:00:00:00:1a\n"
			     "hop 9 1 02:00:00:00:00:0b 02:00:00:00:00:1b\n"
			     "route 10.0.0.0/8 1\n"
			     "route 10.1.2.0/25 9\n"
			     "route 10.1.2.3/32 1\n"
			     "route 2001:2::/48 1\n"
			     "route 2001:2:0:8000::/49 9\n";

static struct bench
router(const char *outputs)
{
	char path[] = "/tmp/wsdp-l3fwd-XXXXXX", ini[1024];
	struct bench bench;

	harness_file(path, routes);
	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 1024\ncache = 0\n[port.in]\ndevice = net_ring0\n"
		 "[port.a]\ndevice = net_ring1\n[port.b]\ndevice = net_ring2\n"
		 "[task.r]\ntype = l3fwd\nlcore = 1\nrx = in:0\ntx = %s\nroutes = %s\n",
		 outputs, path);
	bench = bench_up(ini);
	unlink(path);
	return bench;
}

/* A frame of minimum size to this address. */
static void
make_v4(uint8_t *frame, uint32_t destination, uint8_t ttl)
{
	uint8_t *ip = frame + 14;

	memset(frame, 0, V4_LEN);
	memset(frame, 0x22, 12);
	be16_store(frame + 12, 0x0800);
	ip[0] = 0x45;
	be16_store(ip + 2, V4_LEN - 14);
	ip[8] = ttl;
	ip[9] = 17;
	be32_store(ip + 12, 0xc6120001);
	be32_store(ip + 16, destination);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
}

static void
make_v6(uint8_t *frame, const char *destination, uint8_t hop_limit)
{
	memset(frame, 0, V6_LEN);
	memset(frame, 0x22, 12);
	be16_store(frame + 12, 0x86dd);
	frame[14] = 0x60;
	be16_store(frame + 18, V6_LEN - 54);
	frame[20] = 17;
	frame[21] = hop_limit;
	memcpy(frame + 38, destination, 16);
}

/* Send it; expect it at this port with these addresses, one TTL less and a right checksum. */
static void
check_leaves(struct bench *bench, const uint8_t *sent, uint16_t length, const char *port,
	     const char *macs)
{
	uint8_t expected[V6_LEN], received[V6_LEN];

	CHECK(bench_send(bench, "in", sent, length));
	bench_poll(bench, 1);
	CHECK_EQ(bench_receive(bench, port, received, sizeof(received)), length);
	memcpy(expected, sent, length);
	memcpy(expected, macs, 12);
	if (expected[14] == 0x45) {
		expected[22]--;
		be16_store(expected + 24, 0);
		be16_store(expected + 24, checksum_finish(checksum_add(0, expected + 14, 20)));
	} else {
		expected[21]--;
	}
	CHECK(memcmp(received, expected, length) == 0);
}

static const char to_a[] = "\2\0\0\0\0\x1a\2\0\0\0\0\x0a", to_b[] = "\2\0\0\0\0\x1b\2\0\0\0\0\x0b";

static void
test_ways(void)
{
	struct bench bench = router("a:0, b:0");
	uint8_t frame[V6_LEN];

	/* The longest prefix wins, with every TTL that there is: all carries of the checksum. */
	for (unsigned int ttl = 2; ttl < 256; ttl++) {
		make_v4(frame, 0x0a010280, (uint8_t)ttl);
		check_leaves(&bench, frame, V4_LEN, "a", to_a);
		make_v4(frame, 0x0a01027f, (uint8_t)ttl);
		check_leaves(&bench, frame, V4_LEN, "b", to_b);
	}
	make_v4(frame, 0x0a010203, 64);
	check_leaves(&bench, frame, V4_LEN, "a", to_a);
	make_v6(frame, "\x20\x01\0\2\0\0\x7f\xff\0\0\0\0\0\0\0\1", 64);
	check_leaves(&bench, frame, V6_LEN, "a", to_a);
	make_v6(frame, "\x20\x01\0\2\0\0\x80\0\0\0\0\0\0\0\0\1", 2);
	check_leaves(&bench, frame, V6_LEN, "b", to_b);
	CHECK_EQ(bench_task(&bench, "r")->stats.discard, 0);
	CHECK_EQ(figure(&bench, "r", "routes"), 5);
	CHECK_EQ(figure(&bench, "r", "hops"), 2);
	check_closes(&bench_task(&bench, "r")->stats);
	bench_down(&bench);
}

/* One burst with everything in it: what passes keeps its order, what does not is counted. */
static void
test_drops(void)
{
	struct bench bench = router("a:0, b:0");
	const struct task_stats *stats = &bench_task(&bench, "r")->stats;
	uint8_t frame[V6_LEN], received[V6_LEN];

	for (uint8_t turn = 0; turn < 2; turn++) {
		make_v4(frame, 0x0a000001, 64);
		frame[59] = turn;
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		make_v4(frame, 0x0b000001, 64); /* no route */
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		make_v6(frame, "\x20\x01\0\3\0\0\0\0\0\0\0\0\0\0\0\1", 64); /* no route */
		CHECK(bench_send(&bench, "in", frame, V6_LEN));
		make_v4(frame, 0x0a000001, 1); /* runs out */
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		make_v6(frame, "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\1", 0); /* has run out */
		CHECK(bench_send(&bench, "in", frame, V6_LEN));
		make_v4(frame, 0x0a000001, 64); /* a wrong checksum */
		frame[25] ^= 1;
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		make_v4(frame, 0x0a000001, 64); /* longer than the frame */
		be16_store(frame + 16, V4_LEN - 13);
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		make_v4(frame, 0x0a000001, 64); /* cut within the header */
		CHECK(bench_send(&bench, "in", frame, 33));
		make_v6(frame, "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\1", 64); /* longer, too */
		CHECK(bench_send(&bench, "in", frame, V6_LEN - 1));
		make_v4(frame, 0x0a000001, 64); /* options */
		frame[14] = 0x46;
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
		be16_store(frame + 12, 0x0806);
		CHECK(bench_send(&bench, "in", frame, V4_LEN)); /* ARP */
		CHECK(bench_send(&bench, "in", frame, 13));     /* no Ethernet header */
		make_v4(frame, 0x0a010201, 64);
		frame[59] = turn;
		CHECK(bench_send(&bench, "in", frame, V4_LEN));
	}
	bench_poll(&bench, 1);
	for (uint8_t turn = 0; turn < 2; turn++) {
		CHECK_EQ(bench_receive(&bench, "a", received, sizeof(received)), V4_LEN);
		CHECK_EQ(received[59], turn);
		CHECK_EQ(bench_receive(&bench, "b", received, sizeof(received)), V4_LEN);
		CHECK_EQ(received[59], turn);
	}
	CHECK_EQ(figure(&bench, "r", "no_route"), 4);
	CHECK_EQ(figure(&bench, "r", "ttl_expired"), 4);
	CHECK_EQ(figure(&bench, "r", "bad_header"), 8);
	CHECK_EQ(figure(&bench, "r", "options"), 2);
	CHECK_EQ(figure(&bench, "r", "not_ip"), 2);
	CHECK_EQ(stats->rx, 26);
	CHECK_EQ(stats->tx, 4);
	CHECK_EQ(stats->discard, 22);
	check_closes(stats);
	bench_task(&bench, "r")->ops->reset(bench_task(&bench, "r"));
	CHECK_EQ(figure(&bench, "r", "no_route"), 0);
	bench_down(&bench);
}

static void
check_fault(const char *keys, const char *says)
{
	char ini[512];

	snprintf(ini, sizeof(ini),
		 "[port.a]\ndevice = net_ring1\n"
		 "[task.r]\ntype = l3fwd\nlcore = 1\nrx = a:0\ntx = a:0\n%s",
		 keys);
	CHECK_EQ(harness_faults(ini, says), 1);
}

static void
test_faults(void)
{
	char path[] = "/tmp/wsdp-l3fwd-XXXXXX", keys[64];
	int fd;

	harness_file(path, routes);
	snprintf(keys, sizeof(keys), "routes = %s\n", path);
	check_fault("", "routes");
	check_fault("routes = /nowhere\n", "/nowhere:0: No such file");
	check_fault(keys, "hop 9 of the routes leaves by port 1; there are 1");
	fd = open(path, O_WRONLY | O_TRUNC);
	CHECK(fd >= 0);
	CHECK(dprintf(fd, "wirespeed-routes 1\nhop 7 local\n") > 0);
	close(fd);
	check_fault(keys, "hop 7 of the routes has a kind or an MTU");
	unlink(path);
}

/* A file that has changed since it was checked is checked again. */
static void
test_changed_file(void)
{
	static const char beyond[] = "wirespeed-routes 1\nhop 1 2 2:0:0:0:0:1 2:0:0:0:0:2\n";
	char path[] = "/tmp/wsdp-l3fwd-XXXXXX";

	harness_file(path, beyond);
	CHECK(l3fwd_tables_get(path, SOCKET_ID_ANY, 2) == NULL);
	unlink(path);
}

int
main(void)
{
	harness_start();
	test_ways();
	test_drops();
	test_faults();
	test_changed_file();
	return 0;
}
