/* SPDX-License-Identifier: Apache-2.0 */
/* What messages do to the state: kept, replaced, deleted, refused by name, or a reason to dump again. */
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <libmnl/libmnl.h>

#include "check.h"
#include "netlink.h"

static const struct kernel_route *
only_route(const struct kernel *kernel)
{
	CHECK_EQ(kernel->routes.count, 1);
	return table_next(&kernel->routes, NULL);
}

static enum kernel_effect
route(struct kernel *kernel, uint16_t type, const struct route_message *of)
{
	return kernel_apply(kernel, route_message(type, of));
}

static void
test_links(void)
{
	struct kernel kernel;

	open_router(&kernel);
	CHECK_EQ(kernel.links[0].mtu, 1500);
	CHECK(memcmp(kernel.links[1].mac, "\2\0\0\0\0\xc", 6) == 0);
	CHECK_EQ(kernel_apply(&kernel, link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 1500)),
		 KERNEL_SAME);
	CHECK_EQ(kernel_apply(&kernel, link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 9000)),
		 KERNEL_CHANGED);
	/* Routes of an interface that goes down end without a message. */
	CHECK_EQ(kernel_apply(&kernel, link_message(RTM_NEWLINK, 11, 0, "2:0:0:0:0:b", 9000)),
		 KERNEL_UNSURE);
	CHECK_EQ(kernel_apply(&kernel, link_message(RTM_DELLINK, 12, IFF_UP, "2:0:0:0:0:c", 1)),
		 KERNEL_UNSURE);
	CHECK_EQ(kernel.links[1].flags, 0);
	CHECK_EQ(kernel_apply(&kernel, link_message(RTM_NEWLINK, 99, IFF_UP, "2:0:0:0:0:c", 1)),
		 KERNEL_SAME);
	/* So do routes by an interface that is none of the router's. */
	CHECK_EQ(kernel_apply(&kernel, link_message(RTM_NEWLINK, 99, 0, "2:0:0:0:0:c", 1)),
		 KERNEL_UNSURE);
	CHECK_EQ(kernel_apply(&kernel, link_message(RTM_DELLINK, 99, IFF_UP, "2:0:0:0:0:c", 1)),
		 KERNEL_UNSURE);
	kernel_close(&kernel);
}

/* A packet does not show that the interface it came by has other tables than main. */
static void
test_link_of_a_master(void)
{
	struct nlmsghdr *message;
	struct kernel kernel;

	open_router(&kernel);
	CHECK_EQ(kernel.refused[KERNEL_MASTER], 0);
	message = link_message(RTM_NEWLINK, 11, IFF_UP, "2:0:0:0:0:b", 1500);
	mnl_attr_put_u32(message, IFLA_MASTER, 5);
	CHECK_EQ(kernel_apply(&kernel, message), KERNEL_SAME);
	CHECK_EQ(kernel.refused[KERNEL_MASTER], 1);
	message = link_message(RTM_NEWLINK, 99, IFF_UP, "2:0:0:0:0:b", 1500);
	mnl_attr_put_u32(message, IFLA_MASTER, 5);
	kernel_apply(&kernel, message);
	CHECK_EQ(kernel.refused[KERNEL_MASTER], 1);
	kernel_close(&kernel);
}

static struct nlmsghdr *
vlan_message(uint16_t type, uint32_t index, uint32_t lower, uint16_t protocol, uint16_t id)
{
	return upon(link_message(type, index, IFF_UP, "2:0:0:0:0:d", 1300), lower, "vlan", protocol,
		    id);
}

/* Return whether a VLAN is followed; if not, why not is counted. */
static bool
is_followed(struct kernel *kernel, struct nlmsghdr *message)
{
	uint64_t before = kernel->refused[KERNEL_VLAN] + kernel->refused[KERNEL_UPPER];
	uint32_t index = 77;

	kernel_apply(kernel, message);
	if (kernel_link(kernel, index) != NULL)
		return true;
	CHECK_EQ(kernel->refused[KERNEL_VLAN] + kernel->refused[KERNEL_UPPER], before + 1);
	return false;
}

