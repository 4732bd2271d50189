/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between tables and routes that are planted are all found, each by its prefix. */
#include "tasks/router_check.h"
#include "tasks/router_tables_change.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define HOPS                                                 \
	"wirespeed-routes 1\n"                               \
	"hop 1 0 02:00:00:00:00:0a 02:00:00:00:00:1a 1500\n" \
	"hop 2 1 02:00:00:00:00:0b 02:00:00:00:00:1b 1500\n" \
	"hop 3 blackhole\n"                                  \
	"hop 4 local\n"

static const char *const names[] = {"east", "west"};

static void
write_routes(char *path, const char *text)
{
	strcpy(path, "/tmp/wsdp-check-XXXXXX");
	harness_file(path, text);
}

static void
ignore(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "%s\n", text);
}

/* Compare tables of one text with routes of another; return the lines. */
static struct router_difference_counts
differences(const char *built, const char *wanted, char *lines, size_t size)
{
	const struct routes_complaint complaint = {ignore, NULL};
	struct router_difference_counts counts;
	struct router_space *space;
	struct routes routes;
	char path[32];
	FILE *file;

	write_routes(path, built);
	space = router_space_get(path, SOCKET_ID_ANY, 2);
	CHECK(space != NULL);
	unlink(path);
	write_routes(path, wanted);
	CHECK_EQ(routes_read(&routes, path, &complaint), 0);
	unlink(path);
	memset(lines, 0, size);
	file = fmemopen(lines, size, "w");
	CHECK(file != NULL);
	router_compare(atomic_load(&space->current), &routes, names, file, &counts);
	fclose(file);
	routes_free(&routes);
	router_space_put(space);
	CHECK_EQ(counts.wrong_lookups, 0);
	return counts;
}

static void
check_line(const char *lines, const char *line)
{
	if (strstr(lines, line) == NULL) {
		fprintf(stderr, "no %s in:\n%s", line, lines);
		exit(1);
	}
}

static void
test_same(void)
{
	static const char text[] = HOPS "group 9 1 2*3\n"
					"route 0.0.0.0/0 1\nroute 10.0.0.0/8 9\n"
					"route 10.0.0.1/32 4\nroute ::/0 2\n"
					"route 2001:2::/48 9\nroute 2001:2::1/128 3\n";
	/* The same by other numbers and in another order. */
	static const char other[] = "wirespeed-routes 1\n"
				    "hop 7 1 02:00:00:00:00:0b 02:00:00:00:00:1b 1500\n"
				    "hop 8 0 02:00:00:00:00:0a 02:00:00:00:00:1a 1500\n"
				    "hop 1 blackhole\nhop 2 local\ngroup 3 7 8\n"
				    "route 2001:2::1/128 1\nroute 2001:2::/48 3\n"
				    "route ::/0 7\nroute 10.0.0.1/32 2\n"
				    "route 10.0.0.0/8 3\nroute 0.0.0.0/0 8\n";
	struct router_difference_counts counts;
	char lines[4096];

	counts = differences(text, other, lines, sizeof(lines));
	CHECK_EQ(counts.compared, 6);
	CHECK_EQ(counts.lookups, 12);
	CHECK_EQ(counts.missing + counts.different + counts.extra, 0);
	CHECK_EQ(strlen(lines), 0);
}

/* The same neighbour by a VLAN is another hop; files have none. */
static void
test_vlan(void)
{
	static const char text[] = HOPS "group 9 1 2\nroute 10.0.0.0/8 1\nroute 10.1.0.0/16 9\n";
	const struct routes_complaint complaint = {ignore, NULL};
	struct router_difference_counts counts;
	struct router_space *space;
	struct routes routes;
	char path[32], lines[4096] = "";
	FILE *file = fmemopen(lines, sizeof(lines), "w");

	write_routes(path, text);
	space = router_space_get(path, SOCKET_ID_ANY, 2);
	CHECK(space != NULL && file != NULL);
	CHECK_EQ(routes_read(&routes, path, &complaint), 0);
	unlink(path);
	routes.hops[0].vlan = 100;
	router_compare(atomic_load(&space->current), &routes, names, file, &counts);
	fclose(file);
	CHECK_EQ(counts.different, 2);
	check_line(lines, "{\"prefix\": \"10.0.0.0/8\", \"kernel\": \"by east with VLAN 100 to "
			  "02:00:00:00:00:1a, MTU 1500\", \"fib\": \"by east to ");
	check_line(lines, "\"kernel\": \"by east with VLAN 100 to 02:00:00:00:00:1a; by west to ");
	routes_free(&routes);
	router_space_put(space);
}

