/* SPDX-License-Identifier: Apache-2.0 */
/* First: headers of the system have a macro IP_OPTIONS. */
#include "router_host.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>
#include <rte_ethdev.h>

#include "core/config.h"
#include "core/control.h"
#include "core/telemetry.h"
#include "router_mirror.h"

#define PUNT_RING 512 /* frames of a class that wait for the kernel */
#define RECEIVED_RING 1024
#define FRAMES_AT_ONCE 64 /* read from an interface before others have their turn */
#define SEGMENTS_MAX 8
/* While frames come, the kernel gets them within the shorter time. */
#define TICK_NS 1000000
#define TICK_IDLE_NS 8000000
#define TICKS_TO_IDLE 64
#define NETNS_OWN "/proc/thread-self/ns/net"

static struct router_host *hosts;

/* A comma-separated list of names of interfaces. */
static int
read_names(struct host_config *config, const struct config_section *section)
{
	const char *text = config->text;

	while (*text != '\0') {
		char *name = config->names[config->nb];
		size_t length, left;

		text += strspn(text, " \t");
		length = left = strcspn(text, ",");
		while (left > 0 && (text[left - 1] == ' ' || text[left - 1] == '\t'))
			left--;
		if (config->nb == TASK_MAX_OUT)
			return config_fault(section, "kernel", "at most %d names", TASK_MAX_OUT),
			       -1;
		if (left == 0 || left >= IFNAMSIZ || memchr(text, '/', left) != NULL)
			return config_fault(section, "kernel",
					    "must be names of interfaces of 1 to %d characters, "
					    "separated by commas",
					    IFNAMSIZ - 1),
			       -1;
		memcpy(name, text, left);
		name[left] = '\0';
		for (unsigned int i = 0; i < config->nb; i++)
			if (strcmp(config->names[i], name) == 0)
				return config_fault(section, "kernel", "names %s twice", name), -1;
		config->nb++;
		text += length + (text[length] == ',');
	}
	return 0;
}

int
host_parse(struct host_config *config, const struct config_section *section, unsigned int nb_out)
{
	int ret;

	config->text = config_string(section, "kernel");
	config->netns = config_string(section, "kernel_netns");
	config->buffer_bytes = 128u << 20;
	ret = config_u32(section, "kernel_buffer_bytes", &config->buffer_bytes, 4096, 1u << 30);
	ret |= read_names(config, section);
	if (ret == 0 && config->nb != nb_out) {
		config_fault(section, "kernel", "needs one name for each of the %u tx", nb_out);
		ret = -1;
	}
	return ret;
}

/* Move the calling thread to a network namespace. Returns a descriptor to move back by, or a negative
 * errno. */
