/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup tables: every route is found, however many tables it takes, and entries are as wide as
 * these need. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "pktlib/bytes.h"
#include "tasks/fib.h"

/* More tables than entries of two octets can number. */
#define MANY_V4 33000u
#define MANY_V6 12000u /* each alone in a /32: three tables */

struct made {
	struct routes routes;
	uint32_t room;
};

static void
make(struct made *made, uint32_t room)
{
	*made = (struct made){.room = room};
	made->routes.list = calloc(room, sizeof(*made->routes.list));
	CHECK(made->routes.list != NULL);
}

static struct route *
add(struct made *made, uint8_t version, uint8_t length, uint32_t first_octets)
{
	struct route *route = &made->routes.list[made->routes.nb_routes];

	CHECK(made->routes.nb_routes < made->room);
	route->version = version;
	route->length = length;
	route->hop = (uint16_t)(made->routes.nb_routes % ROUTES_HOPS_MAX);
	be32_store(route->prefix, first_octets);
	made->routes.nb_routes++;
	return route;
}

static uint64_t
find(const struct fib *fib, uint8_t version, const uint8_t *address)
{
	uint32_t v4 = be32_load(address);
	uint8_t v6[1][16];
	uint64_t value = UINT64_MAX;

	memcpy(v6[0], address, sizeof(v6[0]));
	if (version == 4)
		fib_lookup_v4(fib, &v4, &value, 1);
	else
		fib_lookup_v6(fib, v6, &value, 1);
	return value;
}

/* Each prefix leads to its own hop; the address before it, which nobody has, to none. */
static void
check_all(const struct fib *fib, const struct routes *routes)
{
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];
		uint8_t address[16];

		memcpy(address, route->prefix, sizeof(address));
		CHECK_EQ(find(fib, route->version, address), 1 + (uint64_t)route->hop);
		be32_store(address, be32_load(address) - 1);
		CHECK_EQ(find(fib, route->version, address), FIB_NO_ROUTE);
	}
}

static void
test_many(void)
{
	struct made made;
	struct fib_size size;
	struct fib fib;

	make(&made, MANY_V4 + MANY_V6);
	for (uint32_t i = 0; i < MANY_V4; i++)
		add(&made, 4, 32, 0x0a000001 + (i << 8));
	for (uint32_t i = 0; i < MANY_V6; i++)
		be16_store(add(&made, 6, 48, 0x24000000 + 2 * i)->prefix + 4, 1);
	CHECK(fib_size(&made.routes, 4, FIB_EXACT, &size));
	CHECK_EQ(size.routes, MANY_V4);
	CHECK_EQ(size.entry_bytes, 4);
	CHECK(size.bytes > (UINT64_C(64) << 20));
	CHECK(fib_size(&made.routes, 6, FIB_EXACT, &size));
	CHECK_EQ(size.entry_bytes, 4);
	CHECK(size.tables >= 3 * MANY_V6);
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_EXACT, SOCKET_ID_ANY, NULL), 0);
	check_all(&fib, &made.routes);
	fib_free(&fib);
	CHECK(fib.v4 == NULL && fib.v6 == NULL);
	free(made.routes.list);
}

/* Few routes have the smallest tables, and none has none. */
static void
test_few(void)
{
	static uint8_t somewhere[16] = {10, 1};
	struct made made;
	struct fib_size size;
	struct fib fib;

	make(&made, 1);
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_EXACT, SOCKET_ID_ANY, NULL), 0);
	CHECK(fib.v4 == NULL && fib.v6 == NULL);
	CHECK_EQ(find(&fib, 4, somewhere), FIB_NO_ROUTE);
	CHECK_EQ(find(&fib, 6, somewhere), FIB_NO_ROUTE);
	add(&made, 4, 8, 0x0a000000);
	CHECK(fib_size(&made.routes, 6, FIB_EXACT, &size));
	CHECK_EQ(size.bytes, 0);
	CHECK(fib_size(&made.routes, 4, FIB_EXACT, &size));
	CHECK_EQ(size.entry_bytes, 2);
	CHECK(size.bytes < (UINT64_C(33) << 20));
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_EXACT, SOCKET_ID_ANY, NULL), 0);
	CHECK(fib.v6 == NULL);
	CHECK_EQ(find(&fib, 4, somewhere), 1);
	fib_free(&fib);
	free(made.routes.list);
}

/* A table that DPDK's memory cannot hold is an error, and nothing is left of it. */
static void
test_too_many(void)
{
	struct made made;
	struct fib fib;

	make(&made, 1 << 19);
	for (uint32_t i = 0; i < 1 << 19; i++)
		add(&made, 4, 32, i << 11);
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_EXACT, SOCKET_ID_ANY, NULL), -ENOMEM);
	CHECK(fib.v4 == NULL && fib.v6 == NULL);
	free(made.routes.list);
}

