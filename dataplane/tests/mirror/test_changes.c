/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of changed prefixes: applied to the routes of before, they give what making all anew gives. */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mirror/compile.h"
#include "netlink.h"
#include "random.h"

#define ROUTES_MOST 4096

static struct kernel kernel;
static struct hop_ids ids;
static struct routes routes; /* with changes in it */
static struct compile_report report;
static struct route list[ROUTES_MOST]; /* of `routes`, with the changes */
static uint32_t nb;

static void
compile_all(void)
{
	routes_free(&routes);
	CHECK(compile(&kernel, &ids, &routes, &report));
	kernel_forget_changes(&kernel);
	CHECK(routes.nb_routes <= ROUTES_MOST);
	nb = routes.nb_routes;
	memcpy(list, routes.list, nb * sizeof(*list));
}

/* Two links with connected prefixes and a neighbour on each. */
static void
begin(void)
{
	open_router(&kernel);
	hop_ids_open(&ids);
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.0/24", .link = 11});
	add_route(&kernel, &(struct route_message){.prefix = "10.0.1.0/24", .link = 12});
	add_route(&kernel,
		  &(struct route_message){.prefix = "2001:db8::/64", .link = 12, .priority = 256});
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.1/32",
						   .link = 11,
						   .table = RT_TABLE_LOCAL,
						   .type = RTN_LOCAL});
	take(&kernel,
	     neighbour_message(RTM_NEWNEIGH, 11, "10.0.0.9", "2:0:0:0:0:19", NUD_REACHABLE));
	take(&kernel,
	     neighbour_message(RTM_NEWNEIGH, 12, "10.0.1.9", "2:0:0:0:0:29", NUD_REACHABLE));
	take(&kernel,
	     neighbour_message(RTM_NEWNEIGH, 12, "fe80::9", "2:0:0:0:0:39", NUD_REACHABLE));
	compile_all();
}

/* The same with two VRFs: interface 12 is in the first one, and routes of main by it leak. */
static void
begin_vrfs(void)
{
	begin();
	take(&kernel, vrf_message(RTM_NEWLINK, 50, IFF_UP, "red", 10));
	take(&kernel, vrf_message(RTM_NEWLINK, 51, IFF_UP, "blue", 20));
	take(&kernel, in_vrf(link_message(RTM_NEWLINK, 12, IFF_UP, "2:0:0:0:0:c", 1400), 50, 10));
	add_route(&kernel,
		  &(struct route_message){.prefix = "10.0.1.0/24", .link = 12, .table = 10});
	add_route(&kernel,
		  &(struct route_message){
			  .prefix = "2001:db8::/64", .link = 12, .priority = 256, .table = 10});
	compile_all();
}

static struct route *
find(struct route *in, uint32_t count, const struct route *prefix)
{
	for (uint32_t i = 0; i < count; i++)
		if (in[i].vrf == prefix->vrf && route_compare(&in[i], prefix) == 0)
			return &in[i];
	return NULL;
}

/* Make the changes. Return false: all must be made anew. */
static bool
change(void)
{
	struct route *changes;
	uint32_t nb_changes;

	if (!compile_changes(&kernel, &ids, &routes, &report, &changes, &nb_changes))
		return false;
	kernel_forget_changes(&kernel);
	for (uint32_t i = 0; i < nb_changes; i++) {
		struct route *route = find(list, nb, &changes[i]);

		CHECK(changes[i].hop == ROUTE_GONE || changes[i].hop < routes.nb_hops);
		if (changes[i].hop == ROUTE_GONE && route != NULL)
			*route = list[--nb];
		else if (changes[i].hop != ROUTE_GONE && route != NULL)
			*route = changes[i];
		else if (changes[i].hop != ROUTE_GONE)
			list[nb++] = changes[i];
	}
	free(changes);
	return true;
}