static void
test_differences(void)
{
	static const char built[] = HOPS "group 9 1 2\n"
					 "route 10.0.0.0/8 1\nroute 10.2.0.0/16 9\n"
					 "route 10.3.0.0/16 9\nroute 10.4.0.0/16 1\n"
					 "route 2001:2::/48 3\nroute 0.0.0.0/0 1\n";
	static const char wanted[] = HOPS "hop 5 1 02:00:00:00:00:0b 02:00:00:00:00:1b 1400\n"
					  "group 9 1 2\n"
					  "route 10.0.0.0/8 2\nroute 10.2.0.0/16 1\n"
					  "route 10.3.0.0/16 9\nroute 10.4.0.0/16 9\n"
					  "route 10.5.0.0/16 4\nroute 10.6.0.0/16 5\n"
					  "route 2001:2::/49 3\n";
	struct router_difference_counts counts;
	char lines[4096];

	counts = differences(built, wanted, lines, sizeof(lines));
	CHECK_EQ(counts.compared, 7);
	CHECK_EQ(counts.different, 3);
	CHECK_EQ(counts.missing, 3);
	CHECK_EQ(counts.extra, 2);
	check_line(lines, "{\"prefix\": \"10.0.0.0/8\", \"kernel\": \"by west to "
			  "02:00:00:00:00:1b, MTU 1500\", \"fib\": \"by east to "
			  "02:00:00:00:00:1a, MTU 1500\"}\n");
	check_line(lines, "{\"prefix\": \"10.5.0.0/16\", \"kernel\": \"to the router itself\", "
			  "\"fib\": \"no route\"}\n");
	check_line(lines, "{\"prefix\": \"2001:2::/48\", \"kernel\": \"no route\", \"fib\": "
			  "\"dropped\"}\n");
	check_line(lines, "{\"prefix\": \"0.0.0.0/0\", \"kernel\": \"no route\"");
	check_line(lines, "\"fib\": \"by east to 02:00:00:00:00:1a; by west to "
			  "02:00:00:00:00:1b\"}\n");
	check_line(lines, "\"kernel\": \"by east to 02:00:00:00:00:1a; by west to "
			  "02:00:00:00:00:1b\"");
}

static void
add_sample(struct router_samples *samples, const char *address, enum feed_answer answer)
{
	struct router_sample *sample = &samples->list[samples->nb++];

	*sample = (struct router_sample){.version = strchr(address, ':') != NULL ? 6 : 4,
					 .answer = answer};
	CHECK_EQ(inet_pton(sample->version == 4 ? AF_INET : AF_INET6, address, sample->address), 1);
}

