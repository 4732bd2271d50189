/* SPDX-License-Identifier: Apache-2.0 */
/* Check what a route file holds, and every fault that it can have. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "routes.h"

static char said[4096];

static void
keep(void *context __attribute__((unused)), const char *text)
{
	/* Without the name of the temporary file. */
	strncat(said, strchr(text, ':') + 1, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
}

static uint32_t
read_octets(struct routes *routes, const char *text, size_t size)
{
	const struct routes_complaint complaint = {.say = keep};
	char path[] = "/tmp/wsdp-routes-XXXXXX";
	int fd = mkstemp(path);
	uint32_t faults;

	said[0] = '\0';
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, size), size);
	close(fd);
	faults = routes_read(routes, path, &complaint);
	unlink(path);
	return faults;
}

static uint32_t
read_text(struct routes *routes, const char *text)
{
	return read_octets(routes, text, strlen(text));
}

static void
test_good(void)
{
	struct routes routes;
	struct routes_need need;

	CHECK_EQ(read_text(&routes, "wirespeed-routes 1\n"
				    "# two neighbours\n"
				    "hop 7 0 02:00:00:00:00:01 02:00:00:00:00:02\n"
				    "hop 4095 1 02:00:00:00:00:03 02:00:00:00:00:04 # the other\n"
				    "\n"
				    "route 198.19.1.128/25 4095\n"
				    "route 0.0.0.0/0\t7\n"
				    "route 2001:2:0:8000::/49 7\n"
				    "route ::/0 4095"),
		 0);
	CHECK_EQ(routes.nb_hops, 2);
	CHECK_EQ(routes.hops[1].id, 4095);
	CHECK_EQ(routes.hops[1].port, 1);
	CHECK(memcmp(routes.hops[1].target, "\2\0\0\0\0\4", 6) == 0);
	CHECK_EQ(routes.nb_routes, 4);
	/* Sorted by version, then length. */
	CHECK_EQ(routes.list[0].length, 0);
	CHECK_EQ(routes.list[0].hop, 0);
	CHECK_EQ(routes.list[1].length, 25);
	CHECK_EQ(routes.list[1].hop, 1);
	CHECK(memcmp(routes.list[1].prefix, "\xc6\x13\x01\x80", 4) == 0);
	CHECK(routes_need(&routes, 4, &need));
	CHECK_EQ(need.routes, 2);
	CHECK_EQ(need.tables, 1);
	CHECK(routes_need(&routes, 6, &need));
	CHECK_EQ(need.routes, 2);
	CHECK_EQ(need.tables, 4); /* 25 bits in tables of 8 */
	CHECK_EQ(need.reserved, 4);
	routes_free(&routes);
}

static void
test_groups(void)
{
	struct routes routes;

	CHECK_EQ(read_text(&routes, "wirespeed-routes 1\n"
				    "hop 1 0 02:00:00:00:00:01 02:00:00:00:00:02 1500\n"
				    "hop 2 blackhole\n"
				    "hop 3 local\n"
				    "hop 4 neighbour\n"
				    "group 5 1 2*256\n"
				    "group 6 4\n"
				    "route 10.0.0.0/8 5\n"
				    "route 2001:2::/48 1\n"),
		 0);
	CHECK_EQ(routes.nb_hops, 6);
	CHECK_EQ(routes.hops[0].kind, ROUTE_FORWARD);
	CHECK_EQ(routes.hops[0].mtu, 1500);
	CHECK_EQ(routes.hops[1].kind, ROUTE_BLACKHOLE);
	CHECK_EQ(routes.hops[2].kind, ROUTE_LOCAL);
	CHECK_EQ(routes.hops[3].kind, ROUTE_NEIGHBOUR);
	CHECK_EQ(routes.hops[4].kind, ROUTE_GROUP);
	CHECK_EQ(routes.hops[4].nb_members, 2);
	CHECK_EQ(routes.members[1].hop, 1);
	CHECK_EQ(routes.members[1].weight, 256);
	CHECK_EQ(routes.hops[5].first_member, 2);
	CHECK_EQ(routes.members[2].hop, 3);
	CHECK_EQ(routes.list[0].hop, 4);
	routes_free(&routes);
}

