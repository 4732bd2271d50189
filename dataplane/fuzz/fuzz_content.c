/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a frame that left a gateway: nothing is read past their end. A frame as sent
 * is good; the same frame with any bit of its headers flipped is not. */
#include <stdlib.h>
#include <string.h>

#include "bng/content.h"
#include "bng/offer.h"

#define USERS 5
#define ROUTES 3
#define PACKET 46 /* just room for a stamp */

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size);

/* Specs of both directions, downstream odd; the second two with PPPoE. */
static struct {
	struct bng_script script;
	struct bng_offer offer;
} ways[4];

static void
require(bool holds)
{
	if (!holds)
		abort();
}

/* One hop with a label and one without. */
static void
build(void)
{
	static struct bng_hop_entry hops[] = {
		{0, {.tunnel = 0xc6336401, .label = 1000, .mac = {2, 0, 0, 0, 16, 0}}},
		{1, {.tunnel = 0xc6336402, .label = BNG_NO_LABEL, .mac = {2, 0, 0, 0, 16, 1}}},
	};
	static struct bng_route_entry routes[ROUTES] = {
		{0x14000000, 8, 0}, {0x14010000, 16, 1}, {0x1e000000, 24, 0}};
	static struct bng_user_entry users[USERS];
	const struct bng_table_file file = {hops, routes, users, 2, ROUTES, USERS};
	struct fault why;

	for (unsigned int way = 0; way < 4; way++) {
		struct bng_script_spec spec = {.upstream = (way & 1) == 0,
					       .pppoe = (way & 2) != 0,
					       .local_ip = 0xc0000201,
					       .tpid = TPID_QINQ,
					       .gateway_mac = {2, 0, 0, 0, 0, 0xf1},
					       .inet_mac = {2, 0, 0, 0, 0, 0xf2}};

		for (uint32_t i = 0; i < USERS; i++)
			users[i] = (struct bng_user_entry){.line = 0x7064 + i,
							   .key = 5000 + i,
							   .session = spec.pppoe ? i + 9 : 0};
		require(bng_script_check(&spec, &file, &why) == 0);
		require(bng_script_build(&ways[way].script, &spec, &file, &bng_heap) == 0);
		require(bng_offer_build(&ways[way].offer, &ways[way].script) == 0);
	}
}

static enum bng_content
judged(const struct bng_content_rule *rule, const uint8_t *frame, uint32_t len)
{
	struct bng_content_seen seen;

	return bng_content_find(rule, frame, len, &seen)
		       ? bng_content_judge(rule, frame, len, &seen)
		       : BNG_CONTENT_FOREIGN;
}

static void
judge_anything(const uint8_t *octets, size_t size)
{
	size_t kept = size < BNG_CONTENT_READS ? size : BNG_CONTENT_READS;
	uint8_t *frame = malloc(kept + 1);

	require(frame != NULL);
	/* Right up to the end of what is allocated. */
	memcpy(frame + 1, octets, kept);
	for (unsigned int i = 0; i < 8; i++) {
		const struct bng_content_rule rule = {&ways[i & 3].script, i >= 4, 0};

		(void)judged(&rule, frame + 1, (uint32_t)size);
	}
	free(frame);
}

static void
exchange_a_bit(const uint8_t choice[6], unsigned int way)
{
	static uint8_t template[FRAME_ROOM(PACKET)] __attribute__((aligned(64)));
	const struct bng_content_rule rule = {&ways[way].script, false, 0};
	uint8_t frame[BNG_OFFER_ROOM(PACKET)];
	struct bng_offer_packet packet;
	uint32_t len, headers, bit;
	bool mpls;

	bng_offer_packet_build(&packet, PACKET, true, template);
	len = bng_offer_write(&ways[way].offer, frame, &packet, choice[0] % USERS,
			      be16_load(choice + 1), 0, 0, (way & 1) == 0);
	require(judged(&rule, frame, len) == BNG_CONTENT_RIGHT);
	headers = len - (PACKET - BNG_SCRIPT_PACKET_MIN);
	bit = be16_load(choice + 3) % (headers * 8);
	mpls = be16_load(frame + 12) == ETH_TYPE_MPLS;
	if (mpls && bit / 8 == 17)
		return; /* the label's own TTL is the sender's to choose */
	frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
	require(judged(&rule, frame, len) != BNG_CONTENT_RIGHT);
}

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	if (ways[0].offer.outers == NULL)
		build();
	if (size > UINT16_MAX)
		return 0;
	judge_anything(octets, size);
	if (size >= 6)
		exchange_a_bit(octets, octets[5] & 3);
	return 0;
}
