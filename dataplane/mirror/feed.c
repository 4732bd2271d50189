/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <libmnl/libmnl.h>

#include "feed.h"

#define BUFFERS_AT_ONCE 32    /* so that nobody else waits for long */
#define DUMP_TIMEOUT_MS 10000 /* between two buffers */
#define CANCEL_MS 50          /* between two looks at `cancel` */
#define TRIES 10

#define GROUP(number) (1u << ((number)-1))
#define GROUPS                                                                                \
	(GROUP(RTNLGRP_LINK) | GROUP(RTNLGRP_NEIGH) | GROUP(RTNLGRP_IPV4_IFADDR) |            \
	 GROUP(RTNLGRP_IPV6_IFADDR) | GROUP(RTNLGRP_IPV4_ROUTE) | GROUP(RTNLGRP_IPV6_ROUTE) | \
	 GROUP(RTNLGRP_IPV4_RULE) | GROUP(RTNLGRP_IPV6_RULE) | GROUP(RTNLGRP_IPV4_MROUTE) |   \
	 GROUP(RTNLGRP_IPV6_MROUTE) | GROUP(RTNLGRP_NEXTHOP))

/* What a dump asks for, in this order: what routes refer to comes before them. */
static const struct {
	uint16_t type;
	uint8_t family;
	uint8_t header_bytes;
} steps[] = {
	{RTM_GETLINK, AF_UNSPEC, sizeof(struct ifinfomsg)},
	{RTM_GETRULE, AF_INET, sizeof(struct fib_rule_hdr)},
	{RTM_GETRULE, AF_INET6, sizeof(struct fib_rule_hdr)},
	{RTM_GETNEIGH, AF_UNSPEC, sizeof(struct ndmsg)},
	{RTM_GETNEXTHOP, AF_UNSPEC, sizeof(struct nhmsg)},
	{RTM_GETROUTE, AF_INET, sizeof(struct rtmsg)},
	{RTM_GETROUTE, AF_INET6, sizeof(struct rtmsg)},
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))
#define STEPS_OF_ROUTES 2 /* the last ones */

static struct mnl_socket *
open_socket(unsigned int groups)
{
	struct mnl_socket *opened = mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (opened == NULL || mnl_socket_bind(opened, groups, MNL_SOCKET_AUTOPID) == 0)
		return opened;
	mnl_socket_close(opened);
	return NULL;
}

int
feed_open(struct feed *feed, uint32_t buffer_bytes)
{
	int ret = 0;

	memset(feed, 0, sizeof(*feed));
	feed->buffer = malloc(FEED_BUFFER_BYTES);
	feed->dumped = open_socket(0);
	if (feed->buffer == NULL || feed->dumped == NULL)
		ret = errno == 0 ? -ENOMEM : -errno;
	if (ret == 0 && buffer_bytes != 0) {
		feed->notified = open_socket(GROUPS);
		if (feed->notified == NULL) {
			ret = -errno;
		} else {
			int fd = mnl_socket_get_fd(feed->notified);
			int bytes = (int)(buffer_bytes / 2); /* the kernel doubles it */

			/* Without CAP_NET_ADMIN, as much as the system allows. */
			if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
				setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
		}
	}
	if (ret != 0)
		feed_close(feed);
	return ret;
}

void
feed_close(struct feed *feed)
{
	if (feed->notified != NULL)
		mnl_socket_close(feed->notified);
	if (feed->dumped != NULL)
		mnl_socket_close(feed->dumped);
	free(feed->buffer);
	memset(feed, 0, sizeof(*feed));
}

int
feed_notified_fd(const struct feed *feed)
{
	return mnl_socket_get_fd(feed->notified);
}

int
feed_dumped_fd(const struct feed *feed)
{
	return mnl_socket_get_fd(feed->dumped);
}

