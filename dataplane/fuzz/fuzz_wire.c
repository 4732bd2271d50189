/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a frame of either side: nothing is read or written past their end. The fast
 * path takes exactly the frames that pass the verdict, and makes frames of them that the other
 * direction takes. */
#include <stdlib.h>

#include "bng/arp.h"
#include "bng/pppoe.h"

#define LOCAL_IP 0xc0000201
#define FRAME_MAX 2048
#define KEY 0x7654321

int LLVMFuzzerTestOneInput(const uint8_t *frame, size_t size);

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 0xf1};

static void
require(bool holds)
{
	if (!holds)
		abort();
}

/* A copy of a packet with `room` octets in front, alone in memory so that ASan guards its ends. */
static uint8_t *
copy(const uint8_t *packet, uint32_t octets, uint32_t room)
{
	uint8_t *memory = malloc(room + octets);

	require(memory != NULL);
	memcpy(memory + room, packet, octets);
	return memory;
}

/* Put a subscriber's packet into a tunnel, and take it out again at the far end. */
static void
encapsulated(const uint8_t *ip, uint16_t total)
{
	const struct bng_hop_spec spec = {.tunnel = LOCAL_IP, .label = 1000, .mac = {2}};
	uint8_t *memory = copy(ip, total, BNG_OUTER_ROOM), *frame;
	uint32_t len = BNG_OUTER_MAX + total;
	struct bng_hop hop;
	struct bng_down down;

	bng_hop_build(&hop, &spec, 0xc6336401, mac);
	bng_encapsulate(memory + BNG_OUTER_ROOM, total, &hop, KEY);
	frame = memory + BNG_OUTER_ROOM - hop.header_len;
	down = bng_down_parse(frame, len, LOCAL_IP);
	require(down.fast == (ip[8] > 1) && down.key == KEY && down.total == total);
	require(bng_down_judge(frame, len, LOCAL_IP) == (ip[8] > 1 ? BNG_FORWARD : BNG_TTL));
	free(memory);
}

/* Deliver a packet from a tunnel to a subscriber, with and without PPPoE. */
static void
tagged(const uint8_t *ip, uint16_t total)
{
	const struct bng_cpe_side side = bng_cpe_side(mac, TPID_QINQ);
	const struct bng_host host = {.mac = BNG_HOST_KNOWN,
				      .tags = bng_host_tags(bng_line(7, 42))};
	uint8_t *memory = copy(ip, total, 32), *packet = memory + 32;

	ipv4_age(packet);
	bng_tag(packet, &host, &side);
	require(bng_up_parse(packet - BNG_QINQ_LEN, BNG_QINQ_LEN + total).fast);
	bng_pppoe_tag(packet, total, &host, 9, &side);
	require(bng_pppoe_parse(packet - BNG_PPPOE_IP_AT, BNG_PPPOE_IP_AT + total).fast);
	require(bng_line_of(packet - BNG_PPPOE_IP_AT) == bng_line(7, 42));
	require(bng_session_of(packet - BNG_PPPOE_IP_AT) == 9);
	free(memory);
}

static void
answered(const uint8_t *frame, uint32_t len, uint32_t at)
{
	struct bng_arp ask, answer;
	uint8_t *memory;

	if (len < at || !bng_arp_read(&ask, frame + at, len - at))
		return;
	require((ask.sender_mac[0] & 1) == 0);
	memory = copy(frame, len, 0);
	bng_arp_answer(memory, memory + at, mac);
	require(bng_arp_read(&answer, memory + at, len - at) && !answer.request);
	require(answer.sender_ip == ask.target_ip && answer.target_ip == ask.sender_ip);
	require(memcmp(memory, ask.sender_mac, 6) == 0);
	free(memory);
}

static void
check(const uint8_t *frame, uint32_t len)
{
	struct bng_up up = {0}, session = {0};
	struct bng_down down = {0};

	if (len >= BNG_UP_MIN)
		up = bng_up_parse(frame, len);
	require(up.fast == (bng_up_judge(frame, len) == BNG_FORWARD));
	if (len >= BNG_PPPOE_UP_MIN)
		session = bng_pppoe_parse(frame, len);
	require(session.fast == (bng_pppoe_judge(frame, len) == BNG_FORWARD));
	require(!(up.fast && session.fast));
	if (len >= BNG_ETH_LEN && bng_down_has_headers(frame, len))
		down = bng_down_parse(frame, len, LOCAL_IP);
	require(down.fast == (bng_down_judge(frame, len, LOCAL_IP) == BNG_FORWARD));
	if (up.fast)
		encapsulated(frame + BNG_QINQ_LEN, up.total);
	if (session.fast)
		encapsulated(frame + BNG_PPPOE_IP_AT, session.total);
	if (down.fast)
		tagged(frame + down.inner_at, down.total);
	answered(frame, len, BNG_ETH_LEN);
	answered(frame, len, BNG_QINQ_LEN);
}

/* Chance alone finds no checksum: make the one of a header here right. */
static void
repair(uint8_t *frame, uint32_t len, uint32_t at)
{
	if (len < at + IPV4_LEN)
		return;
	be16_store(frame + at + 10, 0);
	be16_store(frame + at + 10, checksum_finish(checksum_add(0, frame + at, IPV4_LEN)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *frame, size_t size)
{
	static const uint32_t headers[][2] = {
		{BNG_QINQ_LEN}, {BNG_PPPOE_IP_AT}, {14, 42}, {18, 46}};
	uint32_t len = (uint32_t)size;

	if (size > FRAME_MAX)
		return 0;
	check(frame, len);
	for (unsigned int i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		uint8_t *repaired = copy(frame, len, 0);

		repair(repaired, len, headers[i][0]);
		if (headers[i][1] > 0)
			repair(repaired, len, headers[i][1]);
		check(repaired, len);
		free(repaired);
	}
	return 0;
}