static void
test_vlans(void)
{
	const struct kernel_link *link;
	struct kernel kernel;

	open_router(&kernel);
	CHECK_EQ(kernel_apply(&kernel, vlan_message(RTM_NEWLINK, 31, 12, 0x8100, 100)),
		 KERNEL_UNSURE);
	link = kernel_link(&kernel, 31);
	CHECK(link != NULL && link->port == 1 && link->vlan == 100 && link->mtu == 1300);
	CHECK_EQ(link->mac[5], 0xd);
	CHECK_EQ(kernel_apply(&kernel, vlan_message(RTM_NEWLINK, 31, 12, 0x8100, 100)),
		 KERNEL_SAME);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 31, "10.0.0.9",
							 "2:0:0:0:0:99", NUD_REACHABLE)),
		 KERNEL_CHANGED);
	/* Another MTU. */
	CHECK_EQ(kernel_apply(&kernel,
			      upon(link_message(RTM_NEWLINK, 31, IFF_UP, "2:0:0:0:0:d", 1200), 12,
				   "vlan", 0x8100, 100)),
		 KERNEL_CHANGED);
	CHECK_EQ(kernel_link(&kernel, 31)->mtu, 1200);
	CHECK_EQ(kernel_apply(&kernel, upon(link_message(RTM_NEWLINK, 31, 0, "2:0:0:0:0:d", 1200),
					    12, "vlan", 0x8100, 100)),
		 KERNEL_UNSURE);
	CHECK_EQ(kernel_apply(&kernel, vlan_message(RTM_DELLINK, 31, 12, 0x8100, 100)),
		 KERNEL_UNSURE);
	CHECK(kernel_link(&kernel, 31) == NULL);
	CHECK_EQ(kernel.refused[KERNEL_VLAN] + kernel.refused[KERNEL_UPPER], 0);
	kernel_close(&kernel);
}

static void
test_refused_vlans(void)
{
	struct nlmsghdr *message;
	struct kernel kernel;

	open_router(&kernel);
	kernel_apply(&kernel, vlan_message(RTM_NEWLINK, 31, 12, 0x8100, 100));
	CHECK(is_followed(&kernel, vlan_message(RTM_NEWLINK, 77, 12, 0x8100, 4094)));
	/* It becomes another interface: the message of its end was lost. */
	CHECK(!is_followed(&kernel, vlan_message(RTM_NEWLINK, 77, 12, 0x88a8, 100)));
	CHECK(!is_followed(&kernel, vlan_message(RTM_NEWLINK, 77, 12, 0x8100, 0)));
	CHECK(!is_followed(&kernel, vlan_message(RTM_NEWLINK, 77, 12, 0x8100, 4095)));
	CHECK(!is_followed(&kernel, vlan_message(RTM_NEWLINK, 77, 31, 0x8100, 200)));
	CHECK_EQ(kernel.refused[KERNEL_UPPER], 0);
	CHECK(!is_followed(&kernel, upon(link_message(RTM_NEWLINK, 77, IFF_UP, "2:0:0:0:0:d", 1300),
					 12, "macvlan", 0x8100, 100)));
	CHECK_EQ(kernel.refused[KERNEL_UPPER], 1);
	/* Upon an interface that is not the router's, or has that index in another namespace. */
	kernel_apply(&kernel, vlan_message(RTM_NEWLINK, 77, 5, 0x8100, 100));
	message = vlan_message(RTM_NEWLINK, 77, 12, 0x8100, 100);
	mnl_attr_put_u32(message, IFLA_LINK_NETNSID, 0);
	kernel_apply(&kernel, message);
	CHECK(kernel_link(&kernel, 77) == NULL);
	CHECK_EQ(kernel.refused[KERNEL_VLAN], 4);
	CHECK_EQ(kernel.malformed, 0);
	kernel_close(&kernel);
}

static void
test_neighbours(void)
{
	const uint8_t address[16] = {10, 0, 0, 9};
	const struct kernel_neighbour *neighbour;
	struct kernel kernel;

	open_router(&kernel);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 11, "10.0.0.9", NULL,
							 NUD_INCOMPLETE)),
		 KERNEL_SAME);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 11, "10.0.0.9",
							 "2:0:0:0:0:99", NUD_REACHABLE)),
		 KERNEL_CHANGED);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 11, "10.0.0.9",
							 "2:0:0:0:0:99", NUD_STALE)),
		 KERNEL_SAME);
	neighbour = kernel_neighbour(&kernel, 11, 4, address);
	CHECK(neighbour != NULL && neighbour->is_stale && neighbour->mac[5] == 0x99);
	CHECK(kernel_neighbour(&kernel, 12, 4, address) == NULL);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 11, "10.0.0.9",
							 "2:0:0:0:0:77", NUD_REACHABLE)),
		 KERNEL_CHANGED);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 11, "10.0.0.9",
							 "2:0:0:0:0:77", NUD_FAILED)),
		 KERNEL_CHANGED);
	CHECK(kernel_neighbour(&kernel, 11, 4, address) == NULL);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 99, "10.0.0.9",
							 "2:0:0:0:0:77", NUD_REACHABLE)),
		 KERNEL_SAME);
	CHECK_EQ(kernel_apply(&kernel, neighbour_message(RTM_NEWNEIGH, 12, "fe80::9",
							 "2:0:0:0:0:78", NUD_PERMANENT)),
		 KERNEL_CHANGED);
	kernel_close(&kernel);
}

