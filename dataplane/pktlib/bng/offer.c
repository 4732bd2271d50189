/* SPDX-License-Identifier: Apache-2.0 */
#include "offer.h"

#define DONT_FRAGMENT 0x4000
#define MPLS_BOTTOM 0x100
#define ARP_LEN 28
#define FRAME_LEN_LEAST 60

static void
build_cpe(struct bng_offer_outer *outer, const struct bng_script_spec *spec)
{
	uint8_t *at = outer->octets;

	memcpy(at, spec->gateway_mac, 6);
	be16_store(at + 12, spec->tpid);
	be16_store(at + 16, TPID_VLAN);
	be16_store(at + 20, spec->pppoe ? ETH_TYPE_PPPOE_SESSION : ETH_TYPE_IPV4);
	outer->len = BNG_OFFER_CPE_LEN;
	if (!spec->pppoe)
		return;
	be16_store(at + 22, PPPOE_SESSION_CODE);
	be16_store(at + 28, PPP_IPV4);
	outer->len += BNG_OFFER_PPPOE_LEN;
}

/* From a hop's end of the tunnel to the gateway. */
static void
build_inet(struct bng_offer_outer *outer, const struct bng_script_spec *spec,
	   const struct bng_hop_spec *hop)
{
	bool mpls = hop->label != BNG_NO_LABEL;
	uint8_t *at = outer->octets, *ip;

	memcpy(at, spec->inet_mac, 6);
	memcpy(at + 6, hop->mac, 6);
	be16_store(at + 12, mpls ? ETH_TYPE_MPLS : ETH_TYPE_IPV4);
	if (mpls)
		be32_store(at + 14, hop->label << 12 | MPLS_BOTTOM | BNG_SCRIPT_TTL);
	outer->tunnel_at = mpls ? 18 : 14;
	ip = at + outer->tunnel_at;
	ip[0] = 0x45;
	be16_store(ip + 6, DONT_FRAGMENT);
	ip[8] = BNG_SCRIPT_TTL;
	ip[9] = IP_PROTO_GRE;
	be32_store(ip + 12, hop->tunnel);
	be32_store(ip + 16, spec->local_ip);
	outer->sum = (uint32_t)checksum_add(0, ip, 20);
	be32_store(ip + 20, GRE_KEY_IPV4);
	outer->len = (uint8_t)(outer->tunnel_at + 28);
}

int
bng_offer_build(struct bng_offer *offer, const struct bng_script *script)
{
	uint32_t nb = script->spec.upstream ? 1 : BNG_HOPS_MAX;

	offer->script = script;
	offer->outers = script->memory->take(script->memory, nb * sizeof(*offer->outers));
	if (offer->outers == NULL)
		return -1;
	if (script->spec.upstream) {
		build_cpe(offer->outers, &script->spec);
		return 0;
	}
	for (uint32_t i = 0; i < nb; i++)
		build_inet(&offer->outers[i], &script->spec, &script->hops[i]);
	return 0;
}

void
bng_offer_free(struct bng_offer *offer)
{
	if (offer->outers != NULL)
		offer->script->memory->give(offer->script->memory, offer->outers);
	memset(offer, 0, sizeof(*offer));
}

void
bng_offer_packet_build(struct bng_offer_packet *packet, uint16_t total, bool stamped,
		       uint8_t *octets)
{
	*packet = (struct bng_offer_packet){
		.octets = octets,
		.total = total,
		.stamped = stamped && bng_offer_has_stamp(total),
	};
	memset(octets, 0, FRAME_ROOM(total));
	octets[0] = 0x45;
	be16_store(octets + 2, total);
	octets[8] = BNG_SCRIPT_TTL;
	octets[9] = IP_PROTO_UDP;
	packet->sum = checksum_add(0, octets, 20);
	be16_store(octets + 24, (uint16_t)(total - 20));
	if (packet->stamped)
		stamp_write(octets + BNG_SCRIPT_PACKET_MIN, 0, 0);
}

uint16_t
bng_offer_announce(const struct bng_offer *offer, uint8_t *to, uint32_t flow)
{
	const struct bng_script_user *user = &offer->script->users[flow];
	uint8_t *arp = to + BNG_OFFER_CPE_LEN;

	memset(to, 0, FRAME_LEN_LEAST);
	memcpy(to, offer->outers->octets, BNG_OFFER_CPE_LEN);
	memcpy(to + 6, user->mac, 6);
	be16_store(to + 14, (uint16_t)(user->line >> 12));
	be16_store(to + 18, user->line & 0x0fff);
	be16_store(to + 20, ETH_TYPE_ARP);
	be16_store(arp, 1);
	be16_store(arp + 2, ETH_TYPE_IPV4);
	arp[4] = 6;
	arp[5] = 4;
	be16_store(arp + 6, 1);
	memcpy(arp + 8, user->mac, 6);
	be32_store(arp + 14, user->ip);
	be32_store(arp + 24, user->ip);
	_Static_assert(BNG_OFFER_CPE_LEN + ARP_LEN <= FRAME_LEN_LEAST, "padded");
	return FRAME_LEN_LEAST;
}
