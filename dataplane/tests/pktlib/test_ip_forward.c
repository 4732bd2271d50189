/* SPDX-License-Identifier: Apache-2.0 */
/* Check what a router decides on each header, and what it changes. */
#include <string.h>

#include "check.h"
#include "checksum.h"
#include "ip_forward.h"

#define V4_LEN 60
#define V6_LEN 74

static void
make_v4(uint8_t *frame, uint8_t ttl)
{
	uint8_t *ip = frame + IP_ETHER_LEN;

	memset(frame, 0, V4_LEN);
	be16_store(frame + IP_MACS_LEN, ETH_TYPE_IPV4);
	ip[0] = IPV4_NO_OPTIONS;
	be16_store(ip + 2, V4_LEN - IP_ETHER_LEN);
	ip[8] = ttl;
	be32_store(ip + 16, 0x0a010203);
	be16_store(ip + 10, checksum_finish(checksum_add(0, ip, IPV4_LEN)));
}

static void
make_v6(uint8_t *frame, uint8_t hop_limit)
{
	memset(frame, 0, V6_LEN);
	be16_store(frame + IP_MACS_LEN, ETH_TYPE_IPV6);
	frame[IP_ETHER_LEN] = 0x60;
	be16_store(frame + IP_ETHER_LEN + 4, V6_LEN - IP_ETHER_LEN - IPV6_LEN);
	frame[IP_ETHER_LEN + 7] = hop_limit;
	frame[IP_ETHER_LEN + 24] = 0x20;
}

static enum ip_verdict
judge(const uint8_t *frame, uint32_t length)
{
	uint8_t version = 0;

	return ip_judge(frame, length, length, &version);
}

/* Every TTL: the header stays right, and only one is taken away. */
static void
test_forward(void)
{
	static const uint8_t macs[IP_MACS_LEN] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	uint8_t frame[V6_LEN], version = 0;

	for (unsigned int ttl = 0; ttl < 256; ttl++) {
		make_v4(frame, (uint8_t)ttl);
		CHECK_EQ(judge(frame, V4_LEN), ttl <= 1 ? IP_TTL_EXPIRED : IP_FORWARD);
		make_v6(frame, (uint8_t)ttl);
		CHECK_EQ(judge(frame, V6_LEN), ttl <= 1 ? IP_TTL_EXPIRED : IP_FORWARD);
		if (ttl <= 1)
			continue;
		CHECK_EQ(ip_judge(frame, V6_LEN, V6_LEN, &version), IP_FORWARD);
		CHECK_EQ(version, 6);
		CHECK_EQ(ip_destination_v6(frame)[0], 0x20);
		ip_rewrite(frame, macs);
		CHECK_EQ(frame[IP_ETHER_LEN + 7], ttl - 1);
		CHECK(memcmp(frame, macs, sizeof(macs)) == 0);
		make_v4(frame, (uint8_t)ttl);
		CHECK_EQ(ip_judge(frame, V4_LEN, V4_LEN, &version), IP_FORWARD);
		CHECK_EQ(version, 4);
		CHECK_EQ(ip_destination_v4(frame), 0x0a010203);
		ip_rewrite(frame, macs);
		CHECK_EQ(frame[IP_ETHER_LEN + 8], ttl - 1);
		CHECK(ipv4_is_intact(frame + IP_ETHER_LEN));
		CHECK(memcmp(frame, macs, sizeof(macs)) == 0);
	}
}

static void
test_lengths(void)
{
	uint8_t frame[V6_LEN], version;

	/* No octet of a header lies behind what can be read. */
	make_v4(frame, 64);
	for (uint32_t here = IP_ETHER_LEN; here < IP_ETHER_LEN + IPV4_LEN; here++)
		CHECK_EQ(ip_judge(frame, here, V4_LEN, &version), IP_BAD_HEADER);
	CHECK_EQ(ip_judge(frame, IP_ETHER_LEN + IPV4_LEN, V4_LEN, &version), IP_FORWARD);
	CHECK_EQ(judge(frame, V4_LEN - 1), IP_BAD_HEADER);
	make_v6(frame, 64);
	for (uint32_t here = IP_ETHER_LEN; here < IP_ETHER_LEN + IPV6_LEN; here++)
		CHECK_EQ(ip_judge(frame, here, V6_LEN, &version), IP_BAD_HEADER);
	CHECK_EQ(ip_judge(frame, IP_ETHER_LEN + IPV6_LEN, V6_LEN, &version), IP_FORWARD);
	CHECK_EQ(judge(frame, V6_LEN - 1), IP_BAD_HEADER);
}

static void
test_headers(void)
{
	uint8_t frame[V6_LEN];

	make_v4(frame, 64);
	frame[IP_ETHER_LEN] = 0x46;
	CHECK_EQ(judge(frame, V4_LEN), IP_WITH_OPTIONS);
	frame[IP_ETHER_LEN] = 0x44;
	CHECK_EQ(judge(frame, V4_LEN), IP_BAD_HEADER);
	frame[IP_ETHER_LEN] = 0x65;
	CHECK_EQ(judge(frame, V4_LEN), IP_BAD_HEADER);
	make_v4(frame, 64);
	be16_store(frame + IP_ETHER_LEN + 2, IPV4_LEN - 1);
	CHECK_EQ(judge(frame, V4_LEN), IP_BAD_HEADER);
	/* Each single wrong bit of a header shows. */
	for (unsigned int bit = 0; bit < 8 * IPV4_LEN; bit++) {
		make_v4(frame, 64);
		frame[IP_ETHER_LEN + bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK(judge(frame, V4_LEN) != IP_FORWARD);
	}
	make_v6(frame, 64);
	frame[IP_ETHER_LEN] = 0x40;
	CHECK_EQ(judge(frame, V6_LEN), IP_BAD_HEADER);
	be16_store(frame + IP_MACS_LEN, ETH_TYPE_ARP);
	CHECK_EQ(judge(frame, V6_LEN), IP_NOT_IP);
	be16_store(frame + IP_MACS_LEN, TPID_VLAN);
	CHECK_EQ(judge(frame, V6_LEN), IP_NOT_IP);
	for (unsigned int i = IP_FORWARD + 1; i < IP_VERDICTS; i++)
		CHECK(ip_verdict_names[i] != NULL);
}

int
main(void)
{
	test_forward();
	test_lengths();
	test_headers();
	return 0;
}
