/* SPDX-License-Identifier: Apache-2.0 */
/* VRFs: each interface looks up in the table of its own, whatever the order of messages. */
#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libmnl/libmnl.h>

#include "check.h"
#include "mirror/compile.h"
#include "netlink.h"

#define RED 10
#define BLUE 20

static struct kernel kernel;
static struct hop_ids ids;
static struct routes routes;
static struct compile_report report;

static struct nlmsghdr *
port(uint32_t index, uint32_t vrf, uint32_t table)
{
	return in_vrf(link_message(RTM_NEWLINK, index, IFF_UP,
				   index == 11 ? "2:0:0:0:0:b" : "2:0:0:0:0:c", 1500),
		      vrf, table);
}

static enum kernel_effect
add_vrf(uint32_t index, const char *name, uint32_t table)
{
	return take(&kernel, vrf_message(RTM_NEWLINK, index, IFF_UP, name, table));
}

/* Interface 11 in red, 12 in blue: the same addresses in both. */
static void
begin(void)
{
	static const uint32_t tables[] = {RED, BLUE};

	open_router(&kernel);
	hop_ids_open(&ids);
	CHECK_EQ(add_vrf(50, "red", RED), KERNEL_UNSURE);
	CHECK_EQ(add_vrf(51, "blue", BLUE), KERNEL_UNSURE);
	CHECK_EQ(take(&kernel, port(11, 50, RED)), KERNEL_UNSURE);
	CHECK_EQ(take(&kernel, port(12, 51, BLUE)), KERNEL_UNSURE);
	for (uint32_t i = 0; i < 2; i++) {
		add_route(&kernel, &(struct route_message){.prefix = "10.0.0.0/24",
							   .link = 11 + i,
							   .table = tables[i]});
		add_route(&kernel, &(struct route_message){.prefix = "10.0.0.1/32",
							   .link = 11 + i,
							   .table = tables[i],
							   .type = RTN_LOCAL});
		add_route(&kernel, &(struct route_message){.prefix = "198.18.0.0/15",
							   .link = 11 + i,
							   .gateway = "10.0.0.9",
							   .table = tables[i]});
		add_route(&kernel, &(struct route_message){.prefix = "2001:2::/48",
							   .link = 11 + i,
							   .gateway = "fe80::9",
							   .table = tables[i]});
	}
	know(&kernel, 11, "10.0.0.9", "2:0:0:0:0:19");
	know(&kernel, 12, "10.0.0.9", "2:0:0:0:0:29");
	know(&kernel, 11, "fe80::9", "2:0:0:0:0:19");
	know(&kernel, 12, "fe80::9", "2:0:0:0:0:29");
}

static void
compile_again(void)
{
	routes_free(&routes);
	CHECK(compile(&kernel, &ids, &routes, &report));
	kernel_forget_changes(&kernel);
}

/* The hop of a prefix in a table (0: main), or NULL: it has no route. */
static const struct route_hop *
find(uint32_t table, const char *prefix)
{
	struct route key = {.version = strchr(prefix, ':') != NULL ? 6 : 4};
	const struct route_hop *found = NULL;
	char address[64];
	unsigned int length;

	CHECK_EQ(sscanf(prefix, "%63[^/]/%u", address, &length), 2);
	CHECK_EQ(inet_pton(key.version == 4 ? AF_INET : AF_INET6, address, key.prefix), 1);
	key.length = (uint8_t)length;
	for (unsigned int v = 0; v < routes.nb_vrfs; v++) {
		struct routes part = routes_of(&routes, v);

		for (uint32_t i = 0; i < part.nb_routes; i++) {
			CHECK_EQ(part.list[i].vrf, v);
			if (routes.vrfs[v].table != table ||
			    route_compare(&part.list[i], &key) != 0)
				continue;
			CHECK(found == NULL);
			found = &part.hops[part.list[i].hop];
		}
	}
	return found;
}

static void
check_forward(const struct route_hop *hop, uint8_t port_number, uint8_t mac)
{
	CHECK(hop != NULL);
	CHECK_EQ(hop->kind, ROUTE_FORWARD);
	CHECK_EQ(hop->port, port_number);
	CHECK_EQ(hop->target[5], mac);
}