/* A build that is given up leaves nothing. */
static void
test_canceled(void)
{
	atomic_bool cancel = true;
	struct made made;
	struct fib fib;

	make(&made, 1);
	add(&made, 4, 8, 0x0a000000);
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_EXACT, SOCKET_ID_ANY, &cancel), -ECANCELED);
	CHECK(fib.v4 == NULL);
	cancel = false;
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_EXACT, SOCKET_ID_ANY, &cancel), 0);
	fib_free(&fib);
	free(made.routes.list);
}

/* Prefixes that nest, few enough to meet again; a default route is one of them. */
static void
random_prefix(struct route *route)
{
	static const uint8_t lengths[2][8] = {{0, 7, 8, 16, 24, 25, 30, 32},
					      {0, 7, 20, 24, 32, 33, 48, 128}};
	bool is_v6 = rand() % 2 != 0;
	uint8_t octets[16] = {0};

	*route = (struct route){.version = is_v6 ? 6 : 4, .length = lengths[is_v6][rand() % 8]};
	for (unsigned int i = 0; i < (is_v6 ? 6 : 4); i++)
		octets[i] = (uint8_t)(i == 0 ? 10 + rand() % 2 : rand() % 3 * 127);
	for (unsigned int bit = 0; bit < route->length; bit++)
		route->prefix[bit / 8] |= octets[bit / 8] & (0x80 >> bit % 8);
}