static int
ask_step(struct feed *feed)
{
	char request[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(request);
	/* Each header begins with the family. */
	uint8_t *header = mnl_nlmsg_put_extra_header(message, steps[feed->step].header_bytes);

	header[0] = steps[feed->step].family;
	message->nlmsg_type = steps[feed->step].type;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = ++feed->sequence;
	return mnl_socket_sendto(feed->dumped, message, message->nlmsg_len) < 0 ? -errno : 0;
}

static void
drop(struct mnl_socket *from, char *buffer)
{
	ssize_t n;

	do
		n = mnl_socket_recvfrom(from, buffer, FEED_BUFFER_BYTES);
	while (n > 0 || errno == ENOBUFS || errno == ENOSPC || errno == EINTR);
}

void
feed_drop_notified(struct feed *feed)
{
	drop(feed->notified, feed->buffer);
}

void
feed_drop_dumped(struct feed *feed)
{
	drop(feed->dumped, feed->buffer);
}

int
feed_dump(struct feed *feed)
{
	/* What is left of an earlier dump has an earlier sequence number. */
	feed->step = 0;
	feed->is_broken = false;
	return ask_step(feed);
}

/* A kernel without next-hop objects has none. */
static bool
may_fail(const struct feed *feed, int error)
{
	return steps[feed->step].type == RTM_GETNEXTHOP && error == -EOPNOTSUPP;
}

/* The end of a step. */
static enum feed_state
end_step(struct feed *feed, const struct nlmsghdr *message)
{
	unsigned int last = feed->is_without_routes ? STEPS - STEPS_OF_ROUTES : STEPS;
	int error = 0;

	if (mnl_nlmsg_get_payload_len(message) >= sizeof(error))
		memcpy(&error, mnl_nlmsg_get_payload(message), sizeof(error));
	if (error != 0 && !may_fail(feed, error))
		return error == -EINTR || error == -EAGAIN ? FEED_BROKEN : FEED_FAILED;
	if (feed->is_broken)
		return FEED_BROKEN;
	if (++feed->step == last)
		return FEED_ENDED;
	return ask_step(feed) == 0 ? FEED_WAITS : FEED_FAILED;
}

static enum feed_state
take_dumped(struct feed *feed, struct kernel *kernel, int left)
{
	const struct nlmsghdr *message = (const void *)feed->buffer;
	enum feed_state state = FEED_WAITS;

	for (; mnl_nlmsg_ok(message, left) && state == FEED_WAITS;
	     message = mnl_nlmsg_next(message, &left)) {
		if (message->nlmsg_seq != feed->sequence)
			continue;
		if ((message->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
			feed->is_broken = true;
		if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
			state = end_step(feed, message);
		else if (kernel_apply(kernel, message) == KERNEL_NO_MEMORY)
			state = FEED_FAILED;
	}
	return state;
}

enum feed_state
feed_read_dump(struct feed *feed, struct kernel *kernel)
{
	for (unsigned int i = 0; i < BUFFERS_AT_ONCE; i++) {
		ssize_t n = mnl_socket_recvfrom(feed->dumped, feed->buffer, FEED_BUFFER_BYTES);
		enum feed_state state;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return FEED_WAITS;
		if (n <= 0)
			return errno == ENOBUFS ? FEED_BROKEN : FEED_FAILED;
		state = take_dumped(feed, kernel, (int)n);
		if (state != FEED_WAITS)
			return state;
	}
	return FEED_WAITS;
}

/* Wait for the next buffer of a dump. Returns false if none comes, or *cancel is set. */
static bool
wait_buffer(const struct feed *feed, const atomic_bool *cancel)
{
	struct pollfd polled = {.fd = feed_dumped_fd(feed), .events = POLLIN};

	for (int waited = 0; waited < DUMP_TIMEOUT_MS; waited += CANCEL_MS) {
		if (atomic_load(cancel))
			return false;
		if (poll(&polled, 1, CANCEL_MS) != 0)
			return true;
	}
	return false;
}

/* One try. */
static enum feed_state
wait_dump(struct feed *feed, struct kernel *kernel, const atomic_bool *cancel)
{
	enum feed_state state = feed_dump(feed) == 0 ? FEED_WAITS : FEED_FAILED;

	while (state == FEED_WAITS) {
		if (!wait_buffer(feed, cancel))
			return FEED_FAILED;
		state = feed_read_dump(feed, kernel);
	}
	return state;
}

int
feed_wait_dump(struct feed *feed, struct kernel *kernel, const atomic_bool *cancel)
{
	uint32_t indexes[KERNEL_LINKS_MAX];
	unsigned int nb = kernel->nb_links;

	for (unsigned int i = 0; i < nb; i++)
		indexes[i] = kernel->links[i].index;
	for (int i = 0; i < TRIES; i++) {
		enum feed_state state = wait_dump(feed, kernel, cancel);

		if (state == FEED_ENDED)
			return 0;
		if (state == FEED_FAILED)
			return atomic_load(cancel) ? -ECANCELED : -EIO;
		kernel_close(kernel);
		kernel_open(kernel, indexes, nb);
	}
	return -EAGAIN;
}

int
feed_read_notified(struct feed *feed, struct kernel *kernel, enum kernel_effect *effect,
		   uint64_t *count)
{
	*effect = KERNEL_SAME;
	for (unsigned int i = 0; i < BUFFERS_AT_ONCE; i++) {
		ssize_t n = mnl_socket_recvfrom(feed->notified, feed->buffer, FEED_BUFFER_BYTES);
		const struct nlmsghdr *message = (const void *)feed->buffer;
		int left = (int)n;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n < 0)
			return -errno;
		for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
			enum kernel_effect one = kernel_apply(kernel, message);

			++*count;
			if (one > *effect)
				*effect = one;
		}
	}
	return 0;
}

void
feed_ask_neighbour(struct feed *feed, const struct compile_wish *wish)
{
	char request[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(request);
	struct ndmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));

	message->nlmsg_type = RTM_NEWNEIGH;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE;
	/* Answers, which only errors have, are of no dump: 0 is no sequence number of one. */
	message->nlmsg_seq = 0;
	header->ndm_family = wish->version == 4 ? AF_INET : AF_INET6;
	header->ndm_ifindex = (int)wish->link;
	header->ndm_flags = NTF_USE;
	mnl_attr_put(message, NDA_DST, wish->version == 4 ? 4 : 16, wish->address);
	/* It may fail: traffic asks again. */
	(void)!mnl_socket_sendto(feed->dumped, message, message->nlmsg_len);
}
