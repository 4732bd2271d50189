/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are changed where frames go by them: what an address is looked up to on the way, and at the end. The
 * states are those of a kernel's messages. */
#include "tasks/router_in_place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ask.h"
#include "core/control.h"
#include "core/reload.h"
#include "lcore_bench.h"
#include "mirror/netlink.h"
#include "pktlib/bytes.h"
#include "tasks/router_check.h"
#include "tasks/router_hops.h"
#include "tasks/router_plan.h"
#include "tasks/router_tables_change.h"

#define STATES 150
#define STATES_LIVE 30
#define PAUSE_NS 100000
#define GATEWAYS 6
#define GROUPS 3
#define MANY 3000 /* more than the tables have room for, and than one hold takes */

/* They hold each other, end where tables of 256 entries do, and share these. */
static const char *const prefixes[] = {
	"0.0.0.0/0",
	"10.0.0.0/8",
	"10.1.0.0/16",
	"10.1.1.0/24",
	"10.1.1.0/25",
	"10.1.1.128/25",
	"10.1.1.64/26",
	"10.1.1.77/32",
	"10.1.2.0/23",
	"10.1.3.255/32",
	"::/0",
	"2001:2::/32",
	"2001:2:1::/48",
	"2001:2:1::/64",
	"2001:2:1:0:8000::/65",
	"2001:2:1::/56",
	"2001:2:1::7/128",
	"2001:2:1:ff::/64",
	"2001:2:2::/47",
	"2001:2:3:ffff::/64",
};
static const char *const addresses[] = {
	"9.0.0.1",       "10.0.0.1",       "10.1.0.1",    "10.1.1.1",
	"10.1.1.65",     "10.1.1.77",      "10.1.1.129",  "10.1.1.255",
	"10.1.2.1",      "10.1.3.254",     "10.1.3.255",  "2000::1",
	"2001:2::1",     "2001:2:1::1",    "2001:2:1::7", "2001:2:1:0:8000::1",
	"2001:2:1:1::1", "2001:2:1:ff::1", "2001:2:2::1", "2001:2:3:ffff::1",
};
static const char *const names[] = {"east", "west"};

#define ADDRESSES RTE_DIM(addresses)

/* What a frame to an address meets: a kind, and the neighbour or the group; 0: no route. */
typedef uint64_t answer;

static answer
answer_of(uint8_t kind, uint16_t id, const uint8_t *target)
{
	return UINT64_C(1) << 48 | (uint64_t)kind << 32 |
	       (kind == ROUTE_GROUP     ? id
		: kind == ROUTE_FORWARD ? be16_load(target + 4)
					: 0u);
}

static uint8_t
read_address(const char *text, uint8_t *octets)
{
	uint8_t version = strchr(text, ':') == NULL ? 4 : 6;

	memset(octets, 0, 16);
	CHECK_EQ(inet_pton(version == 4 ? AF_INET : AF_INET6, text, octets), 1);
	return version;
}

static answer
looked_up(const struct router_tables *tables, unsigned int address)
{
	uint64_t value = FIB_NO_ROUTE;
	uint8_t octets[1][16];

	if (read_address(addresses[address], octets[0]) == 4) {
		uint32_t number = be32_load(octets[0]);

		fib_lookup_v4(&tables->fibs[0], &number, &value, 1);
	} else {
		fib_lookup_v6(&tables->fibs[0], octets, &value, 1);
	}
	return value == FIB_NO_ROUTE ? 0
				     : answer_of(tables->hops[value].kind, tables->hops[value].id,
						 tables->hops[value].macs);
}