static bool
is_in(const struct route *route, uint8_t version, const uint8_t *address)
{
	for (unsigned int bit = 0; bit < route->length; bit++)
		if ((route->prefix[bit / 8] ^ address[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return route->version == version;
}

/* Each prefix has its value, and each of its ends is looked up to that of the longest one. */
static void
check_model(const struct fib *fib, const struct routes *model)
{
	for (uint32_t i = 0; i < model->nb_routes; i++) {
		const struct route *route = &model->list[i], *best = route;

		CHECK_EQ(fib_value(fib, route), 1 + (uint64_t)route->hop);
		CHECK(fib_agrees(fib, route));
		for (uint32_t k = 0; k < model->nb_routes; k++)
			if (model->list[k].length > best->length &&
			    is_in(&model->list[k], route->version, route->prefix))
				best = &model->list[k];
		CHECK_EQ(find(fib, route->version, route->prefix), 1 + (uint64_t)best->hop);
	}
}

#define CHANGES 2000
#define CHECKED 250 /* changes between checks */

/* Routes that come, change and go have the answers of tables made of them. */
static void
test_changes(struct fib_room room)
{
	unsigned int built_anew = 0;
	struct made made;
	struct fib fib;

	srand(7);
	make(&made, 4096);
	add(&made, 4, 8, 0x0a000000);
	add(&made, 6, 8, 0x20000000);
	CHECK_EQ(fib_build(&fib, &made.routes, room, SOCKET_ID_ANY, NULL), 0);
	for (unsigned int i = 1; i <= CHANGES; i++) {
		struct routes *model = &made.routes;
		struct route route;
		uint32_t at = 0;

		random_prefix(&route);
		route.hop = (uint16_t)(rand() % ROUTES_HOPS_MAX);
		while (at < model->nb_routes && route_compare(&model->list[at], &route) != 0)
			at++;
		if (rand() % 2 == 0 && at < model->nb_routes) {
			route.hop = ROUTE_GONE;
			model->list[at] = model->list[--model->nb_routes];
		} else {
			CHECK(at < made.room);
			model->list[at] = route;
			model->nb_routes += at == model->nb_routes;
		}
		if (fib_change(&fib, &route,
			       route.hop == ROUTE_GONE ? FIB_NO_ROUTE : 1 + (uint64_t)route.hop) !=
		    0) {
			built_anew++;
			fib_free(&fib);
			CHECK_EQ(fib_build(&fib, model, room, SOCKET_ID_ANY, NULL), 0);
		}
		CHECK_EQ(fib_settle(&fib), 0);
		if (i % CHECKED == 0)
			check_model(&fib, model);
	}
	printf("%u of %u changes led to new tables\n", built_anew, CHANGES);
	CHECK(built_anew < CHANGES / 50);
	fib_free(&fib);
	free(made.routes.list);
}

/* Prefixes that come with the hop of a shorter one, and go, as neighbours do: tables have as much room as before, however
 * often, which rte_fib's own count would not. */
static void
test_changes_use_up_nothing(void)
{
	const struct route v4 = {.version = 4, .length = 25, .prefix = {10, 1, 1}};
	const struct route v6 = {.version = 6, .length = 128, .prefix = {0x20, 1, 0, 2}};
	struct made made;
	struct fib fib;

	make(&made, 2);
	add(&made, 4, 8, 0x0a000000);
	add(&made, 6, 8, 0x20000000)->hop = 0;
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_ROOM, SOCKET_ID_ANY, NULL), 0);
	for (unsigned int i = 0; i < 3000; i++) {
		CHECK_EQ(fib_change(&fib, &v4, 1 + i % 2), 0);
		CHECK_EQ(fib_change(&fib, &v6, 1 + i % 2), 0);
		CHECK_EQ(fib_change(&fib, &v4, FIB_NO_ROUTE), 0);
		CHECK_EQ(fib_change(&fib, &v6, FIB_NO_ROUTE), 0);
	}
	check_all(&fib, &made.routes);
	fib_free(&fib);
	free(made.routes.list);
}

/* Tables with room for many routes take these, though they begin with none. */
static void
test_room_for_more(void)
{
	struct fib_room room = FIB_ROOM;
	struct routes none = {0};
	struct fib_size size;
	struct fib fib;

	room.least[0] = room.least[1] = 20000;
	CHECK(fib_size(&none, 4, FIB_ROOM, &size));
	CHECK_EQ(size.routes, 0);
	CHECK_EQ(fib_build(&fib, &none, room, SOCKET_ID_ANY, NULL), 0);
	for (uint32_t i = 0; i < 20000; i++) {
		struct route v4 = {.version = 4, .length = 24}, v6 = {.version = 6, .length = 32};

		be32_store(v4.prefix, (1 << 24) + (i << 8));
		be32_store(v6.prefix, 0x20010000 + i / 2);
		v6.prefix[4] = i % 2;
		v6.length += 16 * (i % 2);
		CHECK_EQ(fib_change(&fib, &v4, 1 + i % 7), 0);
		CHECK_EQ(fib_change(&fib, &v6, 1 + i % 5), 0);
	}
	CHECK_EQ(fib_settle(&fib), 0);
	fib_free(&fib);
}

/* Changes for which there is no room leave all as it was, and others succeed. */
static void
test_change_without_room(void)
{
	struct route route = {.version = 4, .length = 25};
	unsigned int refused = 0;
	struct made made;
	struct fib fib;

	make(&made, 2);
	add(&made, 4, 8, 0x0a000000);
	add(&made, 6, 8, 0x20000000);
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_ROOM, SOCKET_ID_ANY, NULL), 0);
	for (unsigned int i = 0; i < 2000; i++) {
		int ret;

		be32_store(route.prefix, 0x0a000000 + (i << 8));
		ret = fib_change(&fib, &route, 3);
		CHECK(ret == 0 || ret == -ENOSPC);
		CHECK_EQ(fib_value(&fib, &route), ret == 0 ? 3 : FIB_NO_ROUTE);
		CHECK_EQ(find(&fib, 4, route.prefix), ret == 0 ? 3 : 1);
		refused += ret != 0;
	}
	CHECK(refused > 0 && refused < 1000);
	route = (struct route){.version = 6, .length = 128};
	for (refused = 0; refused == 0 && route.prefix[3] < 255; route.prefix[3]++) {
		int ret;

		be32_store(route.prefix, 0x20000000 + ((uint32_t)route.prefix[3] + 1));
		ret = fib_change(&fib, &route, 4);
		CHECK_EQ(find(&fib, 6, route.prefix), ret == 0 ? 4 : 2);
		refused += ret != 0;
	}
	CHECK_EQ(refused, 1);
	be32_store(route.prefix, 0x20000001);
	CHECK_EQ(fib_change(&fib, &route, FIB_NO_ROUTE), 0);
	CHECK_EQ(fib_change(&fib, &route, 5), 0);
	fib_free(&fib);
	free(made.routes.list);
}

/* Few routes of a VRF take little memory; many have tables as those of main. */
static void
test_small(void)
{
	struct made made;
	struct fib_size size;
	struct fib fib;

	make(&made, 1025);
	for (uint32_t i = 0; i < 1024; i++)
		add(&made, 4, 32, 0x0a000001 + (i << 8));
	CHECK(fib_size(&made.routes, 4, FIB_SMALL, &size));
	CHECK(size.is_small && size.bytes < 1000000);
	CHECK_EQ(fib_build(&fib, &made.routes, FIB_SMALL, SOCKET_ID_ANY, NULL), 0);
	check_all(&fib, &made.routes);
	fib_free(&fib);
	add(&made, 4, 24, 0x0b000000);
	CHECK(fib_size(&made.routes, 4, FIB_SMALL, &size));
	CHECK(!size.is_small);
	free(made.routes.list);
}

int
main(void)
{
	harness_start();
	test_few();
	test_changes(FIB_ROOM);
	test_changes(FIB_SMALL);
	test_changes_use_up_nothing();
	test_room_for_more();
	test_change_without_room();
	test_small();
	test_canceled();
	test_too_many();
	test_many();
	return 0;
}