static int
enter_netns(const char *path)
{
	int own = open(NETNS_OWN, O_RDONLY | O_CLOEXEC), there, ret = 0;

	if (own < 0)
		return -errno;
	if (path == NULL)
		return own;
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

static void
leave_netns(int own)
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

/* Attach to an interface, which is made where it is not there. */
static int
open_interface(struct host_interface *interface, const struct task_out *out)
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

static int
complain(const struct host_interface *interface, int error)
{
	fprintf(stderr, "wsdp: kernel interface %s: %s%s\n", interface->name, strerror(-error),
		error == -EPERM    ? "; it takes CAP_NET_ADMIN"
		: error == -EBUSY  ? "; another program has it"
		: error == -EINVAL ? "; an interface of this name is no TAP of one queue"
				   : "");
	return error;
}

/* Write a frame to an interface. Returns whether the kernel took it. */
static bool
write_frame(const struct host_interface *interface, const struct rte_mbuf *mbuf)
{
	struct iovec parts[SEGMENTS_MAX];
	int nb = 0;

	for (; mbuf != NULL; mbuf = mbuf->next) {
		if (nb == SEGMENTS_MAX)
			return false;
		parts[nb].iov_base = rte_pktmbuf_mtod(mbuf, void *);
		parts[nb++].iov_len = mbuf->data_len;
	}
	return writev(interface->fd, parts, nb) >= 0;
}

/* Hand over what waits, the most important class first. Returns how many frames. */
static unsigned int
hand_over(struct router_host *host)
{
	unsigned int handed = 0;

	for (unsigned int class = 0; class < PUNT_CLASSES; class ++)
		for (struct host_task *each = host->tasks; each != NULL; each = each->next) {
			struct rte_mbuf *mbufs[PUNT_RING];
			unsigned int n = rte_ring_sc_dequeue_burst(each->punts[class],
								   (void **)mbufs, PUNT_RING, NULL);

			for (unsigned int i = 0; i < n; i++) {
				struct host_interface *interface =
					&host->interfaces[mbufs[i]->hash.usr];

				if (write_frame(interface, mbufs[i]))
					interface->to_kernel++;
				else
					interface->errors++;
			}
			if (n > 0)
				rte_pktmbuf_free_bulk(mbufs, n);
			handed += n;
		}
	return handed;
}

static void
set_timer(const struct router_host *host, long ns)
{
	const struct itimerspec time = {.it_interval.tv_nsec = ns, .it_value.tv_nsec = ns};

	timerfd_settime(host->timer, 0, &time, NULL);
}

static struct router_host *
host_of(int fd)
{
	struct router_host *host = hosts;

	while (host != NULL && host->timer != fd)
		host = host->next;
	return host;
}

/* An lcore makes no system call, so nothing wakes this thread when a frame waits. */
static void
tick(struct task *task __rte_unused, int fd)
{
	struct router_host *host = host_of(fd);
	uint64_t expired;

	if (host == NULL || read(fd, &expired, sizeof(expired)) < 0)
		return;
	if (hand_over(host) > 0) {
		if (host->idle_ticks >= TICKS_TO_IDLE)
			set_timer(host, TICK_NS);
		host->idle_ticks = 0;
	} else if (++host->idle_ticks == TICKS_TO_IDLE) {
		set_timer(host, TICK_IDLE_NS);
	}
	mirror_tick(host->mirror);
}

static struct host_interface *
interface_of(int fd, struct router_host **host)
{
	for (*host = hosts; *host != NULL; *host = (*host)->next)
		for (unsigned int i = 0; i < (*host)->nb; i++)
			if ((*host)->interfaces[i].fd == fd)
				return &(*host)->interfaces[i];
	return NULL;
}

/* The task that sends what the kernel sends. */
static struct host_task *
sender_of(const struct router_host *host)
{
	struct host_task *each = host->tasks;

	while (each != NULL && each->received == NULL)
		each = each->next;
	return each;
}

/* Read frames that the kernel sends by an interface. */
static void
receive(struct task *task, int fd)
{
	struct router_host *host;
	struct host_interface *interface = interface_of(fd, &host);
	const struct host_task *sender = interface == NULL ? NULL : sender_of(host);
	char unwanted;

	for (unsigned int i = 0; sender != NULL && i < FRAMES_AT_ONCE; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(task->pool);
		ssize_t n = mbuf == NULL ? read(fd, &unwanted, 1)
					 : read(fd, rte_pktmbuf_mtod(mbuf, void *),
						rte_pktmbuf_tailroom(mbuf));

		if (n <= 0) {
			rte_pktmbuf_free(mbuf);
			if (n < 0 && errno != EAGAIN && errno != EINTR) {
				fprintf(stderr, "wsdp: kernel interface %s is gone: %s\n",
					interface->name, strerror(errno));
				control_fd_remove(fd);
			}
			return;
		}
		interface->from_kernel++;
		if (mbuf == NULL) {
			host->no_room++;
			continue;
		}
		rte_pktmbuf_append(mbuf, (uint16_t)n);
		mbuf->hash.usr = (uint32_t)(interface - host->interfaces);
		if (rte_ring_sp_enqueue(sender->received, mbuf) != 0) {
			rte_pktmbuf_free(mbuf);
			host->no_room++;
		}
	}
}

/* A router that the kernel answers for needs a kernel that forwards. */
static void
check_forwarding(void)
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

static void
close_host(struct router_host *host)
{
	if (host->mirror != NULL)
		mirror_close(host->mirror);
	if (host->timer >= 0) {
		control_fd_remove(host->timer);
		close(host->timer);
	}
	for (unsigned int i = 0; i < host->nb; i++)
		if (host->interfaces[i].fd >= 0) {
			control_fd_remove(host->interfaces[i].fd);
			close(host->interfaces[i].fd);
		}
	if (host->space != NULL)
		router_space_put(host->space);
	free(host);
}

/* The interfaces and the mirror; in the kernel's network namespace. */
static int
open_in_netns(struct router_host *host, const struct host_config *config)
{
	const char *names[TASK_MAX_OUT];
	uint32_t indexes[TASK_MAX_OUT];
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < host->nb; i++) {
		struct host_interface *interface = &host->interfaces[i];

		ret = open_interface(interface, &host->owner->out[i]);
		if (ret != 0)
			return complain(interface, ret);
		ret = control_fd_add(host->owner, interface->fd, receive);
		indexes[i] = interface->index;
		names[i] = interface->name;
	}
	if (ret != 0)
		return ret;
	check_forwarding();
	host->mirror = mirror_open(host->owner, host->space, indexes, names, host->nb,
				   config->buffer_bytes);
	return host->mirror == NULL ? -EIO : 0;
}