/* The same prefixes, gateways and neighbours in two VRFs; main has none of them. */
static void
test_overlap(void)
{
	static const char *const prefixes[] = {"198.18.0.0/15", "10.0.0.9/32", "2001:2::/48"};

	begin();
	compile_again();
	CHECK_EQ(routes.nb_vrfs, 3);
	CHECK_EQ(routes.vrfs[0].nb, 0);
	CHECK(strcmp(routes.vrfs[2].name, "blue") == 0);
	for (unsigned int i = 0; i < 3; i++) {
		check_forward(find(RED, prefixes[i]), 0, 0x19);
		check_forward(find(BLUE, prefixes[i]), 1, 0x29);
		CHECK(find(0, prefixes[i]) == NULL);
	}
	CHECK_EQ(find(BLUE, "10.0.0.1/32")->kind, ROUTE_LOCAL);
	CHECK_EQ(report.neighbours, 2);
	CHECK_EQ(kernel_place_of_link(&kernel, 12), 2);
	CHECK_EQ(kernel.refused[KERNEL_MASTER] + kernel.refused[KERNEL_TABLE], 0);
	close_router(&kernel, &ids, &routes);
}

/* What is for the router itself outside of VRFs is found before the tables of VRFs, unless rules say otherwise. */
static void
test_local_first(void)
{
	begin();
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.9/32",
						   .link = 12,
						   .table = RT_TABLE_LOCAL,
						   .type = RTN_LOCAL});
	compile_again();
	CHECK_EQ(find(RED, "10.0.0.9/32")->kind, ROUTE_LOCAL);
	CHECK_EQ(find(0, "10.0.0.9/32")->kind, ROUTE_LOCAL);
	CHECK_EQ(take(&kernel, rule_message(RTM_NEWRULE, 1000, 0, NLM_F_MULTI)), KERNEL_SAME);
	CHECK_EQ(take(&kernel, rule_message(RTM_NEWRULE, 32765, RT_TABLE_LOCAL, NLM_F_MULTI)),
		 KERNEL_SAME);
	CHECK_EQ(kernel.refused[KERNEL_RULE], 0);
	CHECK(!kernel_is_local_first(&kernel, 4));
	CHECK(kernel_is_local_first(&kernel, 6));
	compile_again();
	check_forward(find(RED, "10.0.0.9/32"), 0, 0x19);
	/* Only a dump knows all rules. */
	CHECK_EQ(take(&kernel, rule_message(RTM_DELRULE, 32765, RT_TABLE_LOCAL, 0)), KERNEL_UNSURE);
	CHECK_EQ(take(&kernel, rule_message(RTM_NEWRULE, 0, RT_TABLE_LOCAL, 0)), KERNEL_UNSURE);
	CHECK(kernel_is_local_first(&kernel, 4));
	close_router(&kernel, &ids, &routes);
}

/* Routes and interfaces of a VRF that is not known yet are in no other table. */
static void
test_order(void)
{
	const struct route_message early = {
		.prefix = "198.18.0.0/15", .link = 11, .gateway = "10.0.0.9", .table = RED};

	open_router(&kernel);
	hop_ids_open(&ids);
	CHECK_EQ(take(&kernel, route_message(RTM_NEWROUTE, &early)), KERNEL_SAME);
	CHECK_EQ(kernel.refused[KERNEL_TABLE], 1);
	CHECK_EQ(take(&kernel, port(11, 50, RED)), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), KERNEL_NO_PLACE);
	CHECK_EQ(take(&kernel, port(12, 51, 0)), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 12), KERNEL_NO_PLACE);
	CHECK_EQ(kernel_place_of_link(&kernel, 99), KERNEL_NO_PLACE);
	CHECK(compile(&kernel, &ids, &routes, &report));
	CHECK_EQ(routes.nb_routes, 0);
	CHECK_EQ(add_vrf(50, "red", RED), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), 1);
	/* A dump follows. */
	CHECK_EQ(take(&kernel, route_message(RTM_NEWROUTE, &early)), KERNEL_CHANGED);
	close_router(&kernel, &ids, &routes);
}

