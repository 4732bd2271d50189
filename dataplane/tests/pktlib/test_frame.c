/* SPDX-License-Identifier: Apache-2.0 */
/* Frames against an independent reading of their octets: every encapsulation, field and size. The
 * octets themselves are compared with Scapy's in tests/dataplane/test_gen.py. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "frame.h"
#include "frame_size.h"
#include "udp_locate.h"

static const struct frame_spec plain = {
	.ip_version = 4,
	.outer_tpid = TPID_QINQ,
	.vlan = 100,
	.inner_vlan = 200,
	.dst_mac = {0x02, 0, 0, 0, 0, 0x02},
	.src_mac = {0x02, 0, 0, 0, 0, 0x01},
	.src_ip = {10, 0, 0xff, 0xfe},
	.dst_ip = {10, 1, 0, 1},
	.src_port = 1024,
	.dst_port = 9,
	.stamped = true,
};

static uint8_t octets[FRAME_ROOM(FRAME_MAX_BYTES)] __attribute__((aligned(64)));

static struct frame_template
template_of(const struct frame_spec *spec, enum flow_field field, unsigned int bytes)
{
	struct frame_template t;
	struct fault why;

	CHECK_EQ(frame_template_build(&t, spec, field, bytes, octets, &why), 0);
	return t;
}

/* Recompute both checksums the long way, over a finished frame. */
static void
check_checksums(const struct frame_spec *spec, const uint8_t *frame, unsigned int len)
{
	unsigned int l3 = frame_l3_at(spec), l4 = frame_l4_at(spec);
	uint64_t sum;

	if (spec->ip_version == 4) {
		CHECK_EQ(checksum_finish(checksum_add(0, frame + l3, 20)), 0);
		CHECK_EQ(be16_load(frame + l4 + 6), 0);
		return;
	}
	CHECK(be16_load(frame + l4 + 6) != 0);
	sum = checksum_add(IP_PROTO_UDP + (len - l4), frame + l3 + 8, 32);
	CHECK_EQ(checksum_finish(checksum_add(sum, frame + l4, len - l4)), 0);
}

static uint64_t
field_of(const struct frame_spec *spec, const uint8_t *frame, enum flow_field field)
{
	unsigned int l3 = frame_l3_at(spec), l4 = frame_l4_at(spec);

	switch (field) {
	case FLOW_SRC_IP:
		return be32_load(frame + l3 + (spec->ip_version == 4 ? 12 : 20));
	case FLOW_DST_IP:
		return be32_load(frame + l4 - 4);
	case FLOW_SRC_MAC:
		return be32_load(frame + 8);
	case FLOW_DST_MAC:
		return be32_load(frame + 2);
	case FLOW_SRC_PORT:
		return be16_load(frame + l4);
	case FLOW_DST_PORT:
		return be16_load(frame + l4 + 2);
	case FLOW_VLAN:
		return be16_load(frame + 14);
	}
	return 0;
}

/* Write one flow's frame over a buffer full of rubbish; check all of it. */
static void
check_flow(const struct frame_spec *spec, const struct frame_template *t, enum flow_field field,
	   uint32_t flow)
{
	uint8_t frame[FRAME_ROOM(FRAME_MAX_BYTES)], first[FRAME_ROOM(FRAME_MAX_BYTES)];
	struct udp_payload payload;
	struct stamp stamp;
	unsigned int i;

	memset(frame, 0xa5, sizeof(frame));
	frame_write(frame, t, t->checksum, flow, stamp_identity(7, flow, 3000000000u),
		    stamp_moment(9, 0x00123456789abcde));
	memset(first, 0x5a, sizeof(first));
	frame_write(first, t, t->checksum, 0, stamp_identity(7, 0, 3000000000u),
		    stamp_moment(9, 0x00123456789abcde));
	check_checksums(spec, frame, t->len);
	CHECK_EQ(field_of(spec, frame, field), field_of(spec, first, field) + flow);
	CHECK_EQ(udp_locate(frame, t->len, &payload), UDP_WHOLE);
	CHECK_EQ(payload.at + payload.len, t->len);
	if (t->stamp_at != 0) {
		CHECK_EQ(payload.at, t->stamp_at);
		CHECK(stamp_read(frame + payload.at, &stamp));
		CHECK_EQ(stamp.stream, 7);
		CHECK_EQ(stamp.flow, flow);
		CHECK_EQ(stamp.sequence, 3000000000u);
		CHECK_EQ(stamp.trial, 9);
		CHECK_EQ(stamp.tsc, 0x00123456789abcde);
	}
	for (i = payload.at + (t->stamp_at != 0 ? STAMP_BYTES : 0); i < t->len; i++)
		CHECK_EQ(frame[i], 0);
}

