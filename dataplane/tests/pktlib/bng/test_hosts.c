/* SPDX-License-Identifier: Apache-2.0 */
/* Subscribers and their hosts: slots by key, learning, moving, expiry, several hosts a subscriber. */
#include <string.h>

#include "bng/hosts.h"
#include "../check.h"

static const uint8_t mac_a[6] = {2, 0, 0, 0, 0, 0xa}, mac_b[6] = {2, 0, 0, 0, 0, 0xb};

static const struct bng_host *
find(const struct bng_hosts *hosts, uint32_t key, uint32_t ip)
{
	uint32_t slot = bng_hosts_slot(hosts, key);

	return slot == BNG_NO_SLOT ? NULL : bng_hosts_find(hosts, slot, ip);
}

static void
check_mac(const struct bng_host *host, const uint8_t mac[6])
{
	CHECK(host != NULL);
	CHECK(memcmp((const uint8_t *)&host->mac + 2, mac, 6) == 0);
}

/* Every key that is a user's has its own slot, and no other key has one, dense or not. */
static void
test_slots(uint32_t workers, uint32_t worker, uint32_t step, bool dense)
{
	uint32_t last = worker + 999 * step * workers;
	struct bng_hosts hosts;

	CHECK_EQ(bng_hosts_init(&hosts, &bng_heap, 1000, worker, last, workers, 10), 0);
	CHECK_EQ(hosts.nb_dense > 0, dense);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQ(bng_hosts_add_user(&hosts, worker + i * step * workers, i, i % 16), 0);
	for (uint32_t key = 0; key < last + 100 && key < 200000; key++) {
		bool is_user = key >= worker && key <= last &&
			       (key - worker) % (step * workers) == 0;

		CHECK_EQ(bng_hosts_has_user(&hosts, key), is_user);
		if (is_user) {
			uint32_t i = (key - worker) / step / workers;
			const struct bng_host *host = &hosts.hosts[bng_hosts_slot(&hosts, key)];

			CHECK_EQ(host->mac, i % 16);
			CHECK_EQ(host->tags, bng_host_tags(i));
		}
	}
	CHECK(!bng_hosts_has_user(&hosts, UINT32_MAX));
	CHECK_EQ(hosts.nb_users, 1000);
	bng_hosts_free(&hosts);
}

static void
test_learning(uint32_t last_key)
{
	struct bng_hosts hosts;

	CHECK_EQ(bng_hosts_init(&hosts, &bng_heap, 2, 5, last_key, 1, 20), 0);
	CHECK_EQ(bng_hosts_add_user(&hosts, 5, bng_line(7, 42), 3), 0);
	CHECK_EQ(bng_hosts_add_user(&hosts, last_key, bng_line(7, 43), 1), 0);
	CHECK(find(&hosts, 5, 100) == NULL);
	CHECK(find(&hosts, 5, 0) == NULL); /* no address is not address 0 */
	CHECK_EQ(bng_hosts_learn(&hosts, 4, 100, mac_a, 50), BNG_LEARNED_NO_USER);
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 100, mac_a, 50), BNG_LEARNED_NEW);
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 100, mac_a, 60), BNG_LEARNED_AGAIN);
	CHECK_EQ(bng_hosts_learn(&hosts, last_key, 100, mac_b, 50), BNG_LEARNED_NEW);
	check_mac(find(&hosts, 5, 100), mac_a);
	check_mac(find(&hosts, last_key, 100), mac_b);
	CHECK_EQ(find(&hosts, 5, 100)->mac & BNG_HOST_PORT_MASK, 3);
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 100, mac_b, 60), BNG_LEARNED_MOVED);
	check_mac(find(&hosts, 5, 100), mac_b);

	/* Further hosts carry their subscriber's tags and port; there is a limit. */
	for (uint32_t i = 1; i < BNG_HOSTS_PER_USER; i++)
		CHECK_EQ(bng_hosts_learn(&hosts, 5, 100 + i, mac_a, 70 + i), BNG_LEARNED_NEW);
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 200, mac_a, 70), BNG_LEARNED_FULL);
	for (uint32_t i = 1; i < BNG_HOSTS_PER_USER; i++) {
		check_mac(find(&hosts, 5, 100 + i), mac_a);
		CHECK_EQ(find(&hosts, 5, 100 + i)->tags, bng_host_tags(bng_line(7, 42)));
		CHECK_EQ(find(&hosts, 5, 100 + i)->mac & BNG_HOST_PORT_MASK, 3);
	}
	CHECK_EQ(hosts.nb_known, BNG_HOSTS_PER_USER + 1);

	/* Expired hosts are unknown, and the rest is not. */
	CHECK_EQ(bng_hosts_expire(&hosts, 49, hosts.nb_places), 0);
	CHECK_EQ(bng_hosts_expire(&hosts, 50, hosts.nb_places), 1);
	CHECK(find(&hosts, last_key, 100) == NULL);
	CHECK_EQ(bng_hosts_expire(&hosts, 73, hosts.nb_places), 4); /* 60, 71, 72, 73 */
	CHECK(find(&hosts, 5, 100) == NULL);
	CHECK(find(&hosts, 5, 103) == NULL);
	check_mac(find(&hosts, 5, 104), mac_a);
	CHECK(bng_hosts_has_user(&hosts, 5));
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 300, mac_b, 90), BNG_LEARNED_NEW);
	check_mac(find(&hosts, 5, 300), mac_b);

	CHECK(bng_hosts_remove_user(&hosts, 5));
	CHECK(!bng_hosts_remove_user(&hosts, 5));
	CHECK(!bng_hosts_has_user(&hosts, 5));
	CHECK(find(&hosts, 5, 300) == NULL);
	CHECK_EQ(hosts.nb_known, 0);
	CHECK_EQ(hosts.nb_users, 1);
	CHECK_EQ(bng_hosts_expire(&hosts, 1000, hosts.nb_places), 0);
	bng_hosts_free(&hosts);
}

static void
test_static_hosts(void)
{
	struct bng_hosts hosts;

	CHECK_EQ(bng_hosts_init(&hosts, &bng_heap, 1, 5, 5, 1, 0), 0);
	CHECK_EQ(bng_hosts_add_user(&hosts, 5, 1, 0), 0);
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 100, mac_a, 0), BNG_LEARNED_NEW);
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 100, mac_b, 50), BNG_LEARNED_STATIC);
	CHECK_EQ(bng_hosts_learn(&hosts, 5, 101, mac_b, 50), BNG_LEARNED_FULL); /* no spare place */
	CHECK_EQ(bng_hosts_expire(&hosts, UINT32_MAX / 2, 10), 0);
	check_mac(find(&hosts, 5, 100), mac_a);
	bng_hosts_free(&hosts);
}

int
main(void)
{
	test_slots(1, 0, 1, true);
	test_slots(8, 3, 1, true);
	test_slots(7, 6, 2, true);
	test_slots(64, 63, 1, true);
	test_slots(1, 0, 100, false);
	test_slots(7, 2, 1000, false);
	test_learning(6);
	test_learning(BNG_KEY_MAX);
	test_static_hosts();
	return 0;
}
