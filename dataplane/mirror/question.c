/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <libmnl/libmnl.h>

#include "feed.h"

#define TIMEOUT_MS 10000

static int
send_question(struct feed *feed, const struct kernel_vrf *vrf, uint8_t version,
	      const uint8_t *address, uint32_t flags)
{
	char request[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(request);
	struct rtmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	uint8_t octets = version == 4 ? 4 : 16;

	message->nlmsg_type = RTM_GETROUTE;
	message->nlmsg_flags = NLM_F_REQUEST;
	message->nlmsg_seq = ++feed->sequence;
	header->rtm_family = version == 4 ? AF_INET : AF_INET6;
	header->rtm_dst_len = (uint8_t)(8 * octets);
	header->rtm_flags = flags;
	mnl_attr_put(message, RTA_DST, octets, address);
	if (vrf != NULL) {
		header->rtm_flags |= RTM_F_LOOKUP_TABLE;
		mnl_attr_put_u32(message, RTA_OIF, vrf->index);
	}
	return mnl_socket_sendto(feed->dumped, message, message->nlmsg_len) < 0 ? -errno : 0;
}

/* Return the answer to the last question, which is in the buffer, or NULL and an error. */
static struct nlmsghdr *
wait_answer(struct feed *feed, int *error)
{
	struct pollfd polled = {.fd = feed_dumped_fd(feed), .events = POLLIN};

	for (;;) {
		struct nlmsghdr *message = (void *)feed->buffer;
		ssize_t n = mnl_socket_recvfrom(feed->dumped, feed->buffer, FEED_BUFFER_BYTES);
		int left = (int)n;

		*error = n < 0 ? -errno : 0;
		/* The kernel answers before sendto returns. */
		if (n < 0 && errno == EAGAIN && poll(&polled, 1, TIMEOUT_MS) == 0)
			return *error = -ETIMEDOUT, NULL;
		if (*error != 0 && *error != -EAGAIN && *error != -EINTR)
			return NULL;
		/* Of an earlier question, an answer may be left. */
		for (; n > 0 && mnl_nlmsg_ok(message, left);
		     message = mnl_nlmsg_next(message, &left))
			if (message->nlmsg_seq == feed->sequence)
				return message;
	}
}

struct answer {
	struct nlmsghdr *message; /* with a route, in the feed's buffer; NULL: see other */
	int other;                /* an answer of another kind, or an error */
	uint32_t table;
	bool has_object; /* the route has a next-hop object */
};

static void
read_route(struct answer *answer)
{
	const struct rtmsg *info = mnl_nlmsg_get_payload(answer->message);
	const struct nlattr *attribute;

	if (mnl_nlmsg_get_payload_len(answer->message) < sizeof(*info))
		return;
	answer->table = info->rtm_table;
	mnl_attr_for_each(attribute, answer->message, sizeof(*info))
	{
		answer->has_object |= mnl_attr_get_type(attribute) == RTA_NH_ID;
		if (mnl_attr_get_type(attribute) == RTA_TABLE &&
		    mnl_attr_get_payload_len(attribute) == sizeof(answer->table))
			answer->table = mnl_attr_get_u32(attribute);
	}
}

/* Return whether packets of a VRF, or, NULL, of others are looked up in a table. */
static bool
is_looked_up(const struct kernel *kernel, const struct kernel_vrf *vrf, uint8_t version,
	     uint32_t table)
{
	if (vrf == NULL)
		return table == RT_TABLE_MAIN || table == RT_TABLE_LOCAL;
	return table == vrf->table ||
	       (table == RT_TABLE_LOCAL && kernel_is_local_first(kernel, version));
}

static int
take_error(const struct kernel *kernel, uint8_t version, const struct nlmsghdr *message)
{
	int error = 0;

	if (message->nlmsg_type != NLMSG_ERROR ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(error))
		return -EIO;
	memcpy(&error, mnl_nlmsg_get_payload(message), sizeof(error));
	switch (error) {
	case -ENETUNREACH:
		/* Of IPv6 routes with a next-hop object, Linux answers so also where what it keeps of a
		 * lookup came by another one of them, which was deleted (fib6_nh_drop_pcpu_from). */
		return version == 6 && kernel->nexthops.count > 0 ? FEED_UNASKED : FEED_NO_ROUTE;
	case -EAFNOSUPPORT: /* a kernel without IPv6 */
	case -EOPNOTSUPP:
		return FEED_NO_ROUTE;
	case -EINVAL:
		return FEED_BLACKHOLE;
	case -EHOSTUNREACH:
	case -EACCES:
		return FEED_REFUSED;
	case -EMSGSIZE: /* more next hops than Linux has room for in an answer, not in a dump */
		return FEED_UNASKED;
	default:
		return error == 0 ? -EIO : error;
	}
}

static struct answer
ask(struct feed *feed, const struct kernel *kernel, const struct kernel_vrf *vrf, uint8_t version,
    const uint8_t *address, uint32_t flags)
{
	struct answer answer = {.other = send_question(feed, vrf, version, address, flags)};

	if (answer.other == 0)
		answer.message = wait_answer(feed, &answer.other);
	if (answer.message == NULL)
		return answer;
	if (answer.message->nlmsg_type != RTM_NEWROUTE) {
		answer.other = take_error(kernel, version, answer.message);
		answer.message = NULL;
	} else {
		read_route(&answer);
	}
	return answer;
}

/* Ask for the next hop of one flow. */
static int
ask_flow(struct feed *feed, struct kernel *kernel, const struct kernel_vrf *vrf, uint8_t version,
	 const uint8_t *address)
{
	struct answer answer = ask(feed, kernel, vrf, version, address, 0);
	struct rtmsg *info;

	if (answer.message == NULL)
		return answer.other;
	if (!is_looked_up(kernel, vrf, version, answer.table))
		return FEED_UNASKED;
	/* The source is the flow's, not the route's. */
	info = mnl_nlmsg_get_payload(answer.message);
	info->rtm_src_len = 0;
	return kernel_apply(kernel, answer.message) == KERNEL_NO_MEMORY ? -ENOMEM : FEED_FLOW;
}

int
feed_ask_route(struct feed *feed, struct kernel *kernel, const struct kernel_vrf *vrf,
	       uint8_t version, const uint8_t *address)
{
	/* The route, not what it means to this address. */
	struct answer answer = ask(feed, kernel, vrf, version, address, RTM_F_FIB_MATCH);

	if (answer.message == NULL)
		return answer.other;
	/* All IPv6 routes with a next-hop object, alone or in a group, share what Linux keeps of lookups
	 * (rt6_get_pcpu_route): the answer may be another one's prefix, table and group. The hop of a flow is
	 * right. */
	if (version == 6 && answer.has_object)
		return ask_flow(feed, kernel, vrf, version, address);
	if (vrf != NULL && !is_looked_up(kernel, vrf, version, answer.table))
		return FEED_NO_ROUTE;
	return kernel_apply(kernel, answer.message) == KERNEL_NO_MEMORY ? -ENOMEM : FEED_ROUTE;
}