/* A VRF that gets the table of a former one has none of its routes. */
static void
test_reused_table(void)
{
	begin();
	CHECK_EQ(take(&kernel, vrf_message(RTM_DELLINK, 50, 0, "red", RED)), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), KERNEL_NO_PLACE);
	compile_again();
	CHECK(find(RED, "198.18.0.0/15") == NULL);
	CHECK_EQ(add_vrf(52, "green", RED), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), 3);
	compile_again();
	CHECK(find(RED, "198.18.0.0/15") == NULL);
	check_forward(find(BLUE, "198.18.0.0/15"), 1, 0x29);
	/* Two with one table share it. */
	CHECK_EQ(add_vrf(53, "azure", BLUE), KERNEL_UNSURE);
	CHECK_EQ(take(&kernel, vrf_message(RTM_DELLINK, 51, 0, "blue", BLUE)), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 12), 2);
	compile_again();
	check_forward(find(BLUE, "198.18.0.0/15"), 1, 0x29);
	CHECK(strcmp(kernel_vrf(&kernel, BLUE)->name, "azure") == 0);
	close_router(&kernel, &ids, &routes);
}

/* The kernel takes an interface out of one VRF, and down, before it puts it into another one: only a dump has all
 * of it. */
static void
test_moved_interface(void)
{
	struct nlmsghdr *message;

	begin();
	kernel.wants_dump = false;
	CHECK_EQ(take(&kernel, port(11, 50, RED)), KERNEL_SAME);
	CHECK(!kernel.wants_dump);
	CHECK_EQ(take(&kernel, port(11, 51, BLUE)), KERNEL_UNSURE);
	CHECK(kernel.wants_dump);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), 2);
	kernel.wants_dump = false;
	message = link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 1500);
	message->nlmsg_flags = NLM_F_MULTI;
	CHECK_EQ(take(&kernel, message), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), 0);
	CHECK(!kernel.wants_dump);
	CHECK_EQ(take(&kernel, vrf_message(RTM_DELLINK, 50, 0, "red", RED)), KERNEL_UNSURE);
	CHECK(kernel.wants_dump);
	close_router(&kernel, &ids, &routes);
}

/* A VLAN may be in another VRF than its port. */
static void
test_vlan(void)
{
	begin();
	take(&kernel, in_vrf(upon(link_message(RTM_NEWLINK, 31, IFF_UP, "2:0:0:0:0:d", 1500), 11,
				  "vlan", 0x8100, 100),
			     51, BLUE));
	CHECK_EQ(kernel_link(&kernel, 31)->vlan, 100);
	CHECK_EQ(kernel_place_of_link(&kernel, 31), 2);
	take(&kernel, upon(link_message(RTM_NEWLINK, 31, IFF_UP, "2:0:0:0:0:d", 1500), 11, "vlan",
			   0x8100, 100));
	CHECK_EQ(kernel_place_of_link(&kernel, 31), 0);
	close_router(&kernel, &ids, &routes);
}

/* A next hop by an interface of another VRF, or of none, is as good as any; one that is a VRF is the kernel's. */
static void
test_leaks(void)
{
	begin();
	add_route(&kernel, &(struct route_message){.prefix = "10.7.0.0/16",
						   .link = 12,
						   .gateway = "10.0.0.9",
						   .table = RED});
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.7.0.0/16", .link = 11, .gateway = "10.0.0.9"});
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.9/32", .link = 12});
	CHECK_EQ(kernel.refused[KERNEL_VRF_ROUTE], 0);
	add_route(&kernel,
		  &(struct route_message){.prefix = "10.8.0.0/16", .link = 51, .table = RED});
	CHECK_EQ(kernel.refused[KERNEL_VRF_ROUTE], 1);
	compile_again();
	check_forward(find(RED, "10.7.0.0/16"), 1, 0x29);
	check_forward(find(0, "10.7.0.0/16"), 0, 0x19);
	check_forward(find(0, "10.0.0.9/32"), 1, 0x29);
	CHECK_EQ(find(RED, "10.8.0.0/16")->kind, ROUTE_KERNEL);
	close_router(&kernel, &ids, &routes);
}

