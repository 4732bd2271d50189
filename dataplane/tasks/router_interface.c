/* SPDX-License-Identifier: Apache-2.0 */
#include "router_interface.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <rte_ethdev.h>

#include "router_vlan.h"

#define SEGMENTS_MAX 8
#define NETNS_OWN "/proc/thread-self/ns/net"

int
netns_enter(const char *path)
{
	int own = open(NETNS_OWN, O_RDONLY | O_CLOEXEC), there, ret = 0;

	if (own < 0)
		return -errno;
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (there < 0 || setns(there, CLONE_NEWNET) != 0)
		ret = -errno;
	if (there >= 0)
		close(there);
	if (ret == 0)
		return own;
	close(own);
	return ret;
}

void
netns_leave(int own)
{
	/* To a namespace that the thread came from, it may always go back. */
	if (setns(own, CLONE_NEWNET) != 0)
		abort();
	close(own);
}

/* Give a new interface the address and the MTU of its port; a ring has none. */
static int
set_up(struct host_interface *interface, const struct task_out *out, int any_socket)
{
	struct ifreq request = {0};
	struct rte_ether_addr mac;
	uint16_t mtu;

	if (out->ring != NULL)
		return 0;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface->name);
	if (rte_eth_macaddr_get(out->port_id, &mac) == 0 &&
	    rte_is_valid_assigned_ether_addr(&mac)) {
		request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
		memcpy(request.ifr_hwaddr.sa_data, &mac, sizeof(mac));
		if (ioctl(any_socket, SIOCSIFHWADDR, &request) != 0)
			return -errno;
	}
	if (rte_eth_dev_get_mtu(out->port_id, &mtu) == 0) {
		request.ifr_mtu = mtu;
		if (ioctl(any_socket, SIOCSIFMTU, &request) != 0)
			return -errno;
	}
	return 0;
}

int
interface_open(struct host_interface *interface, const struct task_out *out)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	bool is_new = if_nametoindex(interface->name) == 0;
	int any_socket, ret = 0;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface->name);
	interface->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (interface->fd < 0)
		return -errno;
	if (ioctl(interface->fd, TUNSETIFF, &request) != 0)
		return -errno;
	interface->index = if_nametoindex(interface->name);
	any_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (any_socket < 0 || interface->index == 0)
		ret = -errno;
	else if (is_new)
		ret = set_up(interface, out, any_socket);
	if (any_socket >= 0)
		close(any_socket);
	return ret;
}

int
interface_complain(const struct host_interface *interface, int error)
{
	fprintf(stderr, "wsdp: kernel interface %s: %s%s\n", interface->name, strerror(-error),
		error == -EPERM    ? "; it takes CAP_NET_ADMIN"
		: error == -EBUSY  ? "; another program has it"
		: error == -EINVAL ? "; an interface of this name is no TAP of one queue"
				   : "");
	return error;
}

int
interface_set_carrier(const struct host_interface *interface, bool is_up)
{
	int carrier = is_up;

	return ioctl(interface->fd, TUNSETCARRIER, &carrier) == 0 ? 0 : -errno;
}

bool
interface_write(const struct host_interface *interface, const struct rte_mbuf *mbuf)
{
	struct iovec parts[SEGMENTS_MAX + 2];
	uint8_t tag[VLAN_TAG_LEN];
	uint16_t done = 0;
	int nb = 0;

	if (vlan_is_stripped(mbuf)) {
		vlan_write(tag, mbuf->vlan_tci);
		parts[nb++] = (struct iovec){rte_pktmbuf_mtod(mbuf, void *), IP_MACS_LEN};
		parts[nb++] = (struct iovec){tag, sizeof(tag)};
		done = IP_MACS_LEN;
	}
	for (; mbuf != NULL; mbuf = mbuf->next) {
		if (nb == RTE_DIM(parts))
			return false;
		parts[nb].iov_base = rte_pktmbuf_mtod_offset(mbuf, void *, done);
		parts[nb++].iov_len = mbuf->data_len - (size_t)done;
		done = 0;
	}
	return writev(interface->fd, parts, nb) >= 0;
}

void
interface_check_forwarding(void)
{
	static const char *const files[] = {"/proc/sys/net/ipv4/ip_forward",
					    "/proc/sys/net/ipv6/conf/all/forwarding"};

	for (size_t i = 0; i < RTE_DIM(files); i++) {
		int fd = open(files[i], O_RDONLY | O_CLOEXEC);
		char value = '1';

		if (fd < 0)
			continue;
		if (read(fd, &value, 1) == 1 && value == '0')
			fprintf(stderr,
				"wsdp: %s is 0: the kernel drops packets that are not forwarded at "
				"once, without an answer\n",
				files[i]);
		close(fd);
	}
}
