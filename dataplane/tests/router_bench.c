/* SPDX-License-Identifier: Apache-2.0 */
#include "router_bench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pktlib/bytes.h"
#include "pktlib/checksum.h"

#define OURS "\2\0\0\0\0\x99"

static const char routes[] = "wirespeed-routes 1\n"
			     "hop 1 0 02:00:00:00:00:0a 02:00:00:00:00:1a 1500\n"
			     "hop 2 1 02:00:00:00:00:0b 02:00:00:00:00:1b\n"
			     "hop 3 0 02:00:00:00:00:0a 02:00:00:00:00:1c\n"
			     "hop 4 blackhole\n"
			     "hop 5 local\n"
			     "hop 6 neighbour\n"
			     "hop 7 0 02:00:00:00:00:0a 02:00:00:00:00:1a 68\n"
			     "group 20 1 2 3\n"
			     "route 10.0.0.0/8 1\n"
			     "route 10.1.0.0/16 2\n"
			     "route 10.4.0.0/16 4\n"
			     "route 10.5.0.1/32 5\n"
			     "route 10.6.0.0/16 6\n"
			     "route 10.7.0.0/16 7\n"
			     "route 10.20.0.0/16 20\n"
			     "route 2400::/32 1\n"
			     "route 2400:5::1/128 5\n"
			     "route 2400:20::/32 20\n";

struct bench
router_up(const char *keys)
{
	char path[] = "/tmp/wsdp-router-XXXXXX", ini[1024];
	struct bench bench;

	harness_file(path, routes);
	snprintf(
		ini, sizeof(ini),
		"[pool]\nmbufs = 4096\ncache = 0\n[port.in]\ndevice = net_ring0\n"
		"[port.a]\ndevice = net_ring1\n[port.b]\ndevice = net_ring2\n"
		"[port.h]\ndevice = net_ring3\n"
		"[task.r]\ntype = router\nlcore = 1\nrx = in:0\ntx = a:0, b:0, h:0\nroutes = %s\n%s",
		path, keys);
	bench = bench_up(ini);
	unlink(path);
	return bench;
}

void
router_sum_up(uint8_t *frame)
{
	uint8_t *ip = frame + 14;

	be16_store(ip + 10, 0);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
}

void
router_make_arp(uint8_t *frame)
{
	memset(frame, 0, V4_LEN);
	memset(frame, 0xff, 6);
	be16_store(frame + 12, 0x0806);
}

void
router_make_v4(uint8_t *frame, uint32_t destination, uint16_t port)
{
	uint8_t *ip = frame + 14;

	memset(frame, 0, V4_LEN);
	memcpy(frame, OURS, 6);
	be16_store(frame + 12, 0x0800);
	ip[0] = 0x45;
	be16_store(ip + 2, V4_LEN - 14);
	ip[8] = 64;
	ip[9] = 17;
	be32_store(ip + 12, 0xc6120001);
	be32_store(ip + 16, destination);
	be16_store(ip + 20, port);
	router_sum_up(frame);
}

void
router_make_v6(uint8_t *frame, const char *destination, uint16_t port)
{
	memset(frame, 0, V6_LEN);
	memcpy(frame, OURS, 6);
	be16_store(frame + 12, 0x86dd);
	frame[14] = 0x60;
	be16_store(frame + 18, V6_LEN - 54);
	frame[20] = 17;
	frame[21] = 64;
	memcpy(frame + 22, "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	memcpy(frame + 38, destination, 16);
	be16_store(frame + 54, port);
}

const char *
router_way(struct bench *bench, const uint8_t *frame, uint16_t length, uint8_t *received)
{
	static const char *const ports[] = {"a", "b", "h"};

	CHECK(bench_send(bench, "in", frame, length));
	bench_poll(bench, 1);
	for (unsigned int i = 0; i < 3; i++)
		if (bench_receive(bench, ports[i], received, 128) == length)
			return ports[i];
	return NULL;
}

void
router_check_way(struct bench *bench, const uint8_t *frame, uint16_t length, const char *port)
{
	uint8_t received[128];
	const char *way = router_way(bench, frame, length, received);

	CHECK(way != NULL && strcmp(way, port) == 0);
}
