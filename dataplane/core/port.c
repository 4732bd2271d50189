/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>
#include <sys/un.h>
#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_pci.h>
#include <rte_string_fns.h>

#include "config.h"
#include "port.h"
#include "task.h"

#define MTU_MAX 9216
/* Ethernet header, two VLAN tags, FCS, and what drivers put in front (virtio: 12 octets). */
#define FRAME_OVERHEAD 64
/* Drivers cut a longer path without a word. */
#define SOCKET_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

static void
check_socket_path(const struct config_section *section, const char *device)
{
	static const struct {
		const char *driver, *key;
	} sockets[] = {
		{"net_virtio_user", ",path="},
		{"virtio_user", ",path="},
		{"net_vhost", ",iface="},
		{"net_memif", ",socket="},
	};

	for (unsigned int i = 0; i < RTE_DIM(sockets); i++) {
		const char *key = strstr(device, sockets[i].key);

		if (key == NULL ||
		    strncmp(device, sockets[i].driver, strlen(sockets[i].driver)) != 0)
			continue;
		key += strlen(sockets[i].key);
		if (strcspn(key, ",") > SOCKET_PATH_MAX)
			config_fault(section, "device",
				     "must name a socket of at most %zu octets, not %zu; use a "
				     "shorter directory",
				     SOCKET_PATH_MAX, strcspn(key, ","));
	}
}

void
port_parse(struct port *port, const struct config_section *section)
{
	static const char *const spreads[] = {"rss", "peer", NULL};
	struct rte_pci_addr pci;
	const char *comma;
	unsigned int spread = 0;

	port->section = section;
	port->name = config_name(section);
	port->rx_queues = port->tx_queues = 1;
	port->mtu = RTE_ETHER_MTU;
	port->promiscuous = true;
	for (unsigned int i = 0; i < PORT_MAX_QUEUES; i++)
		port->rx_lcore[i] = port->tx_lcore[i] = PORT_NO_LCORE;
	config_u16(section, "rx_queues", &port->rx_queues, 1, PORT_MAX_QUEUES);
	config_u16(section, "tx_queues", &port->tx_queues, 1, PORT_MAX_QUEUES);
	config_u16(section, "rx_descriptors", &port->rx_descriptors, 16, 32768);
	config_u16(section, "tx_descriptors", &port->tx_descriptors, 16, 32768);
	config_u16(section, "mtu", &port->mtu, RTE_ETHER_MIN_MTU, MTU_MAX);
	config_bool(section, "promiscuous", &port->promiscuous);
	config_enum(section, "spread", spreads, &spread);
	port->peer_spreads = spread == 1;
	if (strcmp(port->name, "ring") == 0)
		config_fault(section, NULL, "a port cannot be called ring: that names a ring");
	if (!config_require(section, "device"))
		return;

	port->device = config_string(section, "device");
	check_socket_path(section, port->device);
	comma = strchr(port->device, ',');
	if (strcspn(port->device, ",") >= sizeof(port->device_name) || port->device[0] == '\0') {
		config_fault(section, "device",
			     "must start with a device name of 1 to %zu characters",
			     sizeof(port->device_name) - 1);
		return;
	}
	rte_strscpy(port->device_name, port->device,
		    comma == NULL ? sizeof(port->device_name) : (size_t)(comma - port->device) + 1);
	port->is_pci = rte_pci_addr_parse(port->device_name, &pci) == 0;
	if (port->is_pci)
		rte_pci_device_name(&pci, port->device_name, sizeof(port->device_name));
}

uint32_t
port_frame_bytes(const struct port *port)
{
	return port->mtu + FRAME_OVERHEAD;
}

/* Remove a listening port's socket, as its driver does: otherwise nobody can listen there again. */
static void
remove_memif_socket(const char *device)
{
	const char *path = strstr(device, ",socket=");
	char file[SOCKET_PATH_MAX + 1];
	size_t length;

	if (path == NULL || strstr(device, ",role=server") == NULL ||
	    strstr(device, ",socket-abstract=no") == NULL)
		return;
	path += strlen(",socket=");
	length = strcspn(path, ",");
	if (length >= sizeof(file))
		return;
	memcpy(file, path, length);
	file[length] = '\0';
	unlink(file);
}

bool
port_stop(struct port *port)
{
	/* DPDK's memif driver frees its listener while EAL's interrupt thread still watches it, and
	 * disconnects in that thread without a lock against rte_eth_dev_close (22.11 to 24.11). The
	 * end of the process closes both ends in order. */
	if (port->attached && strncmp(port->device_name, "net_memif", strlen("net_memif")) == 0) {
		remove_memif_socket(port->device);
		port->attached = port->configured = false;
		return false;
	}
	if (port->configured) {
		rte_eth_dev_stop(port->id);
		rte_eth_dev_close(port->id);
		port->configured = false;
	}
	if (port->attached) {
		rte_vdev_uninit(port->device_name);
		port->attached = false;
	}
	return true;
}

static uint16_t
port_receive(const struct task_in *in, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_rx_burst(in->port_id, in->queue_id, mbufs, n);
}

static uint16_t
port_send(const struct task_out *out, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_tx_burst(out->port_id, out->queue_id, mbufs, n);
}

void
port_reader(const struct port *port, uint16_t queue, struct task_in *in)
{
	in->receive = port_receive;
	in->port_id = port->id;
	in->queue_id = queue;
}

void
port_writer(const struct port *port, uint16_t queue, struct task_out *out)
{
	out->send = port_send;
	out->port_id = port->id;
	out->queue_id = queue;
}

int
port_stats(const struct port *port, struct rte_eth_stats *stats)
{
	int ret = rte_eth_stats_get(port->id, stats);

	if (ret != 0)
		return ret;
	stats->ipackets -= port->baseline.ipackets;
	stats->opackets -= port->baseline.opackets;
	stats->ibytes -= port->baseline.ibytes;
	stats->obytes -= port->baseline.obytes;
	stats->imissed -= port->baseline.imissed;
	stats->ierrors -= port->baseline.ierrors;
	stats->oerrors -= port->baseline.oerrors;
	stats->rx_nombuf -= port->baseline.rx_nombuf;
	return 0;
}

void
port_reset(struct port *port)
{
	if (rte_eth_stats_get(port->id, &port->baseline) != 0)
		memset(&port->baseline, 0, sizeof(port->baseline));
}