/* Addresses of which the tables and the kernel's answers differ are named; others are not. */
static void
test_samples(void)
{
	static const char built[] = HOPS "hop 5 neighbour\ngroup 9 1 2\n"
					 "route 10.0.0.0/8 1\nroute 10.2.0.0/16 9\n"
					 "route 10.3.0.0/16 3\nroute 10.4.0.0/16 5\n"
					 "route 2001:2::/48 2\nroute 2001:3::/48 9\n"
					 "hop 6 1 02:00:00:00:00:0b 02:00:00:00:00:1c 1500\n"
					 "group 7 2 6\nroute 2001:4::/48 7\n";
	static const char answered[] = HOPS "hop 5 neighbour\ngroup 9 1 2\n"
					    "route 10.0.0.0/8 1\nroute 10.2.0.0/16 9\n"
					    "route 10.4.0.0/16 5\nroute 2001:2::/48 1\n"
					    "route 2001:3::/48 1\nroute 2001:4::/48 1\n";
	const struct routes_complaint complaint = {ignore, NULL};
	struct router_difference_counts counts = {0};
	struct router_samples samples = {0};
	struct router_space *space;
	struct routes answers;
	char path[32], lines[4096] = "";
	FILE *file = fmemopen(lines, sizeof(lines), "w");

	CHECK(file != NULL);
	write_routes(path, built);
	space = router_space_get(path, SOCKET_ID_ANY, 2);
	CHECK(space != NULL);
	unlink(path);
	write_routes(path, answered);
	CHECK_EQ(routes_read(&answers, path, &complaint), 0);
	unlink(path);
	add_sample(&samples, "10.1.0.1", FEED_ROUTE);
	add_sample(&samples, "10.2.0.1", FEED_ROUTE);
	add_sample(&samples, "10.4.0.1", FEED_ROUTE);
	add_sample(&samples, "10.3.0.1", FEED_BLACKHOLE);
	add_sample(&samples, "11.0.0.1", FEED_NO_ROUTE);
	add_sample(&samples, "10.1.0.2", FEED_NO_ROUTE);
	add_sample(&samples, "10.1.0.3", FEED_REFUSED);
	add_sample(&samples, "11.0.0.2", FEED_ROUTE);
	add_sample(&samples, "2001:2::7", FEED_ROUTE);
	/* The next hop of a flow is one of a group's, and that of a route alone. */
	add_sample(&samples, "2001:3::7", FEED_FLOW);
	add_sample(&samples, "2001:3::8", FEED_ROUTE);
	add_sample(&samples, "2001:2::8", FEED_FLOW);
	add_sample(&samples, "2001:4::7", FEED_FLOW);
	router_compare_samples(atomic_load(&space->current), &samples, &answers, names, file,
			       &counts);
	fclose(file);
	CHECK_EQ(counts.samples, 13);
	CHECK_EQ(counts.wrong_samples, 7);
	check_line(lines, "{\"prefix\": \"2001:3::8/128\"");
	check_line(lines, "{\"prefix\": \"2001:2::8/128\"");
	check_line(lines, "{\"prefix\": \"2001:4::7/128\"");
	check_line(lines,
		   "{\"prefix\": \"10.1.0.2/32\", \"kernel\": \"no route\", \"fib\": \"by east");
	check_line(lines, "{\"prefix\": \"10.1.0.3/32\", \"kernel\": \"unreachable\"");
	check_line(lines,
		   "{\"prefix\": \"11.0.0.2/32\", \"kernel\": \"a route that is not followed\", "
		   "\"fib\": \"no route\"}");
	check_line(lines, "{\"prefix\": \"2001:2::7/128\", \"kernel\": \"by east to "
			  "02:00:00:00:00:1a, MTU 1500\", \"fib\": \"by west");
	routes_free(&answers);
	router_space_put(space);
}

static struct router_space *
open_space(const char *text, struct routes *routes)
{
	const struct routes_complaint complaint = {ignore, NULL};
	struct router_space *space;
	char path[32];

	write_routes(path, text);
	CHECK_EQ(routes_read(routes, path, &complaint), 0);
	space = router_space_get(path, SOCKET_ID_ANY, 2);
	CHECK(space != NULL);
	unlink(path);
	return space;
}