static int
open_host(struct router_host *host, const struct host_config *config)
{
	int own = enter_netns(config->netns), ret;

	if (own < 0) {
		fprintf(stderr, "wsdp: kernel_netns = %s: %s\n",
			config->netns == NULL ? NETNS_OWN : config->netns, strerror(-own));
		return own;
	}
	ret = open_in_netns(host, config);
	leave_netns(own);
	if (ret != 0)
		return ret;
	host->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (host->timer < 0)
		return -errno;
	set_timer(host, TICK_NS);
	return control_fd_add(host->owner, host->timer, tick);
}

static struct router_host *
make_host(struct task *task, const struct host_config *config, struct router_space *space)
{
	struct router_host *host = calloc(1, sizeof(*host));
	int ret;

	if (host == NULL) {
		router_space_put(space);
		return NULL;
	}
	host->space = space;
	host->owner = task;
	host->nb = config->nb;
	host->timer = -1;
	for (unsigned int i = 0; i < host->nb; i++) {
		memcpy(host->interfaces[i].name, config->names[i], IFNAMSIZ);
		host->interfaces[i].fd = -1;
	}
	ret = open_host(host, config);
	if (ret == 0) {
		host->next = hosts;
		hosts = host;
		return host;
	}
	fprintf(stderr, "wsdp: [task.%s] kernel = %s: %s\n", task->name, config->text,
		strerror(-ret));
	close_host(host);
	return NULL;
}

/* The host of these interfaces, made by the first task that asks. */
static struct router_host *
find_host(struct task *task, const struct host_config *config)
{
	struct router_space *space;
	struct router_host *host = hosts;
	char key[512];

	snprintf(key, sizeof(key), "kernel %s %s", config->text,
		 config->netns == NULL ? "" : config->netns);
	space = router_space_get_empty(key, task->socket_id, task->nb_out);
	if (space == NULL)
		return NULL;
	while (host != NULL && host->space != space)
		host = host->next;
	if (host == NULL)
		return make_host(task, config, space);
	router_space_put(space);
	return host;
}

/* The interface of an input is that of the output on the same port; without one, e.g. of a ring, that of
 * its own number. */