static void
test_routes(void)
{
	const struct route_message first = {
		.prefix = "10.1.0.0/16", .link = 11, .gateway = "10.0.0.9", .flags = NLM_F_CREATE};
	const struct route_message other = {
		.prefix = "10.1.0.0/16", .link = 12, .gateway = "10.0.1.9", .flags = NLM_F_REPLACE};
	struct kernel kernel;

	open_router(&kernel);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &first), KERNEL_CHANGED);
	CHECK_EQ(only_route(&kernel)->ways->list[0].link, 11);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &other), KERNEL_CHANGED);
	CHECK_EQ(only_route(&kernel)->ways->list[0].link, 12);
	CHECK(memcmp(only_route(&kernel)->ways->list[0].gateway, "\xa\0\1\x9", 4) == 0);
	/* It is no longer the one that is there. */
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &first), KERNEL_UNSURE);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &other), KERNEL_CHANGED);
	CHECK_EQ(kernel.routes.count, 0);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &other), KERNEL_SAME);
	kernel_close(&kernel);
}

/* Of several routes of one prefix and metric, the kernel uses the first. */
static void
test_twins(void)
{
	struct route_message one = {.prefix = "10.1.0.0/16", .link = 11, .flags = NLM_F_CREATE};
	struct route_message two = {
		.prefix = "10.1.0.0/16", .link = 12, .flags = NLM_F_CREATE | NLM_F_APPEND};
	struct kernel kernel;

	open_router(&kernel);
	route(&kernel, RTM_NEWROUTE, &one);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &two), KERNEL_SAME);
	CHECK_EQ(only_route(&kernel)->ways->list[0].link, 11);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &one), KERNEL_UNSURE);
	kernel_close(&kernel);
	open_router(&kernel);
	one.flags = two.flags = NLM_F_MULTI;
	route(&kernel, RTM_NEWROUTE, &one);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &two), KERNEL_SAME);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &one), KERNEL_UNSURE);
	/* Another metric is another route. */
	two.priority = 5;
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &two), KERNEL_CHANGED);
	CHECK_EQ(kernel.routes.count, 2);
	kernel_close(&kernel);
}

/* Which of several default routes the kernel takes, it does not report. */
static void
test_defaults(void)
{
	struct route_message one = {.prefix = "0.0.0.0/0", .link = 11, .flags = NLM_F_CREATE};
	struct route_message two = {
		.prefix = "0.0.0.0/0", .link = 12, .priority = 5, .flags = NLM_F_CREATE};
	struct kernel kernel;

	open_router(&kernel);
	route(&kernel, RTM_NEWROUTE, &one);
	route(&kernel, RTM_NEWROUTE, &two);
	CHECK_EQ(kernel.routes.count, 2);
	CHECK_EQ(kernel.refused[KERNEL_DEFAULTS], 0);
	two.priority = 0;
	two.flags |= NLM_F_APPEND;
	route(&kernel, RTM_NEWROUTE, &two);
	CHECK_EQ(kernel.refused[KERNEL_DEFAULTS], 1);
	two.flags = NLM_F_CREATE;
	route(&kernel, RTM_NEWROUTE, &two);
	CHECK_EQ(kernel.refused[KERNEL_DEFAULTS], 2);
	kernel_close(&kernel);
}

/* A message does not say which of several routes is replaced, and the others stay. */
static void
test_twins_replaced(void)
{
	struct route_message one = {.prefix = "10.1.0.0/16", .link = 11, .flags = NLM_F_CREATE};
	struct route_message two = {
		.prefix = "10.1.0.0/16", .link = 12, .flags = NLM_F_CREATE | NLM_F_APPEND};
	struct route_message three = {.prefix = "10.1.0.0/16",
				      .link = 12,
				      .gateway = "10.0.1.9",
				      .flags = NLM_F_CREATE | NLM_F_REPLACE};
	struct kernel kernel;

	open_router(&kernel);
	route(&kernel, RTM_NEWROUTE, &one);
	route(&kernel, RTM_NEWROUTE, &two);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &three), KERNEL_UNSURE);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &three), KERNEL_UNSURE);
	kernel_close(&kernel);
}

/* IPv6 reports a prefix with one more next hop as a whole; any other second route comes alone, and which
 * of the two is used, its message does not say. */
