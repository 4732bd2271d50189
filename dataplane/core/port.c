/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_dev.h>
#include <rte_pci.h>
#include <rte_string_fns.h>

#include "config.h"
#include "pool.h"
#include "port.h"
#include "task.h"

#define MTU_MAX 9216
#define DESCRIPTORS_DEFAULT 1024
/* Sent frames that may wait to be given back to their pool. */
#define TX_HELD_MAX 256
/* Ethernet header, two VLAN tags, FCS, and what drivers put in front (virtio: 12 octets). */
#define FRAME_OVERHEAD 64

void
port_parse(struct port *port, const struct config_section *section)
{
	struct rte_pci_addr pci;
	const char *comma;

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
	if (strcmp(port->name, "ring") == 0)
		config_fault(section, NULL, "a port cannot be called ring: that names a ring");
	if (!config_require(section, "device"))
		return;

	port->device = config_string(section, "device");
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

static int
failed(const struct port *port, const char *what, int ret)
{
	fprintf(stderr, "wsdp: [port.%s] device = %s: %s: %s\n", port->name, port->device, what,
		strerror(-ret));
	return ret;
}

/* Find the device's port, creating a virtual device that is not there yet. PCI devices were
 * probed when DPDK came up, since we named them in its allow list. */
static int
port_attach(struct port *port)
{
	const char *comma = strchr(port->device, ',');
	int ret;

	if (rte_eth_dev_get_port_by_name(port->device_name, &port->id) == 0)
		return 0;
	if (port->is_pci)
		return failed(port,
			      "no DPDK driver took this PCI device; bind it to vfio-pci "
			      "(dpdk-devbind.py --status)",
			      -ENODEV);
	ret = rte_eal_hotplug_add("vdev", port->device_name, comma == NULL ? "" : comma + 1);
	if (ret != 0)
		return failed(port, "cannot be created; does a DPDK driver have this name?", ret);
	port->attached = true;
	ret = rte_eth_dev_get_port_by_name(port->device_name, &port->id);
	return ret == 0 ? 0 : failed(port, "is no Ethernet device", -ENODEV);
}

/* DPDK would round a descriptor count silently; a measurement must not use another than asked. */
static int
check_descriptors(const struct port *port, const struct rte_eth_dev_info *info)
{
	uint16_t rx = port->rx_descriptors, tx = port->tx_descriptors;
	int ret = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx);

	if (ret != 0)
		return failed(port, "cannot tell its descriptor limits", ret);
	if (port->rx_descriptors != 0 && rx != port->rx_descriptors) {
		fprintf(stderr,
			"wsdp: [port.%s] rx_descriptors = %u: this device takes %u to %u "
			"in steps of %u\n",
			port->name, port->rx_descriptors, info->rx_desc_lim.nb_min,
			info->rx_desc_lim.nb_max, info->rx_desc_lim.nb_align);
		return -EINVAL;
	}
	if (port->tx_descriptors != 0 && tx != port->tx_descriptors) {
		fprintf(stderr,
			"wsdp: [port.%s] tx_descriptors = %u: this device takes %u to %u "
			"in steps of %u\n",
			port->name, port->tx_descriptors, info->tx_desc_lim.nb_min,
			info->tx_desc_lim.nb_max, info->tx_desc_lim.nb_align);
		return -EINVAL;
	}
	return 0;
}

static int
check_limits(const struct port *port, const struct rte_eth_dev_info *info)
{
	if (port->rx_queues > info->max_rx_queues || port->tx_queues > info->max_tx_queues) {
		fprintf(stderr,
			"wsdp: [port.%s] rx_queues = %u, tx_queues = %u: this device has "
			"%u and %u\n",
			port->name, port->rx_queues, port->tx_queues, info->max_rx_queues,
			info->max_tx_queues);
		return -EINVAL;
	}
	if (port->mtu < info->min_mtu || port->mtu > info->max_mtu) {
		fprintf(stderr, "wsdp: [port.%s] mtu = %u: this device takes %u to %u\n",
			port->name, port->mtu, info->min_mtu, info->max_mtu);
		return -EINVAL;
	}
	return check_descriptors(port, info);
}

/* Frames in several segments, when an mbuf is smaller than a frame; and hashing onto queues. */
static int
port_configure(struct port *port, const struct rte_eth_dev_info *info, const struct pools *pools)
{
	struct rte_eth_conf conf = {.rxmode.mtu = port->mtu};

	if (port_frame_bytes(port) > pools_frame_room(pools)) {
		conf.rxmode.offloads |= info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
		conf.txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	} else if (pools_count(pools) == 1) {
		/* All frames come from one pool and tasks never share them: see core/task.h. */
		conf.txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	}
	if (port->rx_queues > 1) {
		conf.rx_adv_conf.rss_conf.rss_hf =
			info->flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
		if (conf.rx_adv_conf.rss_conf.rss_hf != 0)
			conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	}
	return rte_eth_dev_configure(port->id, port->rx_queues, port->tx_queues, &conf);
}

