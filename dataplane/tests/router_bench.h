/* SPDX-License-Identifier: Apache-2.0 */
/* A router with ports a, b, and h, where its host is, and the frames that it routes. */
#ifndef TESTS_ROUTER_BENCH_H
#define TESTS_ROUTER_BENCH_H

#include "figures.h"

#define V4_LEN 60
#define V6_LEN 74
/* Addresses of the routes that most tests use, by what their hop is. */
#define TO_PORT_A 0x0a000001
#define TO_PORT_B 0x0a010001
#define TO_BLACKHOLE 0x0a040001
#define TO_HOST 0x0a050001
#define TO_NEIGHBOUR 0x0a060001
#define TO_MTU_68 0x0a070001
#define TO_GROUP 0x0a140001
#define TO_NOWHERE 0x0b000001
#define INI_MAC "mac = 02:00:00:00:00:99\n"

/* Bring it up with further keys. */
struct bench router_up(const char *keys);

/* UDP packets to an address, of V4_LEN and V6_LEN octets. */
void router_make_v4(uint8_t *frame, uint32_t destination, uint16_t port);
void router_make_v6(uint8_t *frame, const char *destination, uint16_t port);
/* ARP of V4_LEN octets. */
void router_make_arp(uint8_t *frame);
/* Make the IPv4 header's checksum right. */
void router_sum_up(uint8_t *frame);

/* Send it; return the port that it leaves by, NULL if none. */
const char *
router_way(struct bench *bench, const uint8_t *frame, uint16_t length, uint8_t *received);
void router_check_way(struct bench *bench, const uint8_t *frame, uint16_t length, const char *port);

#endif