/* Tables with changes are those of routes that have them. */
static void
test_changes(void)
{
	static const char built[] = HOPS "route 10.0.0.0/8 1\nroute 10.1.0.0/16 2\n"
					 "route 10.2.0.0/16 3\nroute 2001:2::/48 1\n";
	static const char wanted[] = "wirespeed-routes 1\n"
				     "hop 1 0 02:00:00:00:00:0a 02:00:00:00:00:77 1500\n"
				     "hop 2 1 02:00:00:00:00:0b 02:00:00:00:00:1b 1500\n"
				     "hop 3 blackhole\nroute 10.0.0.0/8 2\nroute 10.2.0.0/16 1\n"
				     "route 10.3.0.0/24 1\nroute 2001:2::/48 3\n";
	const struct route changes[] = {
		{.version = 4, .length = 8, .prefix = {10}, .hop = 1},
		{.version = 4, .length = 16, .prefix = {10, 1}, .hop = ROUTE_GONE},
		{.version = 4, .length = 16, .prefix = {10, 1}, .hop = ROUTE_GONE},
		{.version = 4, .length = 16, .prefix = {10, 2}, .hop = 0},
		{.version = 4, .length = 24, .prefix = {10, 3}, .hop = 0},
		{.version = 6, .length = 48, .prefix = {0x20, 1, 0, 2}, .hop = 2},
	};
	struct router_difference_counts counts;
	struct routes routes, goal;
	struct router_space *space = open_space(built, &routes), *other = open_space(wanted, &goal);
	struct router_tables *tables = atomic_load(&space->current);

	routes.hops[0].target[5] = 0x77;
	CHECK_EQ(router_tables_change(tables, &routes, changes, RTE_DIM(changes)), 0);
	router_compare(tables, &goal, names, stderr, &counts);
	CHECK_EQ(counts.missing + counts.different + counts.extra + counts.wrong_lookups, 0);
	CHECK_EQ(tables->nb_v4, 3);
	CHECK_EQ(tables->nb_v6, 1);
	/* These tables have no room for a hop more. */
	routes.nb_hops++;
	CHECK_EQ(router_tables_change(tables, &routes, NULL, 0), -ENOSPC);
	routes_free(&routes);
	routes_free(&goal);
	router_space_put(space);
	router_space_put(other);
}

/* Routes of main, then of two VRFs, a route each. */
static struct routes
vrf_routes(const struct routes *hops, struct route *list, struct routes_vrf *vrfs)
{
	struct routes made = *hops;

	for (uint32_t i = 0; i < 3; i++) {
		list[i] = (struct route){.version = i == 2 ? 6 : 4,
					 .length = 16,
					 .prefix = {0x20, 1},
					 .hop = (uint16_t)i,
					 .vrf = (uint8_t)i};
		vrfs[i] = (struct routes_vrf){.table = 10 * i, .first = i, .nb = 1};
	}
	strcpy(vrfs[1].name, "red");
	strcpy(vrfs[2].name, "blue");
	made.list = list;
	made.vrfs = vrfs;
	made.nb_routes = made.nb_vrfs = 3;
	return made;
}

static void
compare(const struct router_tables *tables, const struct routes *routes,
	struct router_difference_counts *counts, char *lines, size_t size)
{
	FILE *file = fmemopen(lines, size, "w");

	CHECK(file != NULL);
	router_compare(tables, routes, names, file, counts);
	fclose(file);
}

