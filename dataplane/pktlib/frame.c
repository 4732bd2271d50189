/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include "frame_size.h"
#include "udp_locate.h"

#define IP_TTL 64
#define VLAN_ID_MAX 4094

unsigned int
frame_min_bytes(const struct frame_spec *spec)
{
	unsigned int bytes = frame_l4_at(spec) + 8 + FCS_BYTES;

	return bytes > FRAME_MIN_BYTES ? bytes : FRAME_MIN_BYTES;
}

unsigned int
frame_stamped_min_bytes(const struct frame_spec *spec)
{
	unsigned int bytes = frame_l4_at(spec) + 8 + STAMP_BYTES + FCS_BYTES;

	return bytes > FRAME_MIN_BYTES ? bytes : FRAME_MIN_BYTES;
}

static int
check_tag(const char *which, uint16_t id, struct fault *why)
{
	if (id < 1 || id > VLAN_ID_MAX)
		return fault_say(why, "%s = %u: a VLAN id is 1 to %d", which, id, VLAN_ID_MAX);
	return 0;
}

int
frame_spec_check(const struct frame_spec *spec, struct fault *why)
{
	if (spec->ip_version != 4 && spec->ip_version != 6)
		return fault_say(why, "IP version %u: it is 4 or 6", spec->ip_version);
	if (spec->nb_tags > 2)
		return fault_say(why, "%u VLAN tags: there are at most 2", spec->nb_tags);
	if (spec->nb_tags >= 1 && check_tag("vlan", spec->vlan, why) < 0)
		return -1;
	if (spec->nb_tags == 2 && check_tag("inner_vlan", spec->inner_vlan, why) < 0)
		return -1;
	if (spec->nb_tags == 2 && spec->outer_tpid != TPID_VLAN && spec->outer_tpid != TPID_QINQ)
		return fault_say(why, "outer_tpid = 0x%04x: it is 0x8100 or 0x88a8",
				 spec->outer_tpid);
	if (spec->src_mac[0] & 1)
		return fault_say(
			why, "src_mac: a source is no group address, but its first octet is 0x%02x",
			spec->src_mac[0]);
	if (spec->src_port == 0 || spec->dst_port == 0)
		return fault_say(why, "UDP port 0: ports are 1 to 65535");
	return 0;
}

