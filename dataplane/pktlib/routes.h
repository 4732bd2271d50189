/* SPDX-License-Identifier: Apache-2.0 */
/* A file of routes: next hops, groups of them, and the prefixes that lead there. Everything that is
 * wrong with it is found in one reading. Format: docs/reference/wsdp.md, "Route files". */
#ifndef PKTLIB_ROUTES_H
#define PKTLIB_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#define ROUTES_FORMAT "wirespeed-routes 1"
#define ROUTES_HOPS_MAX 4096 /* their ids are 0 to 4095 */
#define ROUTES_MEMBERS_MAX 64
#define ROUTES_WEIGHT_MAX 256
#define ROUTES_COMPLAINTS_MAX 100
#define ROUTES_VRFS_MAX 64 /* tables of VRFs, next to main */
#define ROUTES_VRF_NAME 16
#define ROUTE_GONE UINT16_MAX /* hop of a changed route: its prefix has none any more */

/* Treatment of a packet whose longest prefix leads here. */
enum route_kind {
	ROUTE_FORWARD,
	ROUTE_GROUP,     /* one of several hops, by the flow */
	ROUTE_BLACKHOLE, /* dropped */
	ROUTE_LOCAL,     /* for the router itself */
	ROUTE_NEIGHBOUR, /* for a neighbour whose address is not known yet */
	ROUTE_KERNEL,    /* only the kernel can handle it; not in files */
};

/* A next hop, or a group of them; both are numbered in the order of the file. */
struct route_hop {
	uint16_t id;
	uint8_t kind; /* enum route_kind */
	uint8_t port; /* number of the output; this and the next three: of ROUTE_FORWARD */
	uint8_t source[6];
	uint8_t target[6];
	uint16_t mtu;        /* most octets of an IP packet; 0: no limit */
	uint16_t vlan;       /* id of the tag that frames get; 0: none. Not in files */
	uint16_t nb_members; /* of ROUTE_GROUP, from first_member on */
	uint32_t first_member;
};

/* hop: index into routes.hops, never of a group. */
struct route_member {
	uint16_t hop;
	uint16_t weight;
};

/* prefix: in network byte order, the first 4 octets for IPv4. hop: index into routes.hops. */
struct route {
	uint8_t version; /* 4 or 6 */
	uint8_t length;
	uint8_t prefix[16];
	uint16_t hop;
	uint8_t vrf; /* place of its table in routes.vrfs; 0: main. Not in files */
};

/* The routes of one table, in a row. */
struct routes_vrf {
	uint32_t table; /* its number; 0: main */
	uint32_t first, nb;
	char name[ROUTES_VRF_NAME]; /* of a VRF that has it; "": main */
};

/* Order two routes by version, length and prefix, for qsort and bsearch; 0: the same prefix. */
int route_compare(const void *a, const void *b);

struct routes {
	struct route_hop *hops;
	struct route_member *members;
	struct route *list;
	struct routes_vrf *vrfs; /* by place, the first one main; NULL: all routes are main's */
	uint32_t nb_hops, nb_members, nb_routes, nb_vrfs;
};

/* Called with one sentence, which begins with "PATH:LINE: ", for each thing that is wrong. */
struct routes_complaint {
	void (*say)(void *context, const char *text);
	void *context;
};

/* Read a file. Returns how many faults there are; with none, free the routes with routes_free. */
uint32_t
routes_read(struct routes *routes, const char *path, const struct routes_complaint *complaint);
void routes_free(struct routes *routes);
/* Return the routes of the table at a place, which are parts of `routes`: not to be freed. */
struct routes routes_of(const struct routes *routes, unsigned int vrf);

/* Space that the routes of a version take of a table that resolves 24 bits at once and 8 more with each
 * further table of 256 entries. */
struct routes_need {
	uint32_t routes;
	uint32_t tables;   /* of 256 entries; prefixes of equal first bits share them */
	uint32_t reserved; /* counted for each prefix from the next shorter one that holds it: at
			    * least `tables`. What rte_fib6 asks for, shorter prefixes first. */
};

/* Return false if memory is short. */
bool routes_need(const struct routes *routes, uint8_t version, struct routes_need *need);

#endif