static void
check_same_hop(const struct routes *ours, const struct route_hop *one, const struct routes *theirs,
	       const struct route_hop *other)
{
	CHECK_EQ(one->kind, other->kind);
	CHECK_EQ(one->port, other->port);
	CHECK_EQ(one->mtu, other->mtu);
	CHECK_EQ(one->nb_members, other->nb_members);
	CHECK(memcmp(one->target, other->target, sizeof(one->target)) == 0);
	for (uint32_t i = 0; i < one->nb_members; i++)
		check_same_hop(ours, &ours->hops[ours->members[one->first_member + i].hop], theirs,
			       &theirs->hops[theirs->members[other->first_member + i].hop]);
}

/* The changed routes are those that are made anew, which become the ones to change. */
static void
check_all(void)
{
	uint32_t neighbours = report.neighbours;
	struct routes anew;

	CHECK(compile(&kernel, &ids, &anew, &report));
	CHECK_EQ(report.neighbours, neighbours);
	CHECK_EQ(anew.nb_routes, nb);
	for (uint32_t i = 0; i < nb; i++) {
		const struct route *ours = find(list, nb, &anew.list[i]);

		CHECK(ours != NULL);
		check_same_hop(&routes, &routes.hops[ours->hop], &anew,
			       &anew.hops[anew.list[i].hop]);
	}
	routes_free(&routes);
	routes = anew;
	memcpy(list, anew.list, nb * sizeof(*list));
}

/* Prefixes that nest, few enough to meet again. */
static void
random_prefix(uint64_t *seed, bool is_v6, char *text, size_t size)
{
	unsigned int length = random_next(seed) % 4, at = random_next(seed) % 4;

	if (length == 0)
		snprintf(text, size, is_v6 ? "::/0" : "0.0.0.0/0");
	else if (length == 1)
		snprintf(text, size, is_v6 ? "2001:%x::/20" : "%u.0.0.0/8",
			 is_v6 ? at << 12 : 11 + at);
	else
		snprintf(text, size, is_v6 ? "2001:%x::/28" : "11.%u.0.0/11",
			 is_v6 ? at << 4 : at * 32);
}

/* Put a route, and maybe delete it: the kernel names the one that it deletes. */
static void
change_randomly(uint64_t *seed, bool has_vrfs)
{
	static const char *const gateways[2][3] = {{"10.0.1.9", "10.0.1.7", "10.0.0.8"},
						   {"fe80::9", "fe80::8", "fe80::7"}};
	static const uint8_t types[] = {0, 0, 0, RTN_BLACKHOLE, RTN_UNREACHABLE};
	bool is_v6 = random_next(seed) % 2 != 0;
	struct route_message route = {
		.type = types[random_next(seed) % 5],
		.priority = random_next(seed) % 3 * 100,
		.flags = NLM_F_REPLACE,
		.link = 12,
	};
	char prefix[64];

	if (has_vrfs)
		route.table = random_next(seed) % 3 * 10;
	random_prefix(seed, is_v6, prefix, sizeof(prefix));
	route.prefix = prefix;
	if (route.type == 0)
		route.gateway = gateways[is_v6][random_next(seed) % 3];
	if (route.type == 0 && !is_v6 && random_next(seed) % 4 == 0) {
		route.gateways[0] = "10.0.0.9";
		route.gateways[1] = "10.0.1.9";
		route.links[0] = 11;
		route.links[1] = 12;
		route.gateway = NULL;
		route.link = 0;
	}
	CHECK_EQ(take(&kernel, route_message(RTM_NEWROUTE, &route)), KERNEL_CHANGED);
	if (random_next(seed) % 2 == 0)
		CHECK_EQ(take(&kernel, route_message(RTM_DELROUTE, &route)), KERNEL_CHANGED);
}

/* A prefix that holds neighbours comes or goes: of their link, or by a gateway. */
static void
change_connected(uint64_t *seed, bool has_vrfs)
{
	static const char *const prefixes[] = {"10.0.1.0/24", "10.0.1.16/28", "10.0.1.0/27",
					       "10.0.1.24/32", "2001:db8::/64"};
	struct route_message route = {
		.prefix = prefixes[random_next(seed) % 5],
		.link = 12,
		.flags = NLM_F_REPLACE,
	};

	route.priority = route.prefix[0] == '2' ? 256 : 0;
	if (has_vrfs)
		route.table = random_next(seed) % 2 * 10;
	if (route.priority == 0 && random_next(seed) % 3 == 0)
		route.gateway = "10.0.1.9";
	CHECK_EQ(take(&kernel, route_message(RTM_NEWROUTE, &route)), KERNEL_CHANGED);
	if (random_next(seed) % 2 == 0)
		CHECK_EQ(take(&kernel, route_message(RTM_DELROUTE, &route)), KERNEL_CHANGED);
}

