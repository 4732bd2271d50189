/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of a file as lookup tables (rte_fib), which all tasks of a process share that name the
 * file. They do not change while tasks run. */
#ifndef WSDP_L3FWD_FIB_H
#define WSDP_L3FWD_FIB_H

#include <rte_ether.h>
#include <rte_fib.h>
#include <rte_fib6.h>

#include "pktlib/routes.h"

/* A lookup gives the number of a hop below; this one where there is no route. */
#define L3FWD_NO_HOP 0

struct config_section;

/* First octets of a frame to this neighbour: its address, then that of the output's port. */
struct l3fwd_hop {
	uint8_t macs[2 * RTE_ETHER_ADDR_LEN];
	uint8_t port;
};

/* v4, v6: NULL where the file has no such route. */
struct l3fwd_fib {
	struct rte_fib *v4;
	struct rte_fib6 *v6;
	struct l3fwd_hop *hops;
	uint32_t nb_hops, nb_routes;
};

/* Check the section's "routes" for a task with this many outputs; faults are recorded. */
int l3fwd_fib_check(const struct config_section *section, const char *path, unsigned int nb_out);
/* The tables of a file, built by the first that asks. NULL after a message on stderr. */
const struct l3fwd_fib *l3fwd_fib_get(const char *path, int socket_id);
void l3fwd_fib_put(const struct l3fwd_fib *fib);

#endif
