/* SPDX-License-Identifier: Apache-2.0 */
/* The routes and next hops of a file, which all tasks of a process share that name the file. They do
 * not change while tasks run. */
#ifndef WSDP_L3FWD_TABLES_H
#define WSDP_L3FWD_TABLES_H

#include "fib.h"
#include "pktlib/ip_forward.h"

struct config_section;

/* First octets of a frame to this neighbour: its address, then that of the output's port. */
struct l3fwd_hop {
	uint8_t macs[IP_MACS_LEN];
	uint8_t port;
};

struct l3fwd_tables {
	struct fib fib;
	struct l3fwd_hop *hops; /* by what a lookup gives; the first is none */
	uint32_t nb_hops, nb_routes;
};

/* Check the section's "routes" for a task with this many outputs; faults are recorded. */
int l3fwd_tables_check(const struct config_section *section, const char *path, unsigned int nb_out);
/* The tables of a file, built by the first that asks. NULL after a message on stderr. */
const struct l3fwd_tables *l3fwd_tables_get(const char *path, int socket_id, unsigned int nb_out);
void l3fwd_tables_put(const struct l3fwd_tables *tables);

#endif