/* A neighbour of a link, maybe a gateway, comes, goes, or has another address, maybe that of another one. */
static void
change_neighbour(uint64_t *seed)
{
	char address[32], mac[32];

	snprintf(address, sizeof(address),
		 random_next(seed) % 4 == 0 ? "2001:db8::%u" : "10.0.1.%u",
		 random_next(seed) % 4 == 0 ? 7 + random_next(seed) % 3 * 2
					    : 20 + random_next(seed) % 20);
	snprintf(mac, sizeof(mac), "2:0:0:0:%x:29", random_next(seed) % 30);
	take(&kernel, neighbour_message(RTM_NEWNEIGH, 12, address, mac,
					random_next(seed) % 4 == 0 ? NUD_FAILED : NUD_REACHABLE));
}

static void
test_random(bool has_vrfs)
{
	uint64_t seed = 7;
	unsigned int changed = 0;

	if (has_vrfs)
		begin_vrfs();
	else
		begin();
	for (unsigned int turn = 0; turn < 4000; turn++) {
		for (unsigned int i = random_next(&seed) % 4; i > 0; i--)
			change_randomly(&seed, has_vrfs);
		if (turn % 4 != 0)
			change_neighbour(&seed);
		if (turn % 3 == 0)
			change_connected(&seed, has_vrfs);
		if (change()) {
			changed++;
			check_all();
		} else {
			compile_all();
		}
	}
	CHECK(nb > 8);
	CHECK(changed > 2000);
	close_router(&kernel, &ids, &routes);
}

/* Neighbours have host routes only while their longest prefix leads to their link. */
static void
test_neighbours(void)
{
	begin();
	add_route(&kernel, &(struct route_message){
				   .prefix = "0.0.0.0/0", .link = 12, .gateway = "10.0.1.9"});
	add_route(&kernel,
		  &(struct route_message){.prefix = "::/0", .link = 12, .gateway = "fe80::9"});
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.128/25", .link = 12});
	CHECK(change());
	check_all();
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.0/28", .link = 12});
	CHECK(change());
	check_all();
	CHECK_EQ(take(&kernel,
		      route_message(RTM_DELROUTE,
				    &(struct route_message){.prefix = "10.0.0.0/28", .link = 12})),
		 KERNEL_CHANGED);
	CHECK(change());
	check_all();
	close_router(&kernel, &ids, &routes);
}

/* Other changes may concern any route. */
static void
test_others(void)
{
	begin();
	CHECK(change());
	CHECK_EQ(take(&kernel,
		      neighbour_message(RTM_NEWNEIGH, 11, "10.0.0.9", "2:0:0:0:0:19", NUD_STALE)),
		 KERNEL_SAME);
	CHECK(change());
	CHECK_EQ(take(&kernel, link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 1400)),
		 KERNEL_CHANGED);
	CHECK(!change());
	compile_all();
	/* A new next-hop object concerns no route; another one in its place does. */
	CHECK_EQ(take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 5, 12, "10.0.1.9")), KERNEL_SAME);
	add_route(&kernel, &(struct route_message){.prefix = "10.9.0.0/16", .nexthop = 5});
	CHECK(change());
	check_all();
	CHECK_EQ(take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 5, 11, "10.0.0.9")), KERNEL_CHANGED);
	CHECK(!change());
	compile_all();
	close_router(&kernel, &ids, &routes);
}

/* Report a neighbour of interface 12. */
static void
note(const char *address, const char *mac, uint16_t state)
{
	CHECK_EQ(take(&kernel, neighbour_message(RTM_NEWNEIGH, 12, address, mac, state)),
		 KERNEL_CHANGED);
}

