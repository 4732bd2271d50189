/* SPDX-License-Identifier: Apache-2.0 */
/* The routing state of a kernel's network namespace as its netlink messages report it: interfaces of the
 * router, neighbours, next-hop objects and routes. No DPDK, no sockets. */
#ifndef MIRROR_KERNEL_H
#define MIRROR_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "pktlib/routes.h"
#include "table.h"

struct nlmsghdr;

#define KERNEL_LINKS_MAX 16 /* interfaces of ports: one for each output of the router's task */
#define KERNEL_WAYS_MAX 64
#define KERNEL_VLAN_MAX 4094 /* the highest id */

/* State of the kernel that is not mirrored. Packets that need it go to the kernel, or, where a comment
 * says so, by the routes that are mirrored. */
enum kernel_refusal {
	KERNEL_RULE,  /* policy rules: the main table decides */
	KERNEL_TABLE, /* routes of tables other than main, local and those of VRFs: not used */
	KERNEL_MPLS,
	KERNEL_SEG6,
	KERNEL_ENCAP,     /* any other encapsulation */
	KERNEL_MULTICAST, /* multicast routes: multicast goes to the kernel */
	KERNEL_TOS,       /* routes for a type of service: not used */
	KERNEL_SOURCE,    /* IPv6 routes for a source prefix: not used */
	KERNEL_MTU,       /* routes with an MTU of their own */
	KERNEL_WAYS,      /* routes with more next hops than KERNEL_WAYS_MAX */
	KERNEL_MASTER,    /* an interface in a bridge or a bond: the main table decides */
	KERNEL_VLAN,      /* a VLAN of 802.1ad, in another VLAN, or of id 0 */
	KERNEL_UPPER,     /* an interface upon one of ours that is no VLAN */
	KERNEL_VRF,       /* VRFs beyond ROUTES_VRFS_MAX, or with a table of another use */
	KERNEL_VRF_ROUTE, /* routes whose next hop is a VRF itself */
	/* IPv4 default routes of one metric: the kernel chooses by the state of their neighbours. */
	KERNEL_DEFAULTS,
	KERNEL_REFUSALS
};

/* Names for figures, and what happens, as a sentence without its object's end. */
extern const char *const kernel_refusal_names[KERNEL_REFUSALS];
extern const char *const kernel_refusal_texts[KERNEL_REFUSALS];

/* An interface of the router: that of a port, or a VLAN of one. */
struct kernel_link {
	uint32_t index;
	uint32_t flags; /* IFF_UP and those of its carrier */
	uint32_t mtu;
	uint8_t mac[6];
	uint16_t vlan; /* id; 0: that of a port */
	uint8_t port;  /* number of the output */
	uint8_t unused[3];
	uint32_t table; /* of the VRF that it is in; 0: main; or KERNEL_NO_TABLE */
};

/* Of an interface in a VRF whose table is not known; no VRF that is followed has it. */
#define KERNEL_NO_TABLE UINT32_MAX

/* A VRF: a device whose interfaces look up in its table. */
struct kernel_vrf {
	uint32_t index;
	uint32_t table;
	bool is_up;
	char name[ROUTES_VRF_NAME]; /* letters, digits, '-', '_', '.', or '?' for another octet */
};

/* Instead of a place: of a table that no VRF has. */
#define KERNEL_NO_PLACE (ROUTES_VRFS_MAX + 1)

struct kernel_neighbour_key {
	uint32_t link; /* index */
	uint32_t version;
	uint8_t address[16];
};

/* A neighbour whose address the kernel knows. */
struct kernel_neighbour {
	struct kernel_neighbour_key key;
	uint8_t mac[6];
	uint8_t is_stale;  /* the kernel would ask before it relies on it */
	uint8_t has_route; /* of its own: see compile.h */
};

/* One next hop of a route. */
struct kernel_way {
	uint32_t link;
	uint16_t weight;
	uint8_t version; /* of the gateway; 0: the destination itself is a neighbour */
	bool is_dead;
	uint8_t gateway[16];
};

/* What a route or a next-hop object leads to. Equal ones are one. */
struct kernel_ways {
	uint32_t users;
	uint16_t nb;
	bool to_kernel; /* only the kernel can handle it */
	bool is_blackhole;
	struct kernel_ways *next; /* in its chain */
	uint64_t mark;            /* for who reads all routes: see compile.c */
	uint16_t hop;
	struct kernel_way list[];
};

/* A next-hop object: ways, or a group of others. */
struct kernel_nexthop {
	uint32_t id;
	uint32_t born;            /* how many there were when it came */
	uint32_t nb_routes;       /* that have it */
	uint32_t nb_members;      /* of a group */
	struct kernel_ways *ways; /* NULL for a group */
	uint32_t *members;        /* ids */
	uint16_t *weights;
	uint64_t mark; /* of a group: see struct kernel_ways */
	uint16_t hop;
	bool exists;
};

struct kernel_route_key {
	uint8_t version, is_local, length; /* is_local: of the table local */
	uint8_t vrf;                       /* place of its table; 0: main or local */
	uint32_t priority;
	uint8_t prefix[16];
};

struct kernel_route {
	struct kernel_route_key key;
	uint32_t nexthop; /* id of an object, or 0 */
	uint32_t born;    /* of that object; 0: it was not known yet */
	uint16_t type;    /* RTN_* */
	bool has_twins;   /* others of this key, which are not kept */
	bool to_kernel;   /* only the kernel can handle it, whatever its ways */
	struct kernel_ways *ways;
};