static void
test_twins_v6(void)
{
	const struct route_message device[] = {{.prefix = "2001:db8:5::/64", .link = 11},
					       {.prefix = "2001:db8:5::/64", .link = 12}};
	const struct route_message one = {
		.prefix = "2001:db8::/32", .link = 11, .gateway = "2001:2::1"};
	const struct route_message more = {
		.prefix = "2001:db8::/32", .gateways = {"2001:2::1", "fe80::2"}, .links = {11, 12}};
	const struct route_message others = {.prefix = "2001:db8::/32",
					     .gateways = {"2001:2::7", "fe80::2", "fe80::3"},
					     .links = {11, 12, 12}};
	const struct route_message unreachable = {
		.prefix = "2001:db8::/32", .link = 1, .type = RTN_UNREACHABLE};
	struct kernel kernel;

	open_router(&kernel);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &device[0]), KERNEL_CHANGED);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &device[1]), KERNEL_UNSURE);
	CHECK_EQ(only_route(&kernel)->ways->list[0].link, 11);
	kernel_close(&kernel);
	open_router(&kernel);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &one), KERNEL_CHANGED);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &more), KERNEL_CHANGED);
	CHECK_EQ(only_route(&kernel)->ways->nb, 2);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &one), KERNEL_UNSURE);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &others), KERNEL_UNSURE);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &unreachable), KERNEL_UNSURE);
	CHECK_EQ(only_route(&kernel)->ways->nb, 2);
	kernel_close(&kernel);
}

static void
test_multipath(void)
{
	const struct route_message whole = {.prefix = "2001:db8::/32",
					    .gateways = {"2001:2::1", "fe80::2"},
					    .links = {11, 12},
					    .weights = {1, 3}};
	const struct route_message part = {
		.prefix = "2001:db8::/32", .link = 11, .gateway = "2001:2::1"};
	const struct route_message via = {.prefix = "10.0.0.0/8", .link = 11, .gateway = "fe80::2"};
	const struct kernel_way *ways;
	struct kernel kernel;

	open_router(&kernel);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &whole), KERNEL_CHANGED);
	CHECK_EQ(only_route(&kernel)->ways->nb, 2);
	ways = only_route(&kernel)->ways->list;
	CHECK_EQ(ways[0].weight, 1);
	CHECK_EQ(ways[1].weight, 3);
	CHECK_EQ(ways[1].link, 12);
	CHECK_EQ(ways[1].gateway[15], 2);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &part), KERNEL_UNSURE);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &whole), KERNEL_CHANGED);
	/* IPv4 by a gateway of IPv6 (RFC 8950). */
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &via), KERNEL_CHANGED);
	CHECK_EQ(only_route(&kernel)->ways->list[0].version, 6);
	kernel_close(&kernel);
}

static void
test_nexthops(void)
{
	const uint32_t members[] = {1, 2, 0}, id = 7;
	const struct route_message by_object = {.prefix = "10.1.0.0/16", .nexthop = 2};
	const struct kernel_nexthop *group;
	struct kernel kernel;

	/* A new one concerns no route yet. */
	open_router(&kernel);
	CHECK_EQ(kernel_apply(&kernel, nexthop_message(RTM_NEWNEXTHOP, 1, 11, "10.0.0.9")),
		 KERNEL_SAME);
	CHECK_EQ(kernel_apply(&kernel, nexthop_message(RTM_NEWNEXTHOP, 2, 12, "10.0.1.9")),
		 KERNEL_SAME);
	CHECK_EQ(kernel_apply(&kernel, group_message(7, members)), KERNEL_SAME);
	group = table_find(&kernel.nexthops, &id);
	CHECK(group != NULL && group->nb_members == 2 && group->members[1] == 2 &&
	      group->weights[1] == 1);
	CHECK_EQ(kernel_apply(&kernel, group_message(7, members + 1)), KERNEL_CHANGED);
	group = table_find(&kernel.nexthops, &id);
	CHECK(group != NULL && group->nb_members == 1);
	/* Routes of one that is deleted end without a message. */
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &by_object), KERNEL_CHANGED);
	CHECK_EQ(kernel_apply(&kernel, nexthop_message(RTM_DELNEXTHOP, 1, 11, "10.0.0.9")),
		 KERNEL_SAME);
	CHECK_EQ(kernel_apply(&kernel, nexthop_message(RTM_DELNEXTHOP, 2, 12, "10.0.1.9")),
		 KERNEL_UNSURE);
	CHECK_EQ(kernel_apply(&kernel, nexthop_message(RTM_DELNEXTHOP, 2, 12, "10.0.1.9")),
		 KERNEL_SAME);
	CHECK_EQ(kernel.nexthops.count, 1);
	kernel_close(&kernel);
}