static void
test_every_combination(void)
{
	static const unsigned int sizes[] = {64, 66, 68, 72, 84, 88, 92, 127, 128, 129, 1518, 9216};
	static const uint32_t flows[] = {0, 1, 2, 255, 256, 2000};

	for (uint8_t version = 4; version <= 6; version += 2)
		for (uint8_t tags = 0; tags <= 2; tags++)
			for (unsigned int field = FLOW_SRC_IP; field <= FLOW_VLAN; field++)
				for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
					struct frame_spec spec = plain;
					struct frame_template t;

					spec.ip_version = version;
					spec.nb_tags = tags;
					if (sizes[i] < frame_min_bytes(&spec) ||
					    (field == FLOW_VLAN && tags == 0))
						continue;
					t = template_of(&spec, (enum flow_field)field, sizes[i]);
					CHECK_EQ(t.len, sizes[i] - FCS_BYTES);
					CHECK_EQ(t.stamp_at != 0,
						 sizes[i] >= frame_stamped_min_bytes(&spec));
					for (unsigned int f = 0; f < 6; f++)
						check_flow(&spec, &t, (enum flow_field)field,
							   flows[f]);
				}
}

static void
test_stamped_minimum(void)
{
	static const unsigned int expected[2][3] = {{64, 68, 72}, {84, 88, 92}};

	for (uint8_t version = 4; version <= 6; version += 2)
		for (uint8_t tags = 0; tags <= 2; tags++) {
			struct frame_spec spec = plain;

			spec.ip_version = version;
			spec.nb_tags = tags;
			CHECK_EQ(frame_stamped_min_bytes(&spec), expected[version == 6][tags]);
		}
}

/* An address that carries into its upper half must not spoil the header checksum. */
static void
test_address_carry(void)
{
	struct frame_template t = template_of(&plain, FLOW_SRC_IP, 64);

	for (uint32_t flow = 0; flow < 70000; flow++)
		check_flow(&plain, &t, FLOW_SRC_IP, flow);
}

static void
test_udp6_checksum_zero_is_sent_as_ones(void)
{
	struct frame_spec spec = plain;
	struct frame_template t;
	uint8_t frame[FRAME_ROOM(FRAME_MAX_BYTES)];
	unsigned int ones = 0;

	spec.ip_version = 6;
	t = template_of(&spec, FLOW_SRC_PORT, 84);
	for (uint32_t sequence = 0; sequence < 0x10000; sequence++) {
		frame_write(frame, &t, t.checksum, 0, stamp_identity(0, 0, sequence),
			    stamp_moment(0, 0));
		check_checksums(&spec, frame, t.len);
		ones += be16_load(frame + t.checksum_at) == UINT16_MAX;
	}
	CHECK_EQ(ones, 1);
}

static void
check_flows(const struct frame_spec *spec, enum flow_field field, uint32_t most)
{
	struct fault why;

	CHECK_EQ(flow_step_check(spec, field, most, &why), 0);
	CHECK(flow_step_check(spec, field, most + 1, &why) < 0);
}

static void
test_flows_never_wrap(void)
{
	struct frame_spec spec = plain;
	struct fault why;

	check_flows(&spec, FLOW_SRC_PORT, 65536 - 1024);
	check_flows(&spec, FLOW_DST_PORT, 65536 - 9);
	check_flows(&spec, FLOW_SRC_IP, FLOWS_MAX);
	CHECK(flow_step_check(&spec, FLOW_VLAN, 1, &why) < 0);
	spec.nb_tags = 1;
	spec.vlan = 1;
	check_flows(&spec, FLOW_VLAN, 4094);
	memcpy(spec.src_ip, (uint8_t[]){255, 255, 255, 250}, 4);
	check_flows(&spec, FLOW_SRC_IP, 6);
	memcpy(spec.dst_mac, (uint8_t[]){2, 255, 255, 255, 255, 0}, 6);
	check_flows(&spec, FLOW_DST_MAC, 256);
	spec.ip_version = 6;
	memset(spec.dst_ip + 8, 0xff, 8);
	check_flows(&spec, FLOW_DST_IP, 1);
	CHECK(flow_step_check(&spec, FLOW_DST_IP, 0, &why) < 0);
}

