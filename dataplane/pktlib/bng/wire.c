/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

/* Return what is wrong with, or special about, an IPv4 header at the front of `len` octets. *total
 * is set as soon as the total length is known. */
static enum bng_verdict
judge_ipv4(const uint8_t *ip, uint32_t len, uint16_t *total)
{
	uint32_t header_len;

	if (len < IPV4_LEN)
		return BNG_TRUNCATED;
	header_len = (ip[0] & 0x0f) * 4u;
	*total = ipv4_total(ip);
	if (ip[0] >> 4 != 4 || header_len < IPV4_LEN || *total < header_len)
		return BNG_IP_HEADER;
	if (*total > len)
		return BNG_TRUNCATED;
	if (checksum_finish(checksum_add(0, ip, header_len)) != 0)
		return BNG_CHECKSUM;
	if (header_len > IPV4_LEN)
		return BNG_OPTIONS;
	return ipv4_is_fragment(ip) ? BNG_FRAGMENT : BNG_FORWARD;
}

enum bng_verdict
bng_tunnelled_judge(const uint8_t *ip, uint32_t len)
{
	uint16_t total;
	enum bng_verdict verdict = judge_ipv4(ip, len, &total);

	if (verdict == BNG_FORWARD && total > UINT16_MAX - BNG_TUNNEL_LEN)
		return BNG_IP_HEADER; /* no tunnel can hold it */
	return verdict;
}

enum bng_verdict
bng_up_judge(const uint8_t *frame, uint32_t len)
{
	if (len < BNG_QINQ_LEN)
		return BNG_TRUNCATED;
	if (!bng_is_qinq(frame))
		return BNG_TYPE;
	if (be16_load(frame + 20) == ETH_TYPE_ARP)
		return BNG_ARP;
	if (be16_load(frame + 20) != ETH_TYPE_IPV4)
		return BNG_TYPE;
	return bng_tunnelled_judge(frame + BNG_QINQ_LEN, len - BNG_QINQ_LEN);
}

/* The same for the packet inside of a tunnel. */
static enum bng_verdict
judge_inner(const uint8_t *inner, uint32_t len)
{
	uint16_t total;
	enum bng_verdict verdict = judge_ipv4(inner, len, &total);

	if (verdict == BNG_FORWARD && inner[8] <= 1)
		return BNG_TTL;
	return verdict;
}

enum bng_verdict
bng_down_judge(const uint8_t *frame, uint32_t len, uint32_t local_ip)
{
	const uint8_t *outer, *gre;
	enum bng_verdict verdict;
	uint16_t type, total = 0;

	if (len < BNG_ETH_LEN)
		return BNG_TRUNCATED;
	type = be16_load(frame + 12);
	if (type == ETH_TYPE_ARP)
		return BNG_ARP;
	if (type != ETH_TYPE_IPV4 && type != ETH_TYPE_MPLS)
		return BNG_TYPE;
	outer = frame + bng_outer_at(frame);
	if (len < bng_outer_at(frame))
		return BNG_TRUNCATED;
	if (type == ETH_TYPE_MPLS && (frame[16] & 1) == 0)
		return BNG_TYPE;
	verdict = judge_ipv4(outer, len - bng_outer_at(frame), &total);
	if (verdict != BNG_FORWARD && !bng_is_for_slow_path(verdict))
		return verdict;
	if (be32_load(outer + 16) != local_ip)
		return BNG_FOREIGN;
	if (verdict != BNG_FORWARD)
		return verdict;
	if (outer[9] != IP_PROTO_GRE)
		return BNG_LOCAL;
	if (total < BNG_TUNNEL_LEN)
		return BNG_TRUNCATED;
	gre = outer + IPV4_LEN;
	if (be32_load(gre) != GRE_KEY_IPV4)
		return BNG_GRE;
	return judge_inner(gre + BNG_GRE_LEN, total - (uint32_t)BNG_TUNNEL_LEN);
}

void
bng_hop_build(struct bng_hop *hop, const struct bng_hop_spec *spec, uint32_t local_ip,
	      const uint8_t local_mac[6])
{
	uint8_t *end = hop->header + BNG_OUTER_ROOM, *ip = end - BNG_TUNNEL_LEN, *ether;
	bool labelled = spec->label != BNG_NO_LABEL;

	memset(hop, 0, sizeof(*hop));
	hop->header_len = labelled ? BNG_OUTER_MAX : BNG_OUTER_MAX - BNG_MPLS_LEN;
	hop->port = spec->port;
	hop->verdict = BNG_FORWARD;
	ether = end - hop->header_len;
	memcpy(ether, spec->mac, 6);
	memcpy(ether + 6, local_mac, 6);
	be16_store(ether + 12, labelled ? ETH_TYPE_MPLS : ETH_TYPE_IPV4);
	if (labelled) /* Label, traffic class 0, bottom of the stack, TTL 64. */
		be32_store(ether + BNG_ETH_LEN, spec->label << 12 | 1u << 8 | 64);
	ip[0] = IPV4_NO_OPTIONS;
	be16_store(ip + 6, 0x4000); /* don't fragment */
	ip[8] = 64;
	ip[9] = IP_PROTO_GRE;
	be32_store(ip + 12, local_ip);
	be32_store(ip + 16, spec->tunnel);
	be32_store(ip + IPV4_LEN, GRE_KEY_IPV4);
	hop->sum = (uint32_t)checksum_add(0, ip, IPV4_LEN);
}
