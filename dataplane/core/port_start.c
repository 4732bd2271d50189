/* SPDX-License-Identifier: Apache-2.0 */
/* From a [port.NAME] section to a device that runs as it says, or to a reason. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_bus_vdev.h>
#include <rte_lcore.h>

#include "pool.h"
#include "port.h"

#define DESCRIPTORS_DEFAULT 1024
/* Sent frames that may wait to be given back to their pool. */
#define TX_HELD_MAX 256
/* Hash types that spread frames over a NIC's queues. */
#define RSS_WANTED (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP)

static int
failed(const struct port *port, const char *what, int ret)
{
	fprintf(stderr, "wsdp: [port.%s] device = %s: %s: %s\n", port->name, port->device, what,
		strerror(-ret));
	return ret;
}

bool
port_nic_node(const struct port *port, int *socket_id)
{
	uint16_t id;

	if (!port->is_pci || rte_eth_dev_get_port_by_name(port->device_name, &id) != 0)
		return false;
	*socket_id = rte_eth_dev_socket_id(id);
	return true;
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
	/* rte_eal_hotplug_add is limited to 128 octets, which a path exceeds. */
	ret = rte_vdev_init(port->device_name, comma == NULL ? "" : comma + 1);
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

/* Without RSS all frames come to the first queue, and whoever reads another waits for nothing. */
static int
check_spread(const struct port *port, const struct rte_eth_dev_info *info)
{
	if (port->rx_queues == 1 || port->peer_spreads ||
	    (info->flow_type_rss_offloads & RSS_WANTED) != 0)
		return 0;
	fprintf(stderr,
		"wsdp: [port.%s] rx_queues = %u: this device (%s) has no RSS to spread frames over "
		"its queues. Use one queue, or say spread = peer where whoever puts frames into the "
		"device chooses their queue.\n",
		port->name, port->rx_queues, info->driver_name);
	return -EINVAL;
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
	if (check_spread(port, info) != 0)
		return -EINVAL;
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
		/* All tasks send from this pool and never share frames: see core/task.h. */
		conf.txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	}
	if (port->rx_queues > 1 && !port->peer_spreads) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & RSS_WANTED;
	}
	return rte_eth_dev_configure(port->id, port->rx_queues, port->tx_queues, &conf);
}

/* Choose the number of descriptors when the file does not say. */
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

/* Choose the NUMA node of a queue's frames. A NIC writes them itself, on its own node; those of any
 * other device are written by the lcore that reads the queue. */
static struct rte_mempool *
pool_of_queue(const struct port *port, uint16_t queue, const struct pools *pools)
{
	uint32_t lcore_id = port->rx_lcore[queue];
	int node;

	if (port_nic_node(port, &node))
		return pools_get(pools, node);
	if (lcore_id != PORT_NO_LCORE)
		return pools_get(pools, (int)rte_lcore_to_socket_id(lcore_id));
	return pools_any(pools);
}

static int
port_setup_queues(const struct port *port, const struct rte_eth_dev_info *info,
		  const struct pools *pools)
{
	uint16_t rx = port->rx_descriptors, tx = port->tx_descriptors;
	int socket = rte_eth_dev_socket_id(port->id);
	int ret;

	default_descriptors(info, &rx, &tx);
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx);
	for (uint16_t queue = 0; ret == 0 && queue < port->rx_queues; queue++)
		ret = rte_eth_rx_queue_setup(port->id, queue, rx, socket, NULL,
					     pool_of_queue(port, queue, pools));
	for (uint16_t queue = 0; ret == 0 && queue < port->tx_queues; queue++)
		ret = set_up_tx(port, info, queue, tx, socket);
	return ret;
}

int
port_start(struct port *port, const struct pools *pools)
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