/* One that has routes no more is deleted as if it had never had any. */
static void
test_nexthop_without_routes(void)
{
	const struct route_message by_object = {.prefix = "10.1.0.0/16", .nexthop = 1};
	const struct route_message by_other = {
		.prefix = "10.1.0.0/16", .nexthop = 2, .flags = NLM_F_REPLACE};
	struct kernel kernel;

	open_router(&kernel);
	kernel_apply(&kernel, nexthop_message(RTM_NEWNEXTHOP, 1, 11, "10.0.0.9"));
	kernel_apply(&kernel, nexthop_message(RTM_NEWNEXTHOP, 2, 12, "10.0.1.9"));
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &by_object), KERNEL_CHANGED);
	CHECK_EQ(route(&kernel, RTM_NEWROUTE, &by_other), KERNEL_CHANGED);
	CHECK_EQ(kernel_apply(&kernel, nexthop_message(RTM_DELNEXTHOP, 1, 11, "10.0.0.9")),
		 KERNEL_SAME);
	CHECK_EQ(route(&kernel, RTM_DELROUTE, &by_other), KERNEL_CHANGED);
	CHECK_EQ(kernel_apply(&kernel, nexthop_message(RTM_DELNEXTHOP, 2, 12, "10.0.1.9")),
		 KERNEL_SAME);
	kernel_close(&kernel);
}

static void
test_refusals(void)
{
	const struct {
		struct route_message route;
		enum kernel_refusal refusal;
		bool to_kernel;
	} cases[] = {
		{{.prefix = "10.0.0.0/8", .link = 11, .table = 100}, KERNEL_TABLE, false},
		{{.prefix = "10.0.0.0/8", .link = 11, .table = 253}, KERNEL_TABLE, false},
		{{.prefix = "10.0.0.0/8", .link = 11, .tos = 8}, KERNEL_TOS, false},
		{{.prefix = "10.0.0.0/8", .link = 11, .encapsulation = LWTUNNEL_ENCAP_MPLS},
		 KERNEL_MPLS,
		 true},
		{{.prefix = "2001:2::/48", .link = 11, .encapsulation = LWTUNNEL_ENCAP_SEG6},
		 KERNEL_SEG6,
		 true},
		{{.prefix = "10.0.0.0/8", .link = 11, .encapsulation = LWTUNNEL_ENCAP_IP},
		 KERNEL_ENCAP,
		 true},
		{{.prefix = "10.0.0.0/8", .link = 11, .mtu = 1300}, KERNEL_MTU, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel kernel;

		open_router(&kernel);
		CHECK_EQ(route(&kernel, RTM_NEWROUTE, &cases[i].route),
			 cases[i].to_kernel ? KERNEL_CHANGED : KERNEL_SAME);
		CHECK_EQ(kernel.refused[cases[i].refusal], 1);
		CHECK_EQ(kernel.routes.count, cases[i].to_kernel);
		if (cases[i].to_kernel)
			CHECK(only_route(&kernel)->ways->to_kernel);
		CHECK_EQ(kernel.malformed, 0);
		kernel_close(&kernel);
	}
}

/* A message that ends at any octet too early has no effect, but is counted where it is too short. */
static void
test_cut(void)
{
	const struct route_message whole = {
		.prefix = "10.1.0.0/16", .gateways = {"10.0.0.9", "10.0.1.9"}, .links = {11, 12}};
	uint32_t length = route_message(RTM_NEWROUTE, &whole)->nlmsg_len;

	for (uint32_t cut = sizeof(struct nlmsghdr); cut < length; cut++) {
		struct nlmsghdr *message = route_message(RTM_NEWROUTE, &whole);
		char *copy = malloc(cut);
		struct kernel kernel;

		CHECK(copy != NULL);
		message->nlmsg_len = cut;
		memcpy(copy, message, cut);
		open_router(&kernel);
		kernel_apply(&kernel, (const void *)copy);
		if (cut < sizeof(struct nlmsghdr) + sizeof(struct rtmsg) || cut % 4 != 0)
			CHECK_EQ(kernel.malformed, 1);
		kernel_close(&kernel);
		free(copy);
	}
}

int
main(void)
{
	test_links();
	test_link_of_a_master();
	test_vlans();
	test_refused_vlans();
	test_neighbours();
	test_routes();
	test_twins();
	test_defaults();
	test_twins_replaced();
	test_twins_v6();
	test_multipath();
	test_nexthops();
	test_nexthop_without_routes();
	test_refusals();
	test_cut();
	return 0;
}