static void
test_refused(void)
{
	char name[16];

	begin();
	CHECK_EQ(add_vrf(60, "local", RT_TABLE_LOCAL), KERNEL_SAME);
	CHECK_EQ(kernel.refused[KERNEL_VRF], 1);
	CHECK_EQ(take(&kernel, port(11, 60, RT_TABLE_LOCAL)), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), KERNEL_NO_PLACE);
	/* Main is what interfaces without a VRF have. */
	add_vrf(61, "main", RT_TABLE_MAIN);
	CHECK_EQ(take(&kernel, port(11, 61, RT_TABLE_MAIN)), KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 11), 0);
	for (uint32_t i = 0; i < ROUTES_VRFS_MAX; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		take(&kernel, vrf_message(RTM_NEWLINK, 100 + i, IFF_UP, name, 100 + i));
	}
	CHECK_EQ(kernel.nb_vrfs, ROUTES_VRFS_MAX);
	CHECK_EQ(kernel.refused[KERNEL_VRF], 1 + 3);
	CHECK_EQ(take(&kernel, port(12, 100 + ROUTES_VRFS_MAX - 1, 100 + ROUTES_VRFS_MAX - 1)),
		 KERNEL_UNSURE);
	CHECK_EQ(kernel_place_of_link(&kernel, 12), KERNEL_NO_PLACE);
	compile_again();
	close_router(&kernel, &ids, &routes);
}

/* Names are in JSON, and longer ones than the kernel's are none. */
static void
test_names(void)
{
	struct nlmsghdr *message;

	begin();
	add_vrf(50, "r\"e d", RED);
	CHECK(strcmp(kernel_vrf(&kernel, RED)->name, "r?e?d") == 0);
	add_vrf(50, "abcdefghijklmnopqrstuvw", RED);
	CHECK(strcmp(kernel_vrf(&kernel, RED)->name, "abcdefghijklmno") == 0);
	message = link_message(RTM_NEWLINK, 50, IFF_UP, "2:0:0:0:0:77", 1500);
	kernel_apply(&kernel, upon(message, 0, "vrf", 0, 0));
	CHECK_EQ(kernel.malformed, 1);
	close_router(&kernel, &ids, &routes);
}

/* A change of one table is made in that one alone; a route of the table local may be in all. */
static void
test_changes(void)
{
	struct route *list;
	uint32_t nb;

	begin();
	compile_again();
	add_route(&kernel, &(struct route_message){.prefix = "10.9.0.0/16",
						   .link = 12,
						   .gateway = "10.0.0.9",
						   .table = BLUE});
	know(&kernel, 11, "10.0.0.7", "2:0:0:0:0:17");
	CHECK(compile_changes(&kernel, &ids, &routes, &report, &list, &nb));
	CHECK_EQ(nb, 2);
	CHECK_EQ(list[0].vrf, 1);
	CHECK(memcmp(list[0].prefix, "\xa\0\0\7", 4) == 0);
	CHECK_EQ(list[1].vrf, 2);
	CHECK_EQ(routes.hops[list[1].hop].target[5], 0x29);
	free(list);
	kernel_forget_changes(&kernel);
	/* The longest prefix of a neighbour of another VRF is none of its own. */
	add_route(&kernel, &(struct route_message){.prefix = "10.0.0.0/28", .type = RTN_BLACKHOLE});
	CHECK(compile_changes(&kernel, &ids, &routes, &report, &list, &nb));
	CHECK_EQ(nb, 1);
	free(list);
	kernel_forget_changes(&kernel);
	add_route(&kernel, &(struct route_message){
				   .prefix = "10.0.0.0/28", .type = RTN_BLACKHOLE, .table = RED});
	CHECK(compile_changes(&kernel, &ids, &routes, &report, &list, &nb));
	CHECK_EQ(nb, 3);
	CHECK_EQ(list[1].hop, ROUTE_GONE);
	CHECK_EQ(list[2].hop, ROUTE_GONE);
	free(list);
	compile_again();
	add_route(&kernel, &(struct route_message){.prefix = "10.9.9.9/32",
						   .link = 12,
						   .table = RT_TABLE_LOCAL,
						   .type = RTN_LOCAL});
	CHECK(!compile_changes(&kernel, &ids, &routes, &report, &list, &nb));
	close_router(&kernel, &ids, &routes);
}

int
main(void)
{
	test_overlap();
	test_local_first();
	test_order();
	test_reused_table();
	test_moved_interface();
	test_vlan();
	test_leaks();
	test_refused();
	test_names();
	test_changes();
	return 0;
}
