/* SPDX-License-Identifier: Apache-2.0 */
/* Check shares of members, what moves when members change, and that hashes spread. */
#include <string.h>

#include "check.h"
#include "ecmp.h"

#define FLOWS 100000

static unsigned int
count(const uint16_t *buckets, uint16_t hop)
{
	unsigned int found = 0;

	for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
		found += buckets[b] == hop;
	return found;
}

static unsigned int
moved(const uint16_t *before, const uint16_t *after)
{
	unsigned int found = 0;

	for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
		found += before[b] != after[b];
	return found;
}

static void
test_shares(void)
{
	static const struct ecmp_member equal[] = {{5, 1}, {6, 1}, {7, 1}};
	static const struct ecmp_member uneven[] = {{5, 1}, {6, 3}};
	static const struct ecmp_member extreme[] = {{5, 256}, {6, 1}, {7, 1}};
	struct ecmp_member many[ECMP_MEMBERS_MAX];
	uint16_t buckets[ECMP_BUCKETS];

	ecmp_fill(buckets, equal, 1, NULL);
	CHECK_EQ(count(buckets, 5), ECMP_BUCKETS);
	ecmp_fill(buckets, equal, 3, NULL);
	for (uint16_t hop = 5; hop <= 7; hop++)
		CHECK(count(buckets, hop) == 85 || count(buckets, hop) == 86);
	ecmp_fill(buckets, uneven, 2, NULL);
	CHECK_EQ(count(buckets, 5), 64);
	CHECK_EQ(count(buckets, 6), 192);
	/* Nobody is left without a bucket. */
	ecmp_fill(buckets, extreme, 3, NULL);
	CHECK(count(buckets, 6) >= 1 && count(buckets, 7) >= 1);
	CHECK_EQ(count(buckets, 5) + count(buckets, 6) + count(buckets, 7), ECMP_BUCKETS);
	for (uint16_t i = 0; i < ECMP_MEMBERS_MAX; i++)
		many[i] = (struct ecmp_member){i, i == 0 ? 256 : 1};
	ecmp_fill(buckets, many, ECMP_MEMBERS_MAX, NULL);
	for (uint16_t i = 0; i < ECMP_MEMBERS_MAX; i++)
		CHECK(count(buckets, i) >= 1);
}

/* A member that goes moves its own buckets, one that comes takes its share and no more. */
static void
test_changes(void)
{
	static const struct ecmp_member all[] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}};
	static const struct ecmp_member less[] = {{1, 1}, {2, 1}, {4, 1}};
	uint16_t before[ECMP_BUCKETS], after[ECMP_BUCKETS], again[ECMP_BUCKETS];

	ecmp_fill(before, all, 4, NULL);
	ecmp_fill(after, less, 3, before);
	for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
		CHECK(before[b] == 3 ? after[b] != 3 : after[b] == before[b]);
	for (uint16_t hop = 1; hop <= 4; hop++)
		CHECK(hop == 3 || count(after, hop) == 85 || count(after, hop) == 86);
	ecmp_fill(again, all, 4, after);
	CHECK_EQ(count(again, 3), 64);
	CHECK_EQ(moved(after, again), 64);
	ecmp_fill(after, all, 4, again);
	CHECK_EQ(moved(after, again), 0);
}

static void
make_v4(uint8_t *ip, uint32_t number)
{
	memset(ip, 0, 40);
	ip[0] = IPV4_NO_OPTIONS;
	ip[9] = IP_PROTO_UDP;
	be32_store(ip + 12, 0xc6120001);
	be32_store(ip + 16, 0xc6130001);
	be16_store(ip + 20, (uint16_t)(1024 + number % 50000));
	be16_store(ip + 22, (uint16_t)(number / 50000));
}

/* Flows that differ in ports alone, or in addresses alone, meet every bucket about as often. */
static void
check_spread(const unsigned int *hits)
{
	const unsigned int mean = FLOWS / ECMP_BUCKETS;

	for (unsigned int b = 0; b < ECMP_BUCKETS; b++)
		CHECK(hits[b] > mean / 2 && hits[b] < 2 * mean);
}

static void
test_spread(void)
{
	unsigned int ports[ECMP_BUCKETS] = {0}, targets[ECMP_BUCKETS] = {0};
	unsigned int v6[ECMP_BUCKETS] = {0};
	uint8_t ip[64];

	for (uint32_t i = 0; i < FLOWS; i++) {
		make_v4(ip, i);
		ports[ecmp_bucket_v4(ip, 40)]++;
		make_v4(ip, 0);
		be32_store(ip + 16, 0x0a000000 + i);
		targets[ecmp_bucket_v4(ip, 40)]++;
		memset(ip, 0, sizeof(ip));
		ip[6] = IP_PROTO_TCP;
		be32_store(ip + 8, 0x20010002);
		be32_store(ip + 24, 0x20010002);
		be32_store(ip + 36, i);
		v6[ecmp_bucket_v6(ip, 60)]++;
	}
	check_spread(ports);
	check_spread(targets);
	check_spread(v6);
}

/* Fragments of a packet go one way: the first has ports, the others have none. */
static void
test_fragments(void)
{
	uint8_t first[40], later[40];

	for (uint32_t i = 0; i < 1000; i++) {
		make_v4(first, i);
		make_v4(later, 7 * i + 1);
		first[6] = 0x20; /* more follow */
		later[7] = 0x10; /* not the first */
		CHECK_EQ(ecmp_bucket_v4(first, 40), ecmp_bucket_v4(later, 40));
	}
	/* Nothing behind what can be read counts. */
	make_v4(first, 1);
	make_v4(later, 2);
	CHECK_EQ(ecmp_bucket_v4(first, 23), ecmp_bucket_v4(later, 23));
}

int
main(void)
{
	test_shares();
	test_changes();
	test_spread();
	test_fragments();
	return 0;
}
