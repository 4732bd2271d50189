/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the tasks of a router read: lookup tables, next hops and groups. Tables in force do not
 * change; a space, which tasks share that name the same file, points to them. It may have a spare copy, in
 * which routes are changed before it is put in force. */
#ifndef WSDP_ROUTER_TABLES_H
#define WSDP_ROUTER_TABLES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "core/task.h"
#include "fib.h"
#include "pktlib/ip_forward.h"
#include "router_links.h"

struct config_section;

/* A cache line: all that a frame needs once its destination is looked up. */
struct __rte_cache_aligned router_hop {
	uint8_t macs[IP_MACS_LEN]; /* the neighbour's, then the output's */
	uint8_t kind;              /* enum route_kind */
	uint8_t port;
	uint16_t mtu;          /* most octets of an IP packet; 0 where none is forwarded at once */
	uint16_t untagged_mtu; /* the same, but 0 where frames get a tag, too */
	uint16_t vlan;         /* id of that tag; 0: none */
	uint16_t id;           /* as in the file */
	const uint16_t *buckets; /* of a group: ECMP_BUCKETS places in `hops` */
};

/* The lookup tables of main come first; the last ones never have a route. */
#define ROUTER_FIBS (2 + ROUTES_VRFS_MAX)

/* What there is in the lookup tables of a VRF, or main. */
struct router_vrf {
	uint32_t table; /* its number; 0: main */
	uint32_t nb_v4, nb_v6;
	uint64_t bytes;
	char name[ROUTES_VRF_NAME];
};

struct router_tables {
	struct router_hop *hops;      /* by what a lookup gives; the first is none */
	struct fib fibs[ROUTER_FIBS]; /* each interface has one of them: see router_links.h */
	uint16_t *buckets;            /* of all groups */
	uint32_t nb_hops, nb_groups;
	uint32_t room_hops, room_groups; /* of the arrays */
	unsigned int nb_vrfs;            /* with main */
	struct router_vrf vrfs[1 + ROUTES_VRFS_MAX];
	uint32_t nb_v4, nb_v6;       /* of all of them */
	uint32_t nb_by_kernel;       /* routes that lead to the kernel */
	uint64_t bytes;              /* of the lookup tables */
	struct router_links links;   /* the kernel's interfaces */
	struct router_tables *older; /* replaced, and not free yet */
};

struct router_space {
	_Atomic(struct router_tables *) current;
	bool has_room;                  /* its tables have room for more routes */
	uint32_t least[2];              /* see fib_room */
	struct router_tables *replaced; /* the newest of them; control's */
	struct router_tables *kept; /* once replaced and settled, they are the spare; of the turn */
	_Atomic(struct router_tables *) spare; /* nobody reads them; of the turn (core/reload.h) */
	uint64_t generation;                   /* how many tables were in force; control's */
	char *path;
	int socket_id;
	unsigned int nb_out; /* outputs that every task of it has */
	unsigned int users;
	struct router_space *next;
};

/* Check the section's "routes" for a task with this many outputs; faults are recorded. */
int router_check(const struct config_section *section, const char *path, unsigned int nb_out);
/* The space of a file, made by the first that asks. NULL after a message on stderr. */
struct router_space *router_space_get(const char *path, int socket_id, unsigned int nb_out);
/* The same, without routes at first: they come from elsewhere, which `key` names. */
struct router_space *router_space_get_empty(const char *key, int socket_id, unsigned int nb_out);
void router_space_put(struct router_space *space);

/* See struct task_reload. A flow keeps its hop of a group whose id stays, where the hop's id does. */
struct router_tables *router_tables_build(const struct router_space *space, const char *path,
					  const atomic_bool *cancel, char *error, size_t size);
/* The same from routes that are read already. */
struct router_tables *
router_tables_make(const struct router_space *space, const struct routes *routes,
		   const atomic_bool *cancel, char *error, size_t size);
void router_tables_free(struct router_tables *tables);
void router_space_exchange(struct router_space *space, struct router_tables *tables);
void router_space_settle(struct router_space *space);
/* With the turn of reloads: take the spare tables out of the space. NULL: there are none. */
struct router_tables *router_space_take_spare(struct router_space *space);

#endif