/* Neighbours come and go with their host routes, and move with all that leads to them. */
static void
test_moves(void)
{
	uint32_t hosts;

	begin();
	hosts = report.neighbours;
	note("10.0.1.50", "2:0:0:0:0:50", NUD_REACHABLE);
	CHECK(change());
	CHECK_EQ(report.neighbours, hosts + 1);
	check_all();
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.9.0.0/16", .link = 12, .gateway = "10.0.1.50"});
	CHECK(change());
	check_all();
	note("10.0.1.50", "2:0:0:0:0:51", NUD_REACHABLE);
	CHECK(change());
	check_all();
	note("10.0.1.50", "2:0:0:0:0:50", NUD_REACHABLE);
	CHECK(change());
	check_all();
	/* Two with one address have a hop each. */
	note("10.0.1.60", "2:0:0:0:0:50", NUD_REACHABLE);
	CHECK(change());
	check_all();
	note("10.0.1.60", "2:0:0:0:0:60", NUD_REACHABLE);
	CHECK(change());
	check_all();
	note("10.0.1.60", NULL, NUD_FAILED);
	CHECK(change());
	CHECK_EQ(report.neighbours, hosts + 1);
	check_all();
	/* A gateway that goes takes its routes with it. */
	note("10.0.1.50", NULL, NUD_FAILED);
	CHECK(!change());
	compile_all();
	/* To one address together, and from it at once. */
	note("10.0.1.50", "2:0:0:0:0:70", NUD_REACHABLE);
	note("10.0.1.60", "2:0:0:0:0:70", NUD_REACHABLE);
	CHECK(!change());
	compile_all();
	note("10.0.1.50", "2:0:0:0:0:71", NUD_REACHABLE);
	note("10.0.1.60", "2:0:0:0:0:72", NUD_REACHABLE);
	CHECK(change());
	check_all();
	close_router(&kernel, &ids, &routes);
}

/* A group with the id of one that is gone has members of its own. */
static void
test_group_again(void)
{
	const uint32_t both[] = {5, 6, 0}, other[] = {6, 8, 0};
	const struct route_message by_group = {.prefix = "10.9.0.0/16", .nexthop = 7};

	begin();
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 5, 12, "10.0.1.9"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 6, 11, "10.0.0.9"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 8, 12, "10.0.1.8"));
	CHECK_EQ(take(&kernel, group_message(7, both)), KERNEL_SAME);
	add_route(&kernel, &by_group);
	CHECK(change());
	check_all();
	CHECK_EQ(take(&kernel, route_message(RTM_DELROUTE, &by_group)), KERNEL_CHANGED);
	CHECK(change());
	CHECK_EQ(take(&kernel, nexthop_message(RTM_DELNEXTHOP, 7, 0, NULL)), KERNEL_SAME);
	CHECK_EQ(take(&kernel, group_message(7, other)), KERNEL_CHANGED);
	add_route(&kernel, &by_group);
	CHECK(!change());
	compile_all();
	close_router(&kernel, &ids, &routes);
}

/* Priorities, or changes, beyond those that are kept. */
static void
test_many(void)
{
	char prefix[32];

	begin();
	for (uint32_t i = 0; i <= KERNEL_CHANGES_MAX; i++) {
		snprintf(prefix, sizeof(prefix), "11.%u.%u.0/24", i % 3, i % 200);
		add_route(&kernel, &(struct route_message){
					   .prefix = prefix, .link = 11, .flags = NLM_F_REPLACE});
	}
	CHECK(!change());
	compile_all();
	for (uint32_t i = 0; i < KERNEL_RANKS_MAX; i++)
		add_route(&kernel, &(struct route_message){.prefix = "12.0.0.0/8",
							   .type = RTN_BLACKHOLE,
							   .priority = 1000 + i});
	CHECK(!change());
	compile_all();
	add_route(&kernel, &(struct route_message){.prefix = "13.0.0.0/8", .type = RTN_BLACKHOLE});
	CHECK(!change());
	close_router(&kernel, &ids, &routes);
}

int
main(void)
{
	test_random(false);
	test_random(true);
	test_neighbours();
	test_others();
	test_moves();
	test_group_again();
	test_many();
	return 0;
}
