/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces that frames come by, as lcores read them: which address a frame to each has. */
#ifndef WSDP_ROUTER_LINKS_H
#define WSDP_ROUTER_LINKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/task.h"
#include "pktlib/bytes.h"

/* Addresses as a frame's first octets read. */
#define ROUTER_MAC_MASK UINT64_C(0xffffffffffff)
/* Of an interface that is down: no frame's address reads so. */
#define ROUTER_DOWN UINT64_MAX
#define ROUTER_NO_VLAN 0 /* no interface has this VLAN */
/* Of a VLAN, bits above the address: which lookup tables it has. */
#define ROUTER_FIB_SHIFT 48

#define ROUTER_VLANS 4096

static inline uint64_t
router_mac(const uint8_t *mac)
{
	uint8_t padded[8] = {0};

	memcpy(padded, mac, 6);
	return raw64_load(padded);
}

struct kernel;

struct router_links {
	uint64_t macs[TASK_MAX_OUT];   /* of the ports' interfaces, by output */
	uint64_t *vlans[TASK_MAX_OUT]; /* of their VLANs, by id; NULL: the output has none */
	uint8_t fibs[TASK_MAX_OUT];    /* of the ports' interfaces: places in router_tables.fibs */
	uint32_t nb_vlans;
};

/* No interface is up. */
void router_links_open(struct router_links *links);
/* Take those of a kernel, or of others. Return false: memory is short; links are to be closed, too. */
bool router_links_read(struct router_links *links, const struct kernel *kernel, int socket_id);
bool router_links_copy(struct router_links *links, const struct router_links *from, int socket_id);
void router_links_close(struct router_links *links);

/* Return address and lookup tables of the interface of a VLAN, ROUTER_DOWN or ROUTER_NO_VLAN. */
static inline uint64_t
router_links_vlan(const struct router_links *links, uint8_t port, uint16_t vlan)
{
	return links->vlans[port] == NULL ? ROUTER_NO_VLAN : links->vlans[port][vlan];
}

#endif
