/* SPDX-License-Identifier: Apache-2.0 */
#include "router_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/control.h"
#include "core/telemetry.h"
#include "router_mirror.h"

#define PUNT_RING 512 /* frames of a class that wait for the kernel */
#define RECEIVED_RING 1024
#define FRAMES_AT_ONCE 64 /* read from an interface before others have their turn */
/* While frames come, the kernel gets them within the shorter time. */
#define TICK_NS 1000000
#define TICK_IDLE_NS 8000000
#define TICKS_TO_IDLE 64

static struct router_host *hosts;

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

				if (interface_write(interface, mbufs[i]))
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

static void
follow_links(struct router_host *host)
{
	for (unsigned int i = 0; i < host->nb; i++)
		link_follow(&host->watch, &host->links[i], &host->interfaces[i]);
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
	if (link_watch_due(&host->watch))
		follow_links(host);
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
		/* A frame that fills the mbuf may have been cut. */
		if (mbuf == NULL || n == (ssize_t)rte_pktmbuf_tailroom(mbuf)) {
			rte_pktmbuf_free(mbuf);
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
	link_watch_close(&host->watch);
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
	int ret = link_watch_enter(&host->watch);

	for (unsigned int i = 0; ret == 0 && i < host->nb; i++) {
		struct host_interface *interface = &host->interfaces[i];

		ret = interface_open(interface, &host->owner->out[i]);
		if (ret != 0)
			return interface_complain(interface, ret);
		ret = control_fd_add(host->owner, interface->fd, receive);
		link_begin(&host->links[i], &host->owner->out[i]);
		indexes[i] = interface->index;
		names[i] = interface->name;
	}
	if (ret != 0)
		return ret;
	/* Before the state is read: a port may have no link yet. */
	follow_links(host);
	interface_check_forwarding();
	host->mirror = mirror_open(host->owner, host->space, indexes, names, host->nb,
				   config->buffer_bytes);
	return host->mirror == NULL ? -EIO : 0;
}

static int
open_host(struct router_host *host, const struct host_config *config)
{
	int own = -1, ret = link_watch_open(&host->watch);

	if (ret != 0)
		return ret;
	if (config->netns != NULL) {
		own = netns_enter(config->netns);
		if (own < 0) {
			fprintf(stderr, "wsdp: kernel_netns = %s: %s\n", config->netns,
				strerror(-own));
			return own;
		}
	}
	ret = open_in_netns(host, config);
	if (own >= 0)
		netns_leave(own);
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
	host->watch.own_socket = host->watch.kernel_socket = -1;
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
	if (host == NULL) {
		memcpy(space->least, config->least, sizeof(space->least));
		return make_host(task, config, space);
	}
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
		if (out == task->nb_out && task->in[i].ring != NULL)
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
make_ring(const struct task *task, char kind, unsigned int size)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "h%c%.24s", kind, task->name);
	return rte_ring_create(name, size, task->socket_id, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static bool
make_rings(struct host_task *host_task, bool is_sender)
{
	static const char kinds[PUNT_CLASSES] = {'p', 'n', 'l', 'r'};
	bool is_made = true;

	for (unsigned int i = 0; i < PUNT_CLASSES; i++) {
		host_task->punts[i] = make_ring(host_task->task, kinds[i], PUNT_RING);
		is_made &= host_task->punts[i] != NULL;
	}
	if (is_sender)
		host_task->received = make_ring(host_task->task, 'k', RECEIVED_RING);
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
	uint64_t from_kernel = 0, to_kernel = 0, errors = 0, down = 0;

	for (unsigned int i = 0; i < host->nb; i++) {
		from_kernel += host->interfaces[i].from_kernel;
		to_kernel += host->interfaces[i].to_kernel;
		errors += host->interfaces[i].errors;
		down += host->links[i].is_down;
	}
	telemetry_u64(out, "to_kernel", to_kernel);
	telemetry_u64(out, "to_kernel_errors", errors);
	telemetry_u64(out, "from_kernel", from_kernel);
	telemetry_u64(out, "from_kernel_no_room", host->no_room);
	telemetry_u64(out, "links_down", down);
	mirror_stats(host->mirror, out);
}
