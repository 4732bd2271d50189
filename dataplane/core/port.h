/* SPDX-License-Identifier: Apache-2.0 */
/* [port.NAME]: an Ethernet device, any that DPDK knows by a device string. */
#ifndef WSDP_PORT_H
#define WSDP_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ethdev.h>

struct config_section;
struct pools;
struct task_in;
struct task_out;

#define PORT_MAX_QUEUES 64
#define PORT_NO_LCORE UINT32_MAX

struct port {
	const struct config_section *section;
	const char *name;
	const char *device;                     /* "net_vhost0,iface=/run/x" or "0000:03:00.0" */
	char device_name[RTE_ETH_NAME_MAX_LEN]; /* its part before the first comma */
	bool is_pci;
	uint16_t rx_queues, tx_queues;
	uint16_t rx_descriptors, tx_descriptors; /* 0: not given */
	uint16_t mtu;
	bool promiscuous;
	bool peer_spreads; /* frames come to the queues by somebody else's choice, not by RSS */
	uint32_t rx_lcore[PORT_MAX_QUEUES]; /* which lcore reads or writes each queue */
	uint32_t tx_lcore[PORT_MAX_QUEUES];

	bool attached; /* we made the virtual device: remove it */
	bool configured;
	uint16_t id;
	struct rte_eth_stats baseline; /* counters at the last reset */
};

void port_parse(struct port *port, const struct config_section *section);
/* Room for the largest frame, two VLAN tags included. */
uint32_t port_frame_bytes(const struct port *port);

/* Return whether the port is a NIC that DPDK has taken, and its NUMA node. */
bool port_nic_node(const struct port *port, int *socket_id);
/* Create, configure and start the device; `pools` has all pools there will be. On failure: message
 * on stderr, negative errno. */
int port_start(struct port *port, const struct pools *pools);
/* Give the device back. False: it stays as it is until the process ends; rte_eal_cleanup, which
 * would close it, must not be called then. */
bool port_stop(struct port *port);

void port_reader(const struct port *port, uint16_t queue, struct task_in *in);
void port_writer(const struct port *port, uint16_t queue, struct task_out *out);

/* The device's counters since the last reset. Not every driver can reset its own, and none does it
 * atomically while traffic flows: so ours are differences. */
int port_stats(const struct port *port, struct rte_eth_stats *stats);
void port_reset(struct port *port);

#endif
