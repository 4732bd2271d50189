/* SPDX-License-Identifier: Apache-2.0 */
/* The routes that a state gives: of each prefix the best one, by the kernel's rules. */
#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "check.h"
#include "mirror/compile.h"
#include "netlink.h"

static struct kernel kernel;
static struct hop_ids ids;
static struct routes routes;
static struct compile_report report;

/* Two links with connected prefixes and a neighbour on each. */
static void
begin(void)
{
	open_router(&kernel);
	hop_ids_open(&ids);
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.0/24", .link = 11});
	add_route(&kernel, &(struct route_message){.prefix = "10.0.1.0/24", .link = 12});
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.1/32",
						   .link = 11,
						   .table = RT_TABLE_LOCAL,
						   .type = RTN_LOCAL});
	know(&kernel, 11, "10.0.0.9", "2:0:0:0:0:19");
	know(&kernel, 12, "10.0.1.9", "2:0:0:0:0:29");
}

static void
compile_again(void)
{
	routes_free(&routes);
	CHECK(compile(&kernel, &ids, &routes, &report));
}

/* The hop of a prefix, or NULL: it has no route. */
static const struct route_hop *
find(const char *prefix)
{
	struct route key = {.version = strchr(prefix, ':') != NULL ? 6 : 4};
	const struct route_hop *found = NULL;
	char address[64];
	unsigned int length;

	CHECK_EQ(sscanf(prefix, "%63[^/]/%u", address, &length), 2);
	CHECK_EQ(inet_pton(key.version == 4 ? AF_INET : AF_INET6, address, key.prefix), 1);
	for (uint32_t i = 0; i < routes.nb_routes; i++) {
		const struct route *route = &routes.list[i];

		if (route->version != key.version || route->length != length ||
		    memcmp(route->prefix, key.prefix, 16) != 0)
			continue;
		CHECK(found == NULL);
		found = &routes.hops[route->hop];
	}
	return found;
}

static void
check_forward(const struct route_hop *hop, uint8_t port, uint8_t mac, uint16_t mtu)
{
	CHECK(hop != NULL);
	CHECK_EQ(hop->kind, ROUTE_FORWARD);
	CHECK_EQ(hop->port, port);
	CHECK_EQ(hop->target[5], mac);
	CHECK_EQ(hop->source[5], port == 0 ? 0xb : 0xc);
	CHECK_EQ(hop->mtu, mtu);
}

static void
check_kind(const char *prefix, enum route_kind kind)
{
	CHECK(find(prefix) != NULL);
	CHECK_EQ(find(prefix)->kind, kind);
}

static void
test_kinds(void)
{
	begin();
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.1.0.0/16", .link = 11, .gateway = "10.0.0.9"});
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.2.0.0/16", .link = 12, .gateway = "10.0.1.7"});
	add_route(&kernel, &(struct route_message){.prefix = "10.3.0.0/16", .type = RTN_BLACKHOLE});
	add_route(&kernel,
		  &(struct route_message){.prefix = "10.4.0.0/16", .type = RTN_UNREACHABLE});
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.5.0.0/16", .link = 77, .gateway = "10.9.9.9"});
	add_route(&kernel,
		  &(struct route_message){.prefix = "10.6.0.0/16", .link = 11, .mtu = 1300});
	add_route(&kernel, &(struct route_message){
				   .prefix = "2001:2::/48", .link = 12, .gateway = "fe80::9"});
	take(&kernel, route_message(RTM_NEWROUTE,
				    &(struct route_message){.prefix = "fe80::/64", .link = 12}));
	know(&kernel, 12, "fe80::9", "2:0:0:0:0:39");
	compile_again();
	check_kind("10.0.0.0/24", ROUTE_NEIGHBOUR);
	check_kind("10.0.0.1/32", ROUTE_LOCAL);
	check_forward(find("10.0.0.9/32"), 0, 0x19, 1500);
	check_forward(find("10.0.1.9/32"), 1, 0x29, 1400);
	check_forward(find("10.1.0.0/16"), 0, 0x19, 1500);
	check_kind("10.2.0.0/16", ROUTE_NEIGHBOUR);
	check_kind("10.3.0.0/16", ROUTE_BLACKHOLE);
	check_kind("10.4.0.0/16", ROUTE_KERNEL);
	check_kind("10.5.0.0/16", ROUTE_KERNEL);
	check_kind("10.6.0.0/16", ROUTE_KERNEL);
	check_forward(find("2001:2::/48"), 1, 0x39, 1400);
	CHECK(find("fe80::/64") == NULL && find("fe80::9/128") == NULL);
	CHECK_EQ(report.neighbours, 2);
	CHECK_EQ(report.nb_wishes, 1);
	CHECK(memcmp(report.wishes[0].address, "\xa\0\1\7", 4) == 0);
	close_router(&kernel, &ids, &routes);
}

