/* SPDX-License-Identifier: Apache-2.0 */
/* Both encapsulations octet by octet; and the fast path's flag against the verdict that explains it,
 * on a million damaged frames. */
#include <string.h>

#include "bng/pppoe.h"
#include "../check.h"
#include "random.h"

#define LOCAL_IP 0xc0000201 /* 192.0.2.1 */
#define ROOM 128

static const uint8_t cpe[60] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0xe0, 0x07, 0x81, 0x00, 0x50, 0x2a, 8, 0,
	/* IPv4: 28 octets, id 0x1234, DF, TTL 64, UDP, 10.1.2.3 -> 10.4.5.6 */
	0x45, 0, 0, 28, 0x12, 0x34, 0x40, 0, 64, 17, 0x0d, 0x90, 10, 1, 2, 3, 10, 4, 5, 6, 0, 1, 0,
	2, 0, 8, 0, 0, /* and 10 octets of padding */
	0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa};

static const uint8_t labelled[46] = {2,   0,  0,    0,    0,    9,    2,    0,     0,    0,
				     0,   8,  0x88, 0x47, 0x00, 0x06, 0x41, 64,    0x45, 0,
				     0,   56, 0,    0,    0x40, 0,    64,   47,    0xb4, 0x97,
				     192, 0,  2,    1,    198,  51,   100,  7 + 0, 0x20, 0,
				     8,   0,  0x01, 0x23, 0x45, 0x67};

static void
test_up(void)
{
	const struct bng_hop_spec spec = {
		.tunnel = 0xc6336407, .label = 100, .mac = {2, 0, 0, 0, 0, 9}, .port = 2};
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 8};
	uint8_t frame[64 + sizeof(cpe)], *ip = frame + 64 + BNG_QINQ_LEN, plain[42];
	struct bng_up up = bng_up_parse(cpe, sizeof(cpe));
	struct bng_hop hop;

	CHECK(up.fast);
	CHECK_EQ(up.line, bng_line(7, 42));
	CHECK_EQ(up.destination, 0x0a040506);
	CHECK_EQ(up.total, 28);
	bng_hop_build(&hop, &spec, LOCAL_IP, mac);
	CHECK_EQ(hop.header_len, 46);
	CHECK_EQ(hop.port, 2);
	memcpy(frame + 64, cpe, sizeof(cpe));
	bng_encapsulate(ip, up.total, &hop, 0x01234567);
	/* The header's checksum is checked by itself: it need not be worked out by hand. */
	CHECK(ipv4_is_intact(ip - 28));
	be16_store(frame + (ip - 18 - frame), be16_load(labelled + 28));
	CHECK(memcmp(ip - 46, labelled, sizeof(labelled)) == 0);
	CHECK(memcmp(ip, cpe + BNG_QINQ_LEN, up.total) == 0);

	struct bng_hop_spec unlabelled = spec;

	unlabelled.label = BNG_NO_LABEL;
	bng_hop_build(&hop, &unlabelled, LOCAL_IP, mac);
	CHECK_EQ(hop.header_len, 42);
	bng_encapsulate(ip, up.total, &hop, 0x01234567);
	CHECK(ipv4_is_intact(ip - 28));
	memcpy(plain, labelled, 12);
	be16_store(plain + 12, ETH_TYPE_IPV4);
	memcpy(plain + 14, labelled + 18, 28);
	be16_store(ip - 18, be16_load(labelled + 28));
	CHECK(memcmp(ip - 42, plain, sizeof(plain)) == 0);
}

/* An INET frame that carries cpe's packet, with or without a label. */
static uint32_t
make_inet(uint8_t *frame, bool label)
{
	const struct bng_hop_spec spec = {
		.tunnel = LOCAL_IP, .mac = {2, 0, 0, 0, 0, 8}, .label = label ? 100 : BNG_NO_LABEL};
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	uint8_t octets[ROOM];
	struct bng_hop hop;

	bng_hop_build(&hop, &spec, 0xc6336407, mac);
	memcpy(octets + BNG_OUTER_ROOM, cpe + BNG_QINQ_LEN, 28);
	bng_encapsulate(octets + BNG_OUTER_ROOM, 28, &hop, 0x01234567);
	memcpy(frame, octets + BNG_OUTER_ROOM - hop.header_len, hop.header_len + 28u);
	return hop.header_len + 28u;
}

