/* SPDX-License-Identifier: Apache-2.0 */
/* The frames that subscribers and the network offer a BNG in a test, made from templates.
 *
 * Upstream: Ethernet | S-tag | C-tag | [PPPoE | PPP] | IPv4 | UDP. Downstream: Ethernet | [MPLS] |
 * IPv4 | GRE | IPv4 | UDP. The payload begins with the stamp where there is room, and is zeros otherwise; UDP carries
 * checksum 0, "not computed". An announcement (ARP, RFC 5227) tells the gateway who a subscriber is
 * and asks for nothing.
 */
#ifndef PKTLIB_BNG_OFFER_H
#define PKTLIB_BNG_OFFER_H

#include <stdint.h>
#include <string.h>

#include "../bytes.h"
#include "../checksum.h"
#include "../frame.h"
#include "script.h"

#define BNG_OFFER_CPE_LEN 22
#define BNG_OFFER_PPPOE_LEN 8 /* with PPP */
#define BNG_OFFER_INET_MAX 46
#define BNG_OFFER_OUTER_ROOM 48
/* A frame is written in whole blocks from its inner packet on. */
#define BNG_OFFER_ROOM(packet) (BNG_OFFER_OUTER_ROOM + FRAME_ROOM(packet))

/* An inner packet of one size. */
struct bng_offer_packet {
	uint8_t *octets; /* FRAME_ROOM(total) of them */
	uint64_t sum;    /* of the IPv4 header without identification and addresses */
	uint16_t total;
	bool stamped;
};

/* Headers that one side of the gateway puts in front of the packet. */
struct bng_offer_outer {
	uint8_t octets[BNG_OFFER_OUTER_ROOM]; /* left-aligned */
	uint32_t sum; /* of the outer IPv4 header without its total length */
	uint8_t len;
	uint8_t tunnel_at; /* offset of the outer IPv4 header; 0: there is none */
} __attribute__((aligned(64)));

struct bng_offer {
	const struct bng_script *script;
	struct bng_offer_outer *outers; /* upstream one, downstream one for each hop by its id */
};

/* Build what the script's frames begin with. Returns 0, or -1 when memory is short. */
int bng_offer_build(struct bng_offer *offer, const struct bng_script *script);
void bng_offer_free(struct bng_offer *offer);

/* Make a packet template of `total` octets in `octets`, stamped if it has room and may be. */
void bng_offer_packet_build(struct bng_offer_packet *packet, uint16_t total, bool stamped,
			    uint8_t *octets);

/* Return whether an inner packet of this length has space for a stamp. */
static inline bool
bng_offer_has_stamp(uint16_t total)
{
	return total >= BNG_SCRIPT_PACKET_MIN + STAMP_BYTES;
}

/* Write the frame of a flow. Returns its length without FCS. */
static inline __attribute__((always_inline)) uint16_t
bng_offer_write(const struct bng_offer *offer, uint8_t *to, const struct bng_offer_packet *packet,
		uint32_t flow, uint16_t number, uint64_t identity, uint64_t moment, bool upstream)
{
	const struct bng_script_user *user = &offer->script->users[flow];
	const struct bng_script_peer *peer = bng_script_peer(offer->script, flow, number);
	const struct bng_offer_outer *outer = &offer->outers[upstream ? 0 : peer->hop];
	uint32_t src = upstream ? user->ip : peer->ip;
	uint32_t dst = upstream ? peer->ip : user->ip;
	uint16_t len = (uint16_t)(outer->len + packet->total);
	uint8_t *ip = to + outer->len;
	uint64_t sum = packet->sum + number + (src >> 16) + (src & UINT16_MAX) + (dst >> 16) +
		       (dst & UINT16_MAX);

	memcpy(to, outer->octets, BNG_OFFER_OUTER_ROOM);
	frame_copy(ip, packet->octets, packet->total);
	if (upstream) {
		memcpy(to + 6, user->mac, 6);
		be16_store(to + 14, (uint16_t)(user->line >> 12));
		be16_store(to + 18, user->line & 0x0fff);
		if (user->session != 0) {
			be16_store(to + 24, user->session);
			be16_store(to + 26, (uint16_t)(packet->total + 2));
		}
	} else {
		uint32_t total = packet->total + 28u;

		be16_store(to + outer->tunnel_at + 2, (uint16_t)total);
		be16_store(to + outer->tunnel_at + 10, checksum_finish(outer->sum + total));
		be32_store(ip - 4, user->key);
	}
	be16_store(ip + 4, number);
	be16_store(ip + 10, checksum_finish(sum));
	be32_store(ip + 12, src);
	be32_store(ip + 16, dst);
	be32_store(ip + 20, bng_script_ports(flow));
	if (packet->stamped) {
		be64_store(ip + BNG_SCRIPT_PACKET_MIN + 2, identity);
		be64_store(ip + BNG_SCRIPT_PACKET_MIN + 10, moment);
	}
	/* The octets copied behind the packet are zeros: the padding. */
	return len < 60 ? 60 : len;
}

/* Write a subscriber's announcement, to the gateway alone; who has a session makes none. Returns its
 * length without FCS. */
uint16_t bng_offer_announce(const struct bng_offer *offer, uint8_t *to, uint32_t flow);

#endif