static bool
holds(const struct route *route, uint8_t version, const uint8_t *address)
{
	if (route->version != version)
		return false;
	for (unsigned int bit = 0; bit < route->length; bit++)
		if ((route->prefix[bit / 8] ^ address[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
}

/* The answer by the longest of the routes, without tables. */
static answer
wanted(const struct routes *routes, unsigned int address)
{
	const struct route *best = NULL;
	const struct route_hop *hop;
	uint8_t octets[16], version = read_address(addresses[address], octets);

	for (uint32_t i = 0; i < routes->nb_routes; i++)
		if (holds(&routes->list[i], version, octets) &&
		    (best == NULL || routes->list[i].length > best->length))
			best = &routes->list[i];
	if (best == NULL)
		return 0;
	hop = &routes->hops[best->hop];
	return answer_of(hop->kind, hop->id, hop->target);
}

static unsigned int
any(unsigned int nb)
{
	static uint32_t seed = 7;

	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % nb;
}

/* Gateways that are known, objects of them, and groups whose members change. */
static void
report_gateways(struct kernel *kernel)
{
	for (uint32_t i = 0; i < GATEWAYS; i++) {
		char v4[32], v6[32], mac[32];

		snprintf(v4, sizeof(v4), "192.0.2.%u", 1 + i);
		snprintf(v6, sizeof(v6), "2001:db8::%u", 1 + i);
		snprintf(mac, sizeof(mac), "2:0:0:0:9:%x", i);
		know(kernel, 11 + i % 2, v4, mac);
		know(kernel, 11 + i % 2, v6, mac);
		take(kernel, nexthop_message(RTM_NEWNEXTHOP, 100 + i, 11 + i % 2, v4));
		take(kernel, nexthop_message(RTM_NEWNEXTHOP, 200 + i, 11 + i % 2, v6));
	}
	for (uint32_t family = 1; family <= 2; family++)
		for (uint32_t i = 0; i < GROUPS; i++) {
			const uint32_t members[] = {100 * family + any(3),
						    100 * family + 3 + any(3), 0};

			take(kernel, group_message(100 * family + 50 + i, members));
		}
}

static void
report_routes(struct kernel *kernel)
{
	for (unsigned int i = 0; i < RTE_DIM(prefixes); i++) {
		struct route_message route = {.prefix = prefixes[i]};
		uint32_t family = strchr(prefixes[i], ':') == NULL ? 100 : 200;
		unsigned int kind = any(8);

		if (kind < 2)
			continue;
		if (kind == 2)
			route.type = RTN_BLACKHOLE;
		else
			route.nexthop = family + (kind < 4 ? 50 + any(GROUPS) : any(GATEWAYS));
		add_route(kernel, &route);
	}
}

/* Routes of a state of the kernel, and its interfaces. */
struct state {
	struct kernel kernel;
	struct routes routes;
	struct router_links links;
};

static void
compile_state(struct state *state, struct hop_ids *ids)
{
	struct compile_report report;

	CHECK_EQ(state->kernel.malformed, 0);
	CHECK(compile(&state->kernel, ids, &state->routes, &report));
	CHECK(router_links_read(&state->links, &state->kernel, SOCKET_ID_ANY));
}

static void
close_state(struct state *state)
{
	router_links_close(&state->links);
	routes_free(&state->routes);
	kernel_close(&state->kernel);
}

static void
make_any_state(struct state *state, struct hop_ids *ids)
{
	open_router(&state->kernel);
	report_gateways(&state->kernel);
	report_routes(&state->kernel);
	compile_state(state, ids);
}

/* Put tables of a state in force in a new space. */
static struct router_space *
open_space(const struct state *state)
{
	struct router_space *space = router_space_get_empty("in place", SOCKET_ID_ANY, 2);
	char error[256];
	struct router_tables *tables;

	CHECK(space != NULL);
	tables = router_tables_make(space, &state->routes, NULL, error, sizeof(error));
	CHECK(tables != NULL);
	router_space_exchange(space, tables);
	router_space_settle(space);
	return space;
}

static struct router_difference_counts
differences(const struct router_space *space, const struct routes *routes)
{
	struct router_difference_counts counts;
	char lines[4096];
	FILE *file = fmemopen(lines, sizeof(lines), "w");

	CHECK(file != NULL);
	router_compare(atomic_load(&space->current), routes, names, file, &counts);
	fclose(file);
	CHECK_EQ(counts.wrong_lookups, 0);
	return counts;
}

static void
check_same(const struct router_space *space, const struct routes *routes)
{
	const struct router_tables *tables = atomic_load(&space->current);
	struct router_difference_counts counts = differences(space, routes);

	CHECK_EQ(counts.compared, routes->nb_routes);
	CHECK_EQ(counts.missing + counts.different + counts.extra, 0);
	CHECK_EQ(tables->nb_v4 + tables->nb_v6, routes->nb_routes);
}

/* Members of groups do not matter here. */
static void
fill_place(struct router_tables *tables, uint16_t place, const struct route_hop *hop)
{
	router_hop_fill(&tables->hops[place], hop);
	tables->hops[place].buckets = tables->buckets;
	tables->nb_hops = RTE_MAX(tables->nb_hops, place);
}

/* Make a plan one change after the other: at any time, each address has the answer of before or after. */
static void
step_through(struct router_tables *tables, const struct routes *routes)
{
	answer before[ADDRESSES], after[ADDRESSES];
	struct router_plan plan;

	for (unsigned int i = 0; i < ADDRESSES; i++) {
		before[i] = looked_up(tables, i);
		after[i] = wanted(routes, i);
	}
	CHECK_EQ(router_plan_open(&plan, tables, routes), 0);
	for (uint32_t i = 0; i < routes->nb_hops; i++)
		fill_place(tables, plan.places[i], &routes->hops[i]);
	for (uint32_t c = 0; c < plan.nb; c++) {
		CHECK_EQ(router_tables_set(tables, &plan.list[c]), 0);
		for (unsigned int i = 0; i < ADDRESSES; i++) {
			answer now = looked_up(tables, i);

			CHECK(now == before[i] || now == after[i]);
		}
	}
	for (unsigned int i = 0; i < ADDRESSES; i++)
		CHECK_EQ(looked_up(tables, i), after[i]);
	router_plan_close(&plan);
}

static struct router_space *
open_any_space(struct hop_ids *ids)
{
	struct router_space *space;
	struct state state;

	hop_ids_open(ids);
	make_any_state(&state, ids);
	space = open_space(&state);
	close_state(&state);
	return space;
}

static void
test_each_address_has_an_answer_of_before_or_after(void)
{
	struct router_space *space;
	struct state state;
	struct hop_ids ids;

	space = open_any_space(&ids);
	for (unsigned int i = 0; i < STATES; i++) {
		make_any_state(&state, &ids);
		step_through(atomic_load(&space->current), &state.routes);
		close_state(&state);
	}
	hop_ids_close(&ids);
	router_space_put(space);
}

/* They sleep between two rounds: all have one CPU. */
static struct bench
run_lcores(void)
{
	struct bench bench = bench_overloaded();

	CHECK_EQ(app_launch(bench.app), 0);
	control_lock();
	CHECK_EQ(ask_lcores(bench.app, NULL, lcore_pause, PAUSE_NS), 0);
	control_unlock();
	reload_open(bench.app);
	return bench;
}

static void
stop_lcores(struct bench *bench)
{
	reload_close();
	bench_down(bench);
}

static struct in_place_report
put(struct router_space *space, struct state *state, int expected)
{
	static const atomic_bool never;
	struct in_place_report report;
	int ret;

	/* The machine may be busy. */
	do
		ret = router_in_place(space, &state->routes, &state->links, &never, &report);
	while (ret == -ETIMEDOUT);
	CHECK_EQ(ret, expected);
	return report;
}

/* While lcores run: groups with other members, and hops that come and go. */
static void
test_tables_follow_any_state(void)
{
	struct bench bench = run_lcores();
	struct router_space *space;
	struct state state;
	struct hop_ids ids;

	space = open_any_space(&ids);
	for (unsigned int i = 0; i < STATES_LIVE; i++) {
		uint64_t generation = space->generation;
		struct in_place_report report;

		make_any_state(&state, &ids);
		report = put(space, &state, 0);
		CHECK_EQ(report.without_room, 0);
		CHECK(report.holds > 0);
		CHECK_EQ(space->generation, generation + 1);
		check_same(space, &state.routes);
		close_state(&state);
	}
	hop_ids_close(&ids);
	router_space_put(space);
	stop_lcores(&bench);
}

static void
add_many(struct kernel *kernel, uint8_t first, const char *gateway)
{
	for (unsigned int i = 0; i < MANY; i++) {
		struct route_message route = {.link = 11, .gateway = gateway};
		char prefix[32];

		snprintf(prefix, sizeof(prefix), "%u.%u.%u.0/25", first, i >> 8, i & 0xff);
		route.prefix = prefix;
		add_route(kernel, &route);
	}
}

/* Routes beyond the room of the tables are omitted; what they replace goes, and what there is room for comes. */
static void
test_routes_without_room(void)
{
	const struct route_message base = {
		.prefix = "60.0.0.0/8", .link = 11, .gateway = "192.0.2.1"};
	const struct route_message changed = {
		.prefix = "60.0.0.0/8", .link = 12, .gateway = "192.0.2.2"};
	struct bench bench = run_lcores();
	struct in_place_report report;
	struct router_space *space;
	struct state few, many;
	struct hop_ids ids;

	hop_ids_open(&ids);
	open_router(&few.kernel);
	report_gateways(&few.kernel);
	add_route(&few.kernel, &base);
	compile_state(&few, &ids);
	space = open_space(&few);

	open_router(&many.kernel);
	report_gateways(&many.kernel);
	add_route(&many.kernel, &changed);
	add_many(&many.kernel, 60, "192.0.2.3");
	compile_state(&many, &ids);
	report = put(space, &many, 0);
	CHECK(report.without_room > 0);
	CHECK(report.changed > 1000);
	CHECK(report.holds > 1);
	CHECK_EQ(differences(space, &many.routes).different, 0);
	CHECK_EQ(differences(space, &many.routes).missing, report.without_room);

	CHECK_EQ(put(space, &few, 0).without_room, 0);
	check_same(space, &few.routes);
	CHECK_EQ(put(space, &few, 0).changed, 0);
	close_state(&few);
	close_state(&many);
	hop_ids_close(&ids);
	router_space_put(space);
	stop_lcores(&bench);
}

/* A VRF that the tables have not is the kernel's: its routes are omitted, and its interface has none. */
static void
test_new_vrf_is_left_to_the_kernel(void)
{
	const struct route_message route = {
		.prefix = "10.0.0.0/8", .table = 10, .link = 12, .gateway = "192.0.2.2"};
	struct bench bench = run_lcores();
	const struct router_tables *tables;
	struct router_space *space;
	struct hop_ids ids;
	struct state state;

	hop_ids_open(&ids);
	open_router(&state.kernel);
	report_gateways(&state.kernel);
	compile_state(&state, &ids);
	space = open_space(&state);
	close_state(&state);

	open_router(&state.kernel);
	kernel_apply(&state.kernel, vrf_message(RTM_NEWLINK, 50, IFF_UP, "red", 10));
	kernel_apply(&state.kernel,
		     in_vrf(link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 1500), 50, 10));
	report_gateways(&state.kernel);
	add_route(&state.kernel, &route);
	compile_state(&state, &ids);
	CHECK(put(space, &state, 0).without_room > 0);
	tables = atomic_load(&space->current);
	CHECK_EQ(tables->links.fibs[0], ROUTER_FIBS - 1);
	CHECK_EQ(tables->links.fibs[1], 0);
	CHECK(tables->links.macs[0] != ROUTER_DOWN);
	close_state(&state);
	hop_ids_close(&ids);
	router_space_put(space);
	stop_lcores(&bench);
}

int
main(void)
{
	harness_start();
	test_each_address_has_an_answer_of_before_or_after();
	test_tables_follow_any_state();
	test_routes_without_room();
	test_new_vrf_is_left_to_the_kernel();
	return 0;
}