/* A line holds as many members as a group may have, and one more is an error. */
static void
test_largest_group(void)
{
	char text[4096], *end = text;
	struct routes routes;

	end += sprintf(end, "wirespeed-routes 1\n");
	for (unsigned int i = 0; i < ROUTES_MEMBERS_MAX; i++)
		end += sprintf(end, "hop %u neighbour\n", i);
	end += sprintf(end, "group 99");
	for (unsigned int i = 0; i < ROUTES_MEMBERS_MAX; i++)
		end += sprintf(end, " %u", i);
	CHECK_EQ(read_text(&routes, text), 0);
	CHECK_EQ(routes.hops[ROUTES_MEMBERS_MAX].nb_members, ROUTES_MEMBERS_MAX);
	routes_free(&routes);
	sprintf(end, " 0");
	CHECK_EQ(read_text(&routes, text), 1);
	CHECK(strstr(said, "a group is: group ID HOP[*WEIGHT]..., 1 to 64 hops") != NULL);
}

/* Tables are shared by prefixes of equal first bits; what is reserved is not. */
static void
test_need(void)
{
	static const char text[] = "wirespeed-routes 1\n"
				   "hop 0 0 02:00:00:00:00:01 02:00:00:00:00:02\n"
				   "route 10.0.0.0/24 0\n"
				   "route 10.0.0.0/25 0\n"
				   "route 10.0.0.128/26 0\n"
				   "route 10.0.0.255/32 0\n"
				   "route 10.0.1.0/32 0\n"
				   "route 2400:0::/32 0\n"
				   "route 2400:0:1::/48 0\n"
				   "route 2400:0:2::/48 0\n"
				   "route 2400:0:101::/48 0\n"
				   "route 2400:0:101:8000::/49 0\n"
				   "route 2400:1::/44 0\n"
				   "route 2400:100::/24 0\n";
	struct routes routes;
	struct routes_need need;

	CHECK_EQ(read_text(&routes, text), 0);
	CHECK(routes_need(&routes, 4, &need));
	CHECK_EQ(need.routes, 5);
	CHECK_EQ(need.tables, 2);
	CHECK_EQ(need.reserved, 4);
	CHECK(routes_need(&routes, 6, &need));
	CHECK_EQ(need.routes, 7);
	/* Of 2400:0::/24; of 2400:0::/32 and 2400:1::/32; of 2400:0::/40, 2400:0:100::/40 and
	 * 2400:1::/40; of 2400:0:101::/48. */
	CHECK_EQ(need.tables, 7);
	CHECK_EQ(need.reserved, 1 + 2 + 2 + 2 + 1 + 3);
	routes_free(&routes);
	CHECK_EQ(read_text(&routes, "wirespeed-routes 1\n"), 0);
	CHECK(routes_need(&routes, 4, &need));
	CHECK_EQ(need.routes + need.tables + need.reserved, 0);
	routes_free(&routes);
}