/* By a VLAN of interface 12: that one's output, with the tag, the address and the MTU of the VLAN. */
static void
test_vlan(void)
{
	const struct route_hop *hop;

	begin();
	take(&kernel, upon(link_message(RTM_NEWLINK, 31, IFF_UP, "2:0:0:0:0:c", 1300), 12, "vlan",
			   0x8100, 100));
	add_route(&kernel, &(struct route_message){.prefix = "10.4.0.0/24", .link = 31});
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.5.0.0/16", .link = 31, .gateway = "10.4.0.9"});
	/* The same neighbour on the port itself is another hop. */
	know(&kernel, 31, "10.0.1.9", "2:0:0:0:0:29");
	know(&kernel, 31, "10.4.0.9", "2:0:0:0:0:29");
	compile_again();
	check_forward(find("10.0.1.9/32"), 1, 0x29, 1400);
	CHECK_EQ(find("10.0.1.9/32")->vlan, 0);
	check_kind("10.4.0.0/24", ROUTE_NEIGHBOUR);
	hop = find("10.5.0.0/16");
	check_forward(hop, 1, 0x29, 1300);
	CHECK_EQ(hop->vlan, 100);
	CHECK(find("10.4.0.9/32") == hop);
	/* Without it, the kernel has routes by an interface that is not the router's. */
	take(&kernel, link_message(RTM_DELLINK, 31, IFF_UP, "2:0:0:0:0:c", 1300));
	compile_again();
	check_kind("10.5.0.0/16", ROUTE_KERNEL);
	close_router(&kernel, &ids, &routes);
}

/* A neighbour whose own prefix leads elsewhere is no neighbour of packets to it. */
static void
test_neighbours_by_route(void)
{
	begin();
	know(&kernel, 11, "10.7.0.1", "2:0:0:0:0:49");
	know(&kernel, 11, "10.0.0.5", "2:0:0:0:0:59");
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.0.0.5/32", .link = 12, .gateway = "10.0.1.9"});
	add_route(&kernel, &(struct route_message){.prefix = "10.0.1.4/32", .link = 11});
	know(&kernel, 11, "10.0.1.4", "2:0:0:0:0:69");
	compile_again();
	CHECK(find("10.7.0.1/32") == NULL);
	check_forward(find("10.0.0.5/32"), 1, 0x29, 1400);
	check_forward(find("10.0.1.4/32"), 0, 0x69, 1500);
	close_router(&kernel, &ids, &routes);
}

static void
test_best(void)
{
	begin();
	add_route(&kernel, &(struct route_message){.prefix = "10.1.0.0/16",
						   .link = 12,
						   .gateway = "10.0.1.9",
						   .priority = 20});
	add_route(&kernel, &(struct route_message){.prefix = "10.1.0.0/16",
						   .link = 11,
						   .gateway = "10.0.0.9",
						   .priority = 10});
	/* The table local comes first. */
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.0.0.1/32", .link = 12, .gateway = "10.0.1.9"});
	compile_again();
	check_forward(find("10.1.0.0/16"), 0, 0x19, 1500);
	check_kind("10.0.0.1/32", ROUTE_LOCAL);
	/* The next best is used while an interface is down. */
	take(&kernel, link_message(RTM_NEWLINK, 11, 0, "2:0:0:0:0:b", 1500));
	compile_again();
	check_forward(find("10.1.0.0/16"), 1, 0x29, 1400);
	CHECK(find("10.0.0.0/24") == NULL && find("10.0.0.9/32") == NULL);
	close_router(&kernel, &ids, &routes);
}

static void
check_member(const struct route_hop *group, uint32_t i, uint8_t mac, uint16_t weight)
{
	const struct route_member *member = &routes.members[group->first_member + i];

	CHECK_EQ(routes.hops[member->hop].target[5], mac);
	CHECK_EQ(member->weight, weight);
}

static void
test_groups(void)
{
	const struct route_message route = {.prefix = "10.1.0.0/16",
					    .gateways = {"10.0.0.9", "10.0.1.9", "10.0.1.8"},
					    .links = {11, 12, 12},
					    .weights = {1, 3, 1}};

	begin();
	add_route(&kernel, &route);
	compile_again();
	/* Who is not known yet takes no flow, and is asked for. */
	CHECK_EQ(find("10.1.0.0/16")->kind, ROUTE_GROUP);
	CHECK_EQ(find("10.1.0.0/16")->nb_members, 2);
	check_member(find("10.1.0.0/16"), 0, 0x19, 1);
	check_member(find("10.1.0.0/16"), 1, 0x29, 3);
	CHECK_EQ(report.nb_wishes, 1);
	know(&kernel, 12, "10.0.1.8", "2:0:0:0:0:28");
	compile_again();
	CHECK_EQ(find("10.1.0.0/16")->nb_members, 3);
	take(&kernel, link_message(RTM_NEWLINK, 12, 0, "2:0:0:0:0:c", 1400));
	compile_again();
	check_forward(find("10.1.0.0/16"), 0, 0x19, 1500);
	close_router(&kernel, &ids, &routes);
}