/* Table and priority of routes. */
struct kernel_rank {
	uint8_t is_local;
	uint32_t priority;
};

#define KERNEL_RANKS_MAX 32

/* A prefix of which a route has changed. */
struct kernel_prefix {
	uint8_t version, length, vrf;
	uint8_t prefix[16];
};

/* Those of some seconds in which a full table comes. */
#define KERNEL_CHANGES_MAX 524288

/* A neighbour that has changed, as it was before. */
struct kernel_moved {
	struct kernel_neighbour_key key;
	uint8_t mac[6];
	bool was_known, had_route;
};

#define KERNEL_MOVED_MAX 1024

/* Changes since routes were made of the state. A prefix may be there several times. */
struct kernel_changes {
	struct kernel_prefix *list;
	struct kernel_moved *moved; /* neighbours, each once */
	uint32_t nb, nb_moved;
	bool is_all; /* the lists do not have all */
};

#define KERNEL_CHAINS 4096

struct kernel {
	unsigned int nb_links;
	struct kernel_link links[KERNEL_LINKS_MAX]; /* of ports, by output */
	struct table vlans;                         /* further links, by index */
	unsigned int nb_vrfs, nb_tables;
	struct kernel_vrf vrfs[ROUTES_VRFS_MAX];
	/* Tables of VRFs by place, from 1 on, KERNEL_NO_TABLE after their VRF. Routes have places: a VRF that gets
	 * the table of a former one has none of the former routes. */
	uint32_t tables[1 + ROUTES_VRFS_MAX];
	/* Lowest priorities of the rules for the table local and for VRFs, of IPv4 and IPv6. */
	uint32_t local_rule[2], vrf_rule[2];
	struct table neighbours, nexthops, routes;
	uint32_t nb_born; /* next-hop objects that have come */
	struct kernel_ways *chains[KERNEL_CHAINS];
	struct kernel_changes changes;
	/* Ids of groups that were deleted since routes were made whole: their hops are those of groups. */
	struct table gone_groups;
	unsigned int nb_ranks; /* more than KERNEL_RANKS_MAX: not all are there */
	struct kernel_rank ranks[KERNEL_RANKS_MAX]; /* that routes had since the dump, best first */
	uint64_t refused[KERNEL_REFUSALS];          /* messages */
	char refused_vrf[ROUTES_VRF_NAME];          /* the last of KERNEL_VRF */
	/* Interfaces have other tables, or VRFs have come or gone: the kernel reports the steps of one change, and
	 * not what it deletes, so that no routes are to be made before the next dump. */
	bool wants_dump;
	uint64_t malformed;
	uint64_t mark; /* the last one given out */
};

/* indexes: of the interfaces of the router's ports, in the order of its outputs. */
void kernel_open(struct kernel *kernel, const uint32_t *indexes, unsigned int nb);
void kernel_close(struct kernel *kernel);

enum kernel_effect {
	KERNEL_SAME,
	KERNEL_CHANGED,
	/* An address is gone, and maybe routes from it without a message: dump again once it is quiet. */
	KERNEL_DOUBTED,
	KERNEL_UNSURE, /* changed, and the kernel may have changed more without a message: dump again */
	KERNEL_NO_MEMORY,
};

/* Take a message of a dump or a notification; others have no effect. Malformed ones are counted. */
enum kernel_effect kernel_apply(struct kernel *kernel, const struct nlmsghdr *message);

/* Forget all routes. */
void kernel_forget_routes(struct kernel *kernel);
/* Forget the changes: routes were made of the state. */
void kernel_forget_changes(struct kernel *kernel);

/* Return an interface of the router, or NULL: another one. */
const struct kernel_link *kernel_link(const struct kernel *kernel, uint32_t index);
/* Return the place of a table, 0 for main (0), or KERNEL_NO_PLACE. */
unsigned int kernel_place(const struct kernel *kernel, uint32_t table);
/* The same of the table in which frames that come by an interface are looked up. */
unsigned int kernel_place_of_link(const struct kernel *kernel, uint32_t index);
/* Return a VRF that has this table, if possible one that is up, or NULL. */
const struct kernel_vrf *kernel_vrf(const struct kernel *kernel, uint32_t table);
/* Return whether the kernel asks the table local before those of VRFs. */
bool kernel_is_local_first(const struct kernel *kernel, uint8_t version);
/* Return the next-hop object of a route, or NULL: it has none, or that was deleted, and the route with it. */
struct kernel_nexthop *kernel_object(const struct kernel *kernel, const struct kernel_route *route);
/* Return the neighbour, or NULL: its address is not known. */
const struct kernel_neighbour *kernel_neighbour(const struct kernel *kernel, uint32_t link,
						uint8_t version, const uint8_t *address);

/* For messages. Note that a neighbour changes; before: as it is, or NULL: it is not known. */
void kernel_note_neighbour(struct kernel *kernel, const struct kernel_neighbour_key *key,
			   const struct kernel_neighbour *before);
/* For messages. Note that a route of this key has changed, or is new. */
void kernel_note(struct kernel *kernel, const struct kernel_route_key *key);
/* For messages. Return the one of these ways, which gets one more user; NULL: memory is short. */
struct kernel_ways *kernel_ways_get(struct kernel *kernel, const struct kernel_way *list,
				    uint16_t nb, bool to_kernel, bool is_blackhole);
void kernel_ways_put(struct kernel *kernel, struct kernel_ways *ways);

#endif