static void
test_bad_specs(void)
{
	struct frame_spec spec = plain;
	struct frame_template t;
	struct fault why;

	CHECK_EQ(frame_spec_check(&spec, &why), 0);
	spec.nb_tags = 1;
	spec.vlan = 4095;
	CHECK(frame_spec_check(&spec, &why) < 0);
	spec = plain;
	spec.nb_tags = 2;
	spec.outer_tpid = 0x9100;
	CHECK(frame_spec_check(&spec, &why) < 0);
	spec = plain;
	spec.src_mac[0] = 1;
	CHECK(frame_spec_check(&spec, &why) < 0);
	spec = plain;
	spec.dst_port = 0;
	CHECK(frame_spec_check(&spec, &why) < 0);
	spec = plain;
	spec.ip_version = 6;
	CHECK(frame_template_build(&t, &spec, FLOW_SRC_PORT, 65, octets, &why) < 0);
	CHECK(strstr(why.text, "66 to 9216") != NULL);
	CHECK(frame_template_build(&t, &spec, FLOW_SRC_PORT, 9217, octets, &why) < 0);
}

static void
test_sizes(void)
{
	struct frame_sizes sizes;
	struct fault why;

	CHECK_EQ(frame_sizes_parse(&sizes, "1518", &why), 0);
	CHECK_EQ(sizes.nb_positions, 1);
	CHECK_EQ(sizes.sizes[sizes.position[0]], 1518);
	CHECK_EQ(frame_sizes_parse(&sizes, "aaaaaaaddddg", &why), 0);
	CHECK_EQ(sizes.nb_positions, 12);
	CHECK_EQ(sizes.nb_sizes, 3);
	CHECK_EQ(sizes.sizes[sizes.position[6]], 64);
	CHECK_EQ(sizes.sizes[sizes.position[7]], 512);
	CHECK_EQ(sizes.sizes[sizes.position[11]], 1518);
	CHECK(frame_sizes_parse(&sizes, "63", &why) < 0);
	CHECK(frame_sizes_parse(&sizes, "9217", &why) < 0);
	CHECK(frame_sizes_parse(&sizes, "99999999999999999999", &why) < 0);
	CHECK(frame_sizes_parse(&sizes, "aai", &why) < 0);
	CHECK(frame_sizes_parse(&sizes, "-64", &why) < 0);
	CHECK(frame_sizes_parse(&sizes, "", &why) < 0);
}

/* Every shortened frame must be recognised without a read past its end (ASan watches). */
static void
test_locate_cut_frames(void)
{
	for (uint8_t version = 4; version <= 6; version += 2)
		for (uint8_t tags = 0; tags <= 2; tags++) {
			struct frame_spec spec = plain;
			struct frame_template t;

			spec.ip_version = version;
			spec.nb_tags = tags;
			t = template_of(&spec, FLOW_SRC_PORT, 128);
			for (unsigned int len = 0; len <= t.len; len++) {
				struct udp_payload payload;
				uint8_t *cut = malloc(len + 1);
				enum udp_located found;

				memcpy(cut + 1, t.octets, len);
				found = udp_locate(cut + 1, len, &payload);
				CHECK(found == (len == t.len ? UDP_WHOLE : UDP_CUT) ||
				      (found == UDP_NONE && len < frame_l4_at(&spec) + 8));
				free(cut);
			}
		}
}

static void
test_locate_other_frames(void)
{
	struct udp_payload payload;
	struct frame_template t = template_of(&plain, FLOW_SRC_PORT, 64);

	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_WHOLE);
	t.octets[14 + 6] = 0x20; /* more fragments */
	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_NONE);
	t.octets[14 + 6] = 0x40; /* don't fragment */
	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_WHOLE);
	t.octets[14 + 9] = 6;
	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_NONE);
	t.octets[14 + 9] = IP_PROTO_UDP;
	t.octets[14] = 0x4f; /* options beyond the packet */
	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_CUT);
	t.octets[14] = 0x44; /* a header below its minimum: the payload is nowhere */
	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_CUT);
	CHECK_EQ(payload.at, 0);
	t.octets[14] = 0x45;
	be16_store(t.octets + 38, 4); /* a UDP length below its header's */
	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_CUT);
	be16_store(t.octets + 12, ETH_TYPE_ARP);
	CHECK_EQ(udp_locate(t.octets, t.len, &payload), UDP_NONE);
}

int
main(void)
{
	test_every_combination();
	test_stamped_minimum();
	test_address_carry();
	test_udp6_checksum_zero_is_sent_as_ones();
	test_flows_never_wrap();
	test_bad_specs();
	test_sizes();
	test_locate_cut_frames();
	test_locate_other_frames();
	return 0;
}
