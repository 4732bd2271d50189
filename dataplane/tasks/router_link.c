/* SPDX-License-Identifier: Apache-2.0 */
#include "router_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "core/tsc.h"

/* Some drivers ask their NIC's firmware for the link. */
#define FOLLOWED_A_SECOND 100

static int
open_any(int *fd)
{
	*fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return *fd < 0 ? -errno : 0;
}

int
link_watch_open(struct link_watch *watch)
{
	*watch = (struct link_watch){.own_socket = -1, .kernel_socket = -1};
	return open_any(&watch->own_socket);
}

int
link_watch_enter(struct link_watch *watch)
{
	return open_any(&watch->kernel_socket);
}

void
link_watch_close(struct link_watch *watch)
{
	if (watch->own_socket >= 0)
		close(watch->own_socket);
	if (watch->kernel_socket >= 0)
		close(watch->kernel_socket);
	watch->own_socket = watch->kernel_socket = -1;
}

void
link_begin(struct watched_link *link, const struct task_out *out)
{
	struct rte_eth_dev_info info;

	*link = (struct watched_link){.is_port = out->ring == NULL};
	if (!link->is_port)
		return;
	link->port_id = out->port_id;
	if (rte_eth_dev_get_mtu(link->port_id, &link->mtu) != 0)
		link->mtu = 0;
	if (rte_eth_dev_info_get(link->port_id, &info) == 0)
		link->if_index = info.if_index;
}

bool
link_watch_due(struct link_watch *watch)
{
	uint64_t now = rte_rdtsc();

	if (now < watch->due_tsc)
		return false;
	watch->due_tsc = now + tsc_hz() / FOLLOWED_A_SECOND;
	return true;
}

/* Fill the name of an interface, which may have changed. */
static bool
name_of(int any_socket, unsigned int index, struct ifreq *request)
{
	*request = (struct ifreq){.ifr_ifindex = (int)index};
	return ioctl(any_socket, SIOCGIFNAME, request) == 0;
}

/* Return whether the port can send. Drivers of the kernel's interfaces (AF_PACKET, AF_XDP) do not report
 * that of the interface. */
static bool
is_up(const struct link_watch *watch, const struct watched_link *link)
{
	struct rte_eth_link now;
	struct ifreq request;

	if (rte_eth_link_get_nowait(link->port_id, &now) == 0 &&
	    now.link_status == RTE_ETH_LINK_DOWN)
		return false;
	return link->if_index == 0 || !name_of(watch->own_socket, link->if_index, &request) ||
	       ioctl(watch->own_socket, SIOCGIFFLAGS, &request) != 0 ||
	       (request.ifr_flags & IFF_RUNNING) != 0;
}

static void
follow_carrier(struct link_watch *watch, struct watched_link *link,
	       const struct host_interface *interface)
{
	bool is_down = !is_up(watch, link);
	int error;

	if (is_down == link->is_down)
		return;
	error = interface_set_carrier(interface, !is_down);
	if (error == 0) {
		link->is_down = is_down;
	} else if (!watch->is_said) {
		watch->is_said = true;
		fprintf(stderr,
			"wsdp: kernel interface %s: its carrier cannot follow the port's link: %s; "
			"a link that goes down ends no route\n",
			interface->name, strerror(-error));
	}
}

/* The kernel would send packets that the port drops, and tell nobody that they are too big. */
static void
cap_mtu(const struct link_watch *watch, struct watched_link *link,
	const struct host_interface *interface)
{
	struct ifreq request;
	int wanted;

	if (link->mtu == 0 || !name_of(watch->kernel_socket, interface->index, &request) ||
	    ioctl(watch->kernel_socket, SIOCGIFMTU, &request) != 0 || request.ifr_mtu <= link->mtu)
		return;
	wanted = request.ifr_mtu;
	request.ifr_mtu = link->mtu;
	if (ioctl(watch->kernel_socket, SIOCSIFMTU, &request) != 0 || link->is_capped)
		return;
	link->is_capped = true;
	fprintf(stderr,
		"wsdp: kernel interface %s: its MTU of %d is set back to %u, that of its port; "
		"raise mtu of the port first\n",
		interface->name, wanted, link->mtu);
}

void
link_follow(struct link_watch *watch, struct watched_link *link,
	    const struct host_interface *interface)
{
	if (!link->is_port)
		return;
	follow_carrier(watch, link, interface);
	cap_mtu(watch, link, interface);
}