/* A member that only the kernel can reach makes a group the kernel's, before or behind one that is not
 * known yet. */
static void
test_groups_of_the_kernel(void)
{
	begin();
	add_route(&kernel, &(struct route_message){.prefix = "10.1.0.0/16",
						   .gateways = {"10.0.0.9", "10.9.9.9", "10.0.1.7"},
						   .links = {11, 77, 12}});
	add_route(&kernel, &(struct route_message){.prefix = "10.2.0.0/16",
						   .gateways = {"10.0.0.9", "10.0.1.7", "10.9.9.9"},
						   .links = {11, 12, 77}});
	compile_again();
	check_kind("10.1.0.0/16", ROUTE_KERNEL);
	check_kind("10.2.0.0/16", ROUTE_KERNEL);
	close_router(&kernel, &ids, &routes);
}

/* A route's own MTU is the route's, not its next-hop object's. */
static void
test_mtu_of_objects(void)
{
	begin();
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 1, 11, "10.0.0.9"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 2, 12, NULL));
	add_route(&kernel,
		  &(struct route_message){.prefix = "10.1.0.0/16", .nexthop = 1, .mtu = 1300});
	add_route(&kernel, &(struct route_message){.prefix = "10.2.0.0/16", .nexthop = 1});
	add_route(&kernel,
		  &(struct route_message){.prefix = "10.3.0.0/16", .nexthop = 2, .mtu = 1300});
	add_route(&kernel,
		  &(struct route_message){.prefix = "10.4.0.0/16", .nexthop = 99, .mtu = 1300});
	know(&kernel, 12, "10.3.0.5", "2:0:0:0:0:59");
	CHECK_EQ(kernel.refused[KERNEL_MTU], 3);
	compile_again();
	check_kind("10.1.0.0/16", ROUTE_KERNEL);
	check_forward(find("10.2.0.0/16"), 0, 0x19, 1500);
	check_kind("10.3.0.0/16", ROUTE_KERNEL);
	CHECK(find("10.3.0.5/32") == NULL);
	CHECK(find("10.4.0.0/16") == NULL);
	/* It ends with a message that has none. */
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.1.0.0/16", .nexthop = 1, .flags = NLM_F_REPLACE});
	compile_again();
	check_forward(find("10.1.0.0/16"), 0, 0x19, 1500);
	close_router(&kernel, &ids, &routes);
}

/* Groups of the kernel's objects keep their id while members come and go; hops keep theirs anyway. */
static void
test_objects(void)
{
	const uint32_t both[] = {1, 2, 0}, three[] = {1, 2, 3, 0}, dark[] = {1, 4, 0};
	uint16_t group, hop;

	begin();
	know(&kernel, 12, "10.0.1.8", "2:0:0:0:0:28");
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 1, 11, "10.0.0.9"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 2, 12, "10.0.1.9"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 3, 12, "10.0.1.8"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 4, 0, NULL));
	take(&kernel, group_message(7, both));
	take(&kernel, group_message(8, dark));
	add_route(&kernel, &(struct route_message){.prefix = "10.1.0.0/16", .nexthop = 7});
	add_route(&kernel, &(struct route_message){.prefix = "10.2.0.0/16", .nexthop = 1});
	add_route(&kernel, &(struct route_message){.prefix = "10.3.0.0/16", .nexthop = 4});
	add_route(&kernel, &(struct route_message){.prefix = "10.4.0.0/16", .nexthop = 8});
	add_route(&kernel, &(struct route_message){.prefix = "10.5.0.0/16", .nexthop = 99});
	compile_again();
	CHECK_EQ(find("10.1.0.0/16")->nb_members, 2);
	group = find("10.1.0.0/16")->id;
	check_forward(find("10.2.0.0/16"), 0, 0x19, 1500);
	hop = find("10.2.0.0/16")->id;
	check_kind("10.3.0.0/16", ROUTE_BLACKHOLE);
	check_kind("10.4.0.0/16", ROUTE_KERNEL);
	CHECK(find("10.5.0.0/16") == NULL);
	take(&kernel, group_message(7, three));
	add_route(&kernel, &(struct route_message){
				   .prefix = "9.0.0.0/8", .link = 12, .gateway = "10.0.1.8"});
	compile_again();
	CHECK_EQ(find("10.1.0.0/16")->nb_members, 3);
	CHECK_EQ(find("10.1.0.0/16")->id, group);
	CHECK_EQ(find("10.2.0.0/16")->id, hop);
	take(&kernel, nexthop_message(RTM_DELNEXTHOP, 1, 11, "10.0.0.9"));
	compile_again();
	CHECK(find("10.2.0.0/16") == NULL);
	CHECK_EQ(find("10.1.0.0/16")->nb_members, 2);
	close_router(&kernel, &ids, &routes);
}