/* How many descriptors to ask for when the file does not say. */
static void
default_descriptors(const struct rte_eth_dev_info *info, uint16_t *rx, uint16_t *tx)
{
	/* virtio's in-order receive path stalls on fewer than its ring has (queue_size of its
	 * device string), and takes fewer than it is asked for. */
	bool whole_ring = strncmp(info->driver_name, "net_virtio", strlen("net_virtio")) == 0;

	if (*rx == 0)
		*rx = whole_ring ? info->rx_desc_lim.nb_max : DESCRIPTORS_DEFAULT;
	if (*tx == 0)
		*tx = whole_ring ? info->tx_desc_lim.nb_max : DESCRIPTORS_DEFAULT;
}

/* virtio gives sent frames back when its ring is about to overflow, then all at once: with 4,096
 * descriptors that takes 100 to 300 us, in which nothing else is polled, and empties the caches.
 * Where a driver has no threshold of its own, a few bursts are given back at a time. That takes a
 * ring of known size: the file's, if the device did not make a smaller one. */
static int
set_up_tx(const struct port *port, const struct rte_eth_dev_info *info, uint16_t queue,
	  uint16_t descriptors, unsigned int socket)
{
	struct rte_eth_txconf conf = info->default_txconf;
	int ret;

	if (port->tx_descriptors != 0 && descriptors > TX_HELD_MAX && conf.tx_free_thresh == 0) {
		conf.tx_free_thresh = descriptors - TX_HELD_MAX;
		ret = rte_eth_tx_queue_setup(port->id, queue, descriptors, socket, &conf);
		if (ret != -EINVAL)
			return ret;
	}
	return rte_eth_tx_queue_setup(port->id, queue, descriptors, socket, NULL);
}

static int
port_setup_queues(const struct port *port, const struct rte_eth_dev_info *info, struct pools *pools)
{
	uint16_t rx = port->rx_descriptors, tx = port->tx_descriptors;
	int socket = rte_eth_dev_socket_id(port->id);
	struct rte_mempool *pool = pools_get(pools, socket);
	int ret;

	if (pool == NULL)
		return -ENOMEM;
	default_descriptors(info, &rx, &tx);
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx);
	for (uint16_t queue = 0; ret == 0 && queue < port->rx_queues; queue++)
		ret = rte_eth_rx_queue_setup(port->id, queue, rx, socket, NULL, pool);
	for (uint16_t queue = 0; ret == 0 && queue < port->tx_queues; queue++)
		ret = set_up_tx(port, info, queue, tx, socket);
	return ret;
}

int
port_start(struct port *port, struct pools *pools)
{
	struct rte_eth_dev_info info;
	int ret = port_attach(port);

	if (ret != 0)
		return ret;
	ret = rte_eth_dev_info_get(port->id, &info);
	if (ret != 0)
		return failed(port, "does not describe itself", ret);
	ret = check_limits(port, &info);
	if (ret != 0)
		return ret;
	ret = port_configure(port, &info, pools);
	if (ret != 0)
		return failed(port, "cannot be configured with these queues and this MTU", ret);
	port->configured = true;
	ret = port_setup_queues(port, &info, pools);
	if (ret != 0)
		return failed(port, "its queues cannot be set up", ret);
	/* Devices that have no MTU of their own (rings, pcap files) take any frame that fits. */
	ret = rte_eth_dev_set_mtu(port->id, port->mtu);
	if (ret != 0 && ret != -ENOTSUP)
		return failed(port, "refuses this MTU", ret);
	ret = rte_eth_dev_start(port->id);
	if (ret != 0)
		return failed(port, "cannot be started", ret);
	/* A device without the notion receives everything anyway. */
	ret = port->promiscuous ? rte_eth_promiscuous_enable(port->id)
				: rte_eth_promiscuous_disable(port->id);
	if (ret != 0 && ret != -ENOTSUP)
		return failed(port, "its promiscuous mode cannot be set", ret);
	port_reset(port);
	return 0;
}

void
port_stop(struct port *port)
{
	if (port->configured) {
		rte_eth_dev_stop(port->id);
		rte_eth_dev_close(port->id);
		port->configured = false;
	}
	if (port->attached) {
		rte_eal_hotplug_remove("vdev", port->device_name);
		port->attached = false;
	}
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