static void
test_faults(void)
{
	static const char *const cases[][2] = {
		{"", "1: the file is empty"},
		{"routes\n", "1: the first line must be \"wirespeed-routes 1\""},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1", "2: a hop is: hop ID PORT"},
		{"wirespeed-routes 1\nhop 4096 0 2:0:0:0:0:1 2:0:0:0:0:2", "must be 0..4095"},
		{"wirespeed-routes 1\nhop 1 x 2:0:0:0:0:1 2:0:0:0:0:2", "port \"x\" must be"},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1 2:0:0:0:0", "must be MAC addresses"},
		{"wirespeed-routes 1\nhop 1 0 -1:0:0:0:0:1 2:0:0:0:0:2", "must be MAC addresses"},
		{"wirespeed-routes 1\nroute 10.0.0.0/8 3", "2: no line above this one makes hop"},
		{"wirespeed-routes 1\nroute 10.0.0.0 3", "a route is: route PREFIX/LENGTH HOP"},
		{"wirespeed-routes 1\nroute 10.0.0/8 3", "must be an IPv4 or IPv6 address"},
		{"wirespeed-routes 1\nroute 10.0.0.0/33 3", "must be 0..32"},
		{"wirespeed-routes 1\nroute 10.0.0.1/31 3", "has bits behind its length 31"},
		{"wirespeed-routes 1\nneighbour 1", "\"neighbour\" must be hop, group or route"},
		{"wirespeed-routes 1\nhop 1 drop", "2: \"drop\" must be blackhole, local or neigh"},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1 2:0:0:0:0:2 67",
		 "\"67\" must be 68..65535"},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1 2:0:0:0:0:2 1500 1", "a hop is: hop ID"},
		{"wirespeed-routes 1\nhop 1 local\ngroup 1 1", "3: hop 1 is there already"},
		{"wirespeed-routes 1\nhop 1 local\ngroup 2", "3: a group is: group ID HOP"},
		{"wirespeed-routes 1\nhop 1 neighbour\ngroup 2 1 3",
		 "3: no line above this one makes"},
		{"wirespeed-routes 1\nhop 1 local\ngroup 2 1*0", "weight \"0\" must be 1..256"},
		{"wirespeed-routes 1\nhop 1 local\ngroup 2 1*257", "weight \"257\" must be"},
		{"wirespeed-routes 1\nhop 1 neighbour\ngroup 2 1 1",
		 "hop 1 is in the group already"},
		{"wirespeed-routes 1\nhop 1 neighbour\ngroup 2 1\ngroup 3 2",
		 "2 is a group; a group has"},
		{"wirespeed-routes 1\nhop 1 local\nhop 3 blackhole\ngroup 2 3 1",
		 "4: hop 1 is local; a group has"},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1 2:0:0:0:0:2 1279\nroute ::/0 1",
		 "3: hop 1 has an MTU below 1280"},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1 2:0:0:0:0:2 1279\nhop 2 neighbour\n"
		 "group 3 2 1\nroute ::/0 3",
		 "5: hop 3 has an MTU below 1280"},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1 2:0:0:0:0:2\n"
		 "hop 1 0 2:0:0:0:0:1 2:0:0:0:0:2",
		 "3: hop 1 is there already"},
		{"wirespeed-routes 1\nhop 1 0 2:0:0:0:0:1 2:0:0:0:0:2\n"
		 "route 10.0.0.0/8 1\nroute 10.0.0.0/9 1\nroute 10.0.0.0/8 1",
		 "10.0.0.0/8 has more than one route"},
	};
	struct routes routes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(read_text(&routes, cases[i][0]), 1);
		if (strstr(said, cases[i][1]) == NULL) {
			fprintf(stderr, "case %zu says: %s", i, said);
			exit(1);
		}
	}
	/* All at once. */
	CHECK_EQ(read_text(&routes, "wirespeed-routes 1\nhop\nroute\nroute 1.2.3.4/40 1\n"), 3);
	CHECK(strstr(said, "2: ") != NULL && strstr(said, "3: ") != NULL &&
	      strstr(said, "4: ") != NULL);
}

/* Text behind a fault in its line is not ignored. */
static void
test_nul(void)
{
	static const char text[] = "wirespeed-routes 1\n# comment\0\nhop 1 0 2:0:0:0:0:1";
	struct routes routes;

	CHECK_EQ(read_octets(&routes, text, sizeof(text) - 1), 1);
	CHECK(strstr(said, "2: a NUL octet") != NULL);
}

static void
test_long_line(void)
{
	struct routes routes;
	char text[1100];

	snprintf(text, sizeof(text), "wirespeed-routes 1\n#%0*d\n", 1021, 0);
	CHECK_EQ(read_text(&routes, text), 0);
	routes_free(&routes);
	snprintf(text, sizeof(text), "wirespeed-routes 1\n#%0*d\n", 1022, 0);
	CHECK_EQ(read_text(&routes, text), 1);
	CHECK(strstr(said, "2: a line has at most 1022 octets") != NULL);
}

int
main(void)
{
	test_good();
	test_need();
	test_groups();
	test_largest_group();
	test_nul();
	test_long_line();
	test_faults();
	return 0;
}