/* The kernel deletes the routes of an object with it, without a message: an object that gets its id has none of them. */
static void
test_object_again(void)
{
	const struct route_message route = {.prefix = "10.2.0.0/16", .nexthop = 1};
	const struct route_message route_v6 = {.prefix = "2001:2::/48", .nexthop = 2};

	begin();
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 1, 11, "10.0.0.9"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 2, 11, "fe80::9"));
	add_route(&kernel, &route);
	add_route(&kernel, &route_v6);
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 1, 12, "10.0.1.9"));
	compile_again();
	check_forward(find("10.2.0.0/16"), 1, 0x29, 1400);
	CHECK_EQ(take(&kernel, nexthop_message(RTM_DELNEXTHOP, 1, 12, "10.0.1.9")), KERNEL_UNSURE);
	CHECK_EQ(take(&kernel, nexthop_message(RTM_DELNEXTHOP, 2, 11, "fe80::9")), KERNEL_UNSURE);
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 1, 11, "10.0.0.9"));
	take(&kernel, nexthop_message(RTM_NEWNEXTHOP, 2, 11, "fe80::9"));
	compile_again();
	CHECK(find("10.2.0.0/16") == NULL);
	CHECK(find("2001:2::/48") == NULL);
	add_route(&kernel, &route);
	add_route(&kernel, &route_v6);
	compile_again();
	check_forward(find("10.2.0.0/16"), 0, 0x19, 1500);
	CHECK(find("2001:2::/48") != NULL);
	/* Each has one of these routes, and no former one is counted off. */
	CHECK_EQ(take(&kernel, route_message(RTM_DELROUTE, &route)), KERNEL_CHANGED);
	CHECK_EQ(take(&kernel, nexthop_message(RTM_DELNEXTHOP, 1, 11, "10.0.0.9")), KERNEL_SAME);
	CHECK_EQ(take(&kernel, nexthop_message(RTM_DELNEXTHOP, 2, 11, "fe80::9")), KERNEL_UNSURE);
	close_router(&kernel, &ids, &routes);
}

/* The first ones by interface and address have a route, in whatever order they came. */
static void
check_first(void)
{
	/* One of 10.0.0.0/24 is before them. */
	CHECK(find("10.0.0.9/32") != NULL && find("10.64.0.1/32") != NULL);
	CHECK(find("10.64.12.71/32") != NULL && find("10.64.12.72/32") == NULL);
	CHECK(find("10.64.19.250/32") == NULL && find("10.0.1.9/32") == NULL);
}

/* More neighbours than hops have ids: the rest is left to the kernel, and ids come back. */
static void
test_full(void)
{
	char address[32], mac[32];

	begin();
	add_route(&kernel, &(struct route_message){.prefix = "10.64.0.0/16", .link = 11});
	for (unsigned int turn = 0; turn < 3; turn++) {
		for (unsigned int n = 0; n < 5000; n++) {
			unsigned int i = turn == 1 ? 4999 - n : n;

			snprintf(address, sizeof(address), "10.64.%u.%u", i / 250, 1 + i % 250);
			snprintf(mac, sizeof(mac), "2:0:%x:1:%x:%x", turn, i >> 8, i & 255);
			know(&kernel, 11, address, mac);
		}
		compile_again();
		CHECK_EQ(report.has_former, turn > 0);
		/* After a turn without the former ones, all ids can be had again. */
		compile_again();
		CHECK(!report.has_former);
		CHECK_EQ(report.neighbours, COMPILE_NEIGHBOURS_MAX);
		CHECK_EQ(report.over_neighbours, 5002 + (turn > 0) - COMPILE_NEIGHBOURS_MAX);
		check_first();
		/* A gateway that comes later has one, too. */
		snprintf(mac, sizeof(mac), "2:0:%x:2:0:77", turn);
		know(&kernel, 12, "10.0.1.7", mac);
		add_route(&kernel, &(struct route_message){.prefix = "10.9.0.0/16",
							   .link = 12,
							   .gateway = "10.0.1.7",
							   .flags = NLM_F_REPLACE});
		compile_again();
		check_forward(find("10.9.0.0/16"), 1, 0x77, 1400);
		CHECK_EQ(report.over_hops, 0);
	}
	close_router(&kernel, &ids, &routes);
}

int
main(void)
{
	test_kinds();
	test_vlan();
	test_neighbours_by_route();
	test_best();
	test_groups();
	test_groups_of_the_kernel();
	test_mtu_of_objects();
	test_objects();
	test_object_again();
	test_full();
	return 0;
}