static void
write_ethernet(const struct frame_spec *spec, uint8_t *octets)
{
	uint8_t *at = octets + 12;

	memcpy(octets, spec->dst_mac, 6);
	memcpy(octets + 6, spec->src_mac, 6);
	if (spec->nb_tags >= 1) {
		be16_store(at, spec->nb_tags == 2 ? spec->outer_tpid : TPID_VLAN);
		be16_store(at + 2, spec->vlan);
		at += 4;
	}
	if (spec->nb_tags == 2) {
		be16_store(at, TPID_VLAN);
		be16_store(at + 2, spec->inner_vlan);
		at += 4;
	}
	be16_store(at, spec->ip_version == 4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
}

static void
write_ipv4(const struct frame_spec *spec, uint8_t *ip, unsigned int bytes)
{
	ip[0] = 0x45;
	be16_store(ip + 2, (uint16_t)bytes);
	ip[8] = IP_TTL;
	ip[9] = IP_PROTO_UDP;
	memcpy(ip + 12, spec->src_ip, 4);
	memcpy(ip + 16, spec->dst_ip, 4);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
}

static void
write_ipv6(const struct frame_spec *spec, uint8_t *ip, unsigned int bytes)
{
	ip[0] = 0x60;
	be16_store(ip + 4, (uint16_t)(bytes - 40));
	ip[6] = IP_PROTO_UDP;
	ip[7] = IP_TTL;
	memcpy(ip + 8, spec->src_ip, 16);
	memcpy(ip + 24, spec->dst_ip, 16);
}

/* The sum of all that the checksum covers, without the flow field's word and the stamp's two. */
static uint64_t
udp6_base(const struct frame_spec *spec, const struct frame_template *t)
{
	const uint8_t *udp = t->octets + frame_l4_at(spec);
	unsigned int udp_bytes = t->len - frame_l4_at(spec);
	uint64_t sum = udp_bytes + IP_PROTO_UDP;

	sum = checksum_add(sum, t->octets + frame_l3_at(spec) + 8, 32);
	sum = checksum_add(sum, udp, udp_bytes);
	/* Take the word out again: subtracting is adding the complement (RFC 1624). */
	return checksum_add_word(sum, ~t->step_base & t->step_mask);
}

static void
choose_checksum(struct frame_template *t, const struct frame_spec *spec, enum flow_field field)
{
	unsigned int l3 = frame_l3_at(spec);
	bool in_ip = field == FLOW_SRC_IP || field == FLOW_DST_IP;
	bool in_udp = field == FLOW_SRC_PORT || field == FLOW_DST_PORT;

	t->checksum = CHECKSUM_FIXED;
	if (spec->ip_version == 6) {
		t->checksum = CHECKSUM_UDP6;
		t->checksum_at = (uint16_t)(frame_l4_at(spec) + 6);
		t->step_mask = in_ip || in_udp ? UINT64_MAX : 0;
		t->checksum_base = udp6_base(spec, t);
	} else if (in_ip) {
		t->checksum = CHECKSUM_IPV4;
		t->checksum_at = (uint16_t)(l3 + 10);
		be16_store(t->octets + t->checksum_at, 0);
		/* Without the stepped address: it is the low half of the word. */
		t->checksum_base = checksum_add(0, t->octets + l3, 20) +
				   (~t->step_base >> 16 & UINT16_MAX) +
				   (~t->step_base & UINT16_MAX);
		be16_store(t->octets + t->checksum_at,
			   checksum_finish(checksum_add(0, t->octets + l3, 20)));
	}
}

int
frame_template_build(struct frame_template *t, const struct frame_spec *spec, enum flow_field field,
		     unsigned int bytes, uint8_t *octets, struct fault *why)
{
	unsigned int l3 = frame_l3_at(spec);
	unsigned int l4 = frame_l4_at(spec);

	if (bytes < frame_min_bytes(spec) || bytes > FRAME_MAX_BYTES)
		return fault_say(why, "%u octets: with IPv%u and %u VLAN tags a frame has %u to %d",
				 bytes, spec->ip_version, spec->nb_tags, frame_min_bytes(spec),
				 FRAME_MAX_BYTES);
	memset(t, 0, sizeof(*t));
	t->octets = octets;
	t->len = (uint16_t)(bytes - FCS_BYTES);
	memset(octets, 0, FRAME_ROOM(t->len));
	write_ethernet(spec, octets);
	if (spec->ip_version == 4)
		write_ipv4(spec, octets + l3, t->len - l3);
	else
		write_ipv6(spec, octets + l3, t->len - l3);
	be16_store(octets + l4, spec->src_port);
	be16_store(octets + l4 + 2, spec->dst_port);
	be16_store(octets + l4 + 4, (uint16_t)(t->len - l4));
	if (spec->stamped && bytes >= frame_stamped_min_bytes(spec)) {
		t->stamp_at = (uint16_t)(l4 + 8);
		stamp_write(octets + t->stamp_at, 0, 0);
	}
	t->step = flow_step_of(spec, field);
	t->step_base = be64_load(octets + t->step.at);
	choose_checksum(t, spec, field);
	return 0;
}

void
frame_template_of(struct frame_template *t, uint8_t *octets, uint16_t len, bool stamped)
{
	struct udp_payload payload;
	uint8_t *udp;

	memset(t, 0, sizeof(*t));
	t->octets = octets;
	t->len = len;
	t->step_base = be64_load(octets);
	if (!stamped || udp_locate(octets, len, &payload) != UDP_WHOLE || payload.len < STAMP_BYTES)
		return;
	t->stamp_at = payload.at;
	stamp_write(octets + payload.at, 0, 0);
	udp = octets + payload.at - 8;
	be16_store(udp + 6, 0);
	if (payload.ip_version == 6) {
		uint32_t udp_bytes = payload.len + 8u;
		uint64_t sum = udp_bytes + IP_PROTO_UDP;

		t->checksum = CHECKSUM_UDP6;
		t->checksum_at = (uint16_t)(payload.at - 2);
		sum = checksum_add(sum, udp - 32, 32);
		t->checksum_base = checksum_add(sum, udp, udp_bytes);
	}
}