/* Each VRF is compared with its own table, by the table's number; differences name it. */
static void
test_vrfs(void)
{
	struct route list[3], other_list[3];
	struct routes_vrf vrfs[3], other_vrfs[3];
	struct router_difference_counts counts;
	struct routes hops, routes, other;
	struct router_space *space = open_space(HOPS "route 10.0.0.0/8 1\n", &hops);
	struct router_samples samples = {0};
	struct router_tables *tables;
	char lines[4096] = "", error[128];

	routes = vrf_routes(&hops, list, vrfs);
	other = vrf_routes(&hops, other_list, other_vrfs);
	space->has_room = true;
	tables = router_tables_make(space, &routes, NULL, error, sizeof(error));
	CHECK(tables != NULL);
	CHECK_EQ(tables->vrfs[1].nb_v4, 1);
	CHECK_EQ(tables->vrfs[2].nb_v6, 1);
	CHECK(tables->vrfs[1].bytes < 1000000 && tables->vrfs[2].bytes < 1000000);
	other_vrfs[1].table = 20;
	other_vrfs[2].table = 10;
	compare(tables, &routes, &counts, lines, sizeof(lines));
	CHECK_EQ(counts.compared, 3);
	CHECK_EQ(counts.missing + counts.different + counts.extra + counts.wrong_lookups, 0);
	compare(tables, &other, &counts, lines, sizeof(lines));
	CHECK_EQ(counts.missing, 2);
	CHECK_EQ(counts.extra, 2);
	check_line(lines, "{\"prefix\": \"32.1.0.0/16\", \"vrf\": \"red\", \"kernel\": \"by west");
	/* A VRF that the kernel has no longer, and one that the tables have not yet. */
	other_vrfs[1].table = 10;
	other_vrfs[2].table = 30;
	strcpy(other_vrfs[2].name, "green");
	compare(tables, &other, &counts, lines, sizeof(lines));
	CHECK_EQ(counts.missing, 1);
	CHECK_EQ(counts.extra, 1);
	check_line(lines, "\"vrf\": \"green\", \"kernel\": \"dropped\", \"fib\": \"no route\"}");
	check_line(lines, "\"vrf\": \"blue\", \"kernel\": \"no route\", \"fib\": \"dropped\"}");
	/* A change of one is none of another. */
	list[1].hop = 3;
	CHECK_EQ(router_tables_change(tables, &routes, &list[1], 1), 0);
	compare(tables, &routes, &counts, lines, sizeof(lines));
	CHECK_EQ(counts.missing + counts.different + counts.extra + counts.wrong_lookups, 0);
	/* The kernel's answer for a VRF is not that for main. */
	add_sample(&samples, "32.1.0.1", FEED_ROUTE);
	add_sample(&samples, "32.1.0.1", FEED_ROUTE);
	samples.list[1].table = 10;
	add_sample(&samples, "32.1.0.1", FEED_NO_ROUTE);
	samples.list[2].table = 20;
	add_sample(&samples, "32.1.0.1", FEED_UNASKED);
	counts = (struct router_difference_counts){0};
	router_compare_samples(tables, &samples, &routes, names, stderr, &counts);
	CHECK_EQ(counts.samples, 3);
	CHECK_EQ(counts.wrong_samples, 0);
	router_compare_samples(tables, &samples, &other, names, stderr, &counts);
	CHECK_EQ(counts.wrong_samples, 1);
	router_tables_free(tables);
	routes_free(&hops);
	router_space_put(space);
}

/* As many VRFs as there may be have room three times: in force, spare, and while both are made anew. */
static void
test_most_vrfs(void)
{
	struct route list[2 * ROUTES_VRFS_MAX];
	struct routes_vrf vrfs[1 + ROUTES_VRFS_MAX] = {0};
	struct router_difference_counts counts;
	struct routes hops, routes;
	struct router_space *space = open_space(HOPS "route 10.0.0.0/8 1\n", &hops);
	struct router_tables *tables[3];
	char lines[256], error[128];

	for (uint32_t i = 0; i < RTE_DIM(list); i++)
		list[i] = (struct route){.version = i % 2 == 1 ? 6 : 4,
					 .length = 16,
					 .prefix = {0x20, 1},
					 .hop = (uint16_t)(i % hops.nb_hops),
					 .vrf = (uint8_t)(1 + i / 2)};
	for (uint32_t i = 1; i < RTE_DIM(vrfs); i++)
		vrfs[i] =
			(struct routes_vrf){.table = i, .first = 2 * (i - 1), .nb = 2, .name = "v"};
	routes = hops;
	routes.list = list;
	routes.vrfs = vrfs;
	routes.nb_routes = RTE_DIM(list);
	routes.nb_vrfs = RTE_DIM(vrfs);
	space->has_room = true;
	for (unsigned int i = 0; i < 3; i++) {
		tables[i] = router_tables_make(space, &routes, NULL, error, sizeof(error));
		CHECK(tables[i] != NULL);
		compare(tables[i], &routes, &counts, lines, sizeof(lines));
		CHECK_EQ(counts.compared, 2 * ROUTES_VRFS_MAX);
		CHECK_EQ(counts.missing + counts.different + counts.extra, 0);
	}
	for (unsigned int i = 0; i < 3; i++)
		router_tables_free(tables[i]);
	routes_free(&hops);
	router_space_put(space);
}

int
main(void)
{
	harness_start();
	test_same();
	test_vrfs();
	test_most_vrfs();
	test_vlan();
	test_differences();
	test_samples();
	test_changes();
	return 0;
}