static int
map_inputs(struct host_task *host_task)
{
	const struct task *task = host_task->task;

	for (unsigned int i = 0; i < task->nb_in; i++) {
		unsigned int out = 0;

		while (out < task->nb_out &&
		       (task->in[i].ring != NULL || task->out[out].ring != NULL ||
			task->in[i].port_id != task->out[out].port_id))
			out++;
		if (out == task->nb_out)
			out = i;
		if (out >= task->nb_out) {
			fprintf(stderr,
				"wsdp: [task.%s] rx: number %u has no interface: no tx is on the "
				"same port\n",
				task->name, i);
			return -EINVAL;
		}
		host_task->interface_of[i] = (uint8_t)out;
	}
	return 0;
}

static struct rte_ring *
make_ring(const struct task *task, const char *kind, unsigned int size)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "h%.3s_%s", kind, task->name);
	return rte_ring_create(name, size, task->socket_id, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static bool
make_rings(struct host_task *host_task, bool is_sender)
{
	static const char *const kinds[PUNT_CLASSES] = {"pro", "nei", "loc", "res"};
	bool is_made = true;

	for (unsigned int i = 0; i < PUNT_CLASSES; i++) {
		host_task->punts[i] = make_ring(host_task->task, kinds[i], PUNT_RING);
		is_made &= host_task->punts[i] != NULL;
	}
	if (is_sender)
		host_task->received = make_ring(host_task->task, "out", RECEIVED_RING);
	return is_made && (!is_sender || host_task->received != NULL);
}

static void
drain(struct rte_ring *ring)
{
	void *mbuf;

	while (ring != NULL && rte_ring_dequeue(ring, &mbuf) == 0)
		rte_pktmbuf_free(mbuf);
	rte_ring_free(ring);
}

static void
free_host_task(struct host_task *host_task)
{
	for (unsigned int i = 0; i < PUNT_CLASSES; i++)
		drain(host_task->punts[i]);
	drain(host_task->received);
	free(host_task);
}

struct host_task *
host_attach(struct task *task, const struct host_config *config)
{
	struct host_task *host_task = calloc(1, sizeof(*host_task));
	struct router_host *host = host_task == NULL ? NULL : find_host(task, config);

	if (host == NULL) {
		free(host_task);
		return NULL;
	}
	host_task->task = task;
	host_task->host = host;
	if (!make_rings(host_task, host->tasks == NULL) || map_inputs(host_task) != 0) {
		fprintf(stderr, "wsdp: [task.%s] kernel: cannot be attached\n", task->name);
		free_host_task(host_task);
		if (host->tasks == NULL) {
			hosts = host->next;
			close_host(host);
		}
		return NULL;
	}
	host_task->next = host->tasks;
	host->tasks = host_task;
	return host_task;
}

/* All lcores have stopped. */
void
host_detach(struct host_task *host_task)
{
	struct router_host *host = host_task->host;
	struct host_task **link = &host->tasks;
	struct router_host **of = &hosts;

	while (*link != host_task)
		link = &(*link)->next;
	*link = host_task->next;
	free_host_task(host_task);
	if (host->tasks != NULL)
		return;
	while (*of != host)
		of = &(*of)->next;
	*of = host->next;
	close_host(host);
}

void
host_stats(const struct router_host *host, struct telemetry_out *out)
{
	uint64_t from_kernel = 0, to_kernel = 0, errors = 0;

	for (unsigned int i = 0; i < host->nb; i++) {
		from_kernel += host->interfaces[i].from_kernel;
		to_kernel += host->interfaces[i].to_kernel;
		errors += host->interfaces[i].errors;
	}
	telemetry_u64(out, "to_kernel", to_kernel);
	telemetry_u64(out, "to_kernel_errors", errors);
	telemetry_u64(out, "from_kernel", from_kernel);
	telemetry_u64(out, "from_kernel_no_room", host->no_room);
	mirror_stats(host->mirror, out);
}