static void
test_down(void)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1}, host_mac[6] = {2, 0, 0, 0, 0, 2};
	static const uint8_t expected[22] = {2,    0,    0,    0,    0,    2,    2,    0,
					     0,    0,    0,    1,    0x88, 0xa8, 0x00, 0x07,
					     0x81, 0x00, 0x00, 0x2a, 8,    0};
	struct bng_cpe_side side = bng_cpe_side(mac, TPID_QINQ);
	struct bng_host host = {.mac = 5 | BNG_HOST_KNOWN, .tags = bng_host_tags(bng_line(7, 42))};

	memcpy((uint8_t *)&host.mac + 2, host_mac, 6);
	for (int label = 0; label < 2; label++) {
		uint8_t frame[ROOM], *ip;
		uint32_t len = make_inet(frame, label);
		struct bng_down down = bng_down_parse(frame, len, LOCAL_IP);

		CHECK(down.fast);
		CHECK_EQ(down.key, 0x01234567);
		CHECK_EQ(down.destination, 0x0a040506);
		CHECK_EQ(down.total, 28);
		CHECK_EQ(down.inner_at, label ? 46 : 42);
		CHECK(!bng_down_parse(frame, len, LOCAL_IP + 1).fast);
		CHECK_EQ(bng_down_judge(frame, len, LOCAL_IP + 1), BNG_FOREIGN);
		ip = frame + down.inner_at;
		ipv4_age(ip);
		bng_tag(ip, &host, &side);
		CHECK(memcmp(ip - BNG_QINQ_LEN, expected, sizeof(expected)) == 0);
		CHECK_EQ(ip[8], 63);
		CHECK(ipv4_is_intact(ip));
	}
}

/* For every header whose checksum is right, it is right after the TTL went down, too, and is what
 * a sum over everything gives. */
static void
test_age(void)
{
	uint8_t ip[20];

	memcpy(ip, cpe + BNG_QINQ_LEN, sizeof(ip));
	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		for (unsigned int ttl = 1; ttl < 256; ttl += 127) {
			uint16_t aged;

			be16_store(ip + 4, (uint16_t)id);
			ip[8] = (uint8_t)ttl;
			be16_store(ip + 10, 0);
			be16_store(ip + 10, checksum_finish(checksum_add(0, ip, sizeof(ip))));
			CHECK(ipv4_is_intact(ip));
			ipv4_age(ip);
			CHECK_EQ(ip[8], ttl - 1);
			CHECK(ipv4_is_intact(ip));
			aged = be16_load(ip + 10);
			be16_store(ip + 10, 0);
			CHECK_EQ(aged, checksum_finish(checksum_add(0, ip, sizeof(ip))));
		}
	}
}

static void
test_verdicts(void)
{
	struct {
		unsigned int at;
		uint8_t value;
		enum bng_verdict verdict;
	} cases[] = {
		{12, 0x81, BNG_TYPE}, /* 0x81a8 */
		{16, 0x88, BNG_TYPE},      {21, 0x06, BNG_ARP},       {20, 0x86, BNG_TYPE},
		{22, 0x65, BNG_IP_HEADER}, {22, 0x44, BNG_IP_HEADER}, {25, 19, BNG_IP_HEADER},
		{25, 39, BNG_TRUNCATED},   {30, 63, BNG_CHECKSUM},
	};
	uint8_t frame[sizeof(cpe)];

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(frame, cpe, sizeof(frame));
		frame[cases[i].at] = cases[i].value;
		CHECK_EQ(bng_up_judge(frame, sizeof(frame)), cases[i].verdict);
		CHECK(!bng_up_parse(frame, sizeof(frame)).fast);
	}
	memcpy(frame, cpe, sizeof(frame));
	be16_store(frame + 12, TPID_VLAN);
	CHECK(bng_up_parse(frame, sizeof(frame)).fast);
}

/* The frame of cpe, in a PPPoE session. Returns its length. */
static uint32_t
make_session(uint8_t *frame)
{
	static const uint8_t header[] = {0x88, 0x64, 0x11, 0, 0, 9, 0, 30, 0, 0x21};

	memcpy(frame, cpe, 20);
	memcpy(frame + 20, header, sizeof(header));
	memcpy(frame + BNG_PPPOE_IP_AT, cpe + BNG_QINQ_LEN, sizeof(cpe) - BNG_QINQ_LEN);
	return sizeof(cpe) + BNG_PPPOE_IP_AT - BNG_QINQ_LEN;
}

static void
test_session(void)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
	struct {
		unsigned int at;
		uint8_t value;
		enum bng_verdict verdict;
	} cases[] = {
		{21, 0x63, BNG_CONTROL}, {28, 0xc0, BNG_CONTROL}, {28, 0x80, BNG_CONTROL},
		{21, 0x00, BNG_TYPE},    {29, 0x57, BNG_TYPE},    {28, 0x7f, BNG_TYPE},
		{22, 0x21, BNG_PPPOE},   {23, 0xa7, BNG_PPPOE},   {27, 1, BNG_PPPOE},
		{26, 1, BNG_TRUNCATED},  {27, 29, BNG_TRUNCATED}, {38, 63, BNG_CHECKSUM},
	};
	const struct bng_cpe_side side = bng_cpe_side(mac, TPID_QINQ);
	const struct bng_host host = {.mac = 5, .tags = bng_host_tags(bng_line(7, 42))};
	uint8_t frame[ROOM + 64], tagged[ROOM + 64] = {0};
	uint32_t len = make_session(frame);
	struct bng_up session = bng_pppoe_parse(frame, len);

	CHECK(session.fast && !bng_up_parse(frame, len).fast);
	CHECK_EQ(session.line, bng_line_of(cpe));
	CHECK_EQ(session.total, 28);
	CHECK_EQ(bng_session_of(frame), 9);
	CHECK_EQ(bng_pppoe_judge(cpe, sizeof(cpe)), BNG_TYPE);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_session(frame);
		frame[cases[i].at] = cases[i].value;
		CHECK_EQ(bng_pppoe_judge(frame, len), cases[i].verdict);
		CHECK(!bng_pppoe_parse(frame, len).fast);
	}
	make_session(frame);
	bng_pppoe_tag(tagged + 32, 28, &host, 9, &side);
	CHECK(memcmp(tagged + 32 - 18, "\x88\xa8\0\7\x81\0\0\x2a", 8) == 0);
	CHECK(memcmp(tagged + 32 - 10, frame + 20, 10) == 0);
}

/* Set the checksums of what look like IPv4 headers, so that damage elsewhere is what counts. */
static void
mend(uint8_t *ip)
{
	uint32_t len = (ip[0] & 0x0f) * 4u;

	be16_store(ip + 10, 0);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, len < 20 ? 20 : len)));
}

static void
damage(uint8_t *frame, uint32_t len, uint64_t *state)
{
	for (uint32_t i = random_next(state) % 3; i > 0; i--)
		frame[random_next(state) % len] ^= (uint8_t)(1u << random_next(state) % 8);
	if (random_next(state) % 4 == 0)
		frame[random_next(state) % len] = (uint8_t)random_next(state);
}

static void
test_flag_means_forward(void)
{
	static bool met[3][BNG_VERDICTS];
	uint64_t state = 3;

	for (uint32_t i = 0; i < 1000000; i++) {
		uint8_t frame[ROOM + 64] = {0};
		uint32_t len = sizeof(cpe), cut = random_next(&state) % 4 == 0 ? 1 : 0;
		bool has_headers;
		enum bng_verdict verdict;

		memcpy(frame, cpe, len);
		damage(frame, 44, &state);
		mend(frame + BNG_QINQ_LEN);
		if (random_next(&state) % 4 == 0)
			damage(frame, 44, &state);
		if (cut)
			len = random_next(&state) % (len + 1);
		verdict = bng_up_judge(frame, len);
		met[0][verdict] = true;
		CHECK_EQ(len >= BNG_UP_MIN && bng_up_parse(frame, len).fast,
			 verdict == BNG_FORWARD);

		len = make_session(frame);
		damage(frame, len - 8, &state);
		mend(frame + BNG_PPPOE_IP_AT);
		if (random_next(&state) % 4 == 0)
			damage(frame, len - 8, &state);
		if (cut)
			len = random_next(&state) % (len + 1);
		verdict = bng_pppoe_judge(frame, len);
		met[2][verdict] = true;
		CHECK_EQ(len >= BNG_PPPOE_UP_MIN && bng_pppoe_parse(frame, len).fast,
			 verdict == BNG_FORWARD);

		len = make_inet(frame, i % 2);
		damage(frame, len - 8, &state);
		mend(frame + bng_outer_at(frame) + BNG_TUNNEL_LEN);
		mend(frame + bng_outer_at(frame));
		if (random_next(&state) % 4 == 0)
			damage(frame, len - 8, &state);
		if (cut)
			len = random_next(&state) % (len + 1);
		verdict = bng_down_judge(frame, len, LOCAL_IP);
		met[1][verdict] = true;
		has_headers = len >= BNG_ETH_LEN && bng_down_has_headers(frame, len);
		CHECK_EQ(has_headers && bng_down_parse(frame, len, LOCAL_IP).fast,
			 verdict == BNG_FORWARD);
	}
	for (enum bng_verdict v = BNG_FORWARD; v < BNG_VERDICTS; v++) {
		if (v == BNG_BUFFER || (v >= BNG_NO_USER && v <= BNG_NO_ROUTE))
			continue; /* not visible in the frame alone */
		if (v == BNG_PPPOE || v == BNG_CONTROL) {
			CHECK(met[2][v] && !met[0][v] && !met[1][v]);
			continue;
		}
		if (v != BNG_GRE && v != BNG_FOREIGN && v != BNG_TTL && v != BNG_LOCAL) {
			CHECK(met[0][v]);
			CHECK(met[2][v] == (v != BNG_ARP));
		}
		CHECK(met[1][v]);
		CHECK(bng_verdict_name(v) != NULL);
	}
}

int
main(void)
{
	test_up();
	test_down();
	test_age();
	test_verdicts();
	test_session();
	test_flag_means_forward();
	return 0;
}
