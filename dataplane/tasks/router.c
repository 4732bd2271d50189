/* SPDX-License-Identifier: Apache-2.0 */
/* router: what l3fwd does, with tables that change while it runs, groups of next hops, and a host
 * that handles exceptions: what is for the router itself, what has run out of TTL, what is too big,
 * and so on. These frames reach the host unchanged, each class up to a rate of its own, or are dropped
 * where there is no host. Each cause is counted. The host is somebody behind an output, and the tables
 * come from a file; or it is the kernel, and the tables are the kernel's. */
#include <errno.h>
#include <string.h>
#include <rte_cycles.h>

#include "core/task.h"
#include "core/telemetry_reply.h"
#include "core/tsc.h"
#include "pktlib/ecmp.h"
#include "pktlib/ip_protocol.h"
#include "router.h"
#include "router_judge.h"
#include "router_mirror.h"
#include "router_vrf.h"

#define PUNT_DEPTH 256 /* frames of a class that may follow each other at once */

static const struct {
	const char *name;
	enum punt_class class;
} causes[CAUSES] = {
	[IP_NO_ROUTE] = {"no_route", PUNT_REST},
	[IP_TTL_EXPIRED] = {"ttl_expired", PUNT_REST},
	[IP_BAD_HEADER] = {"bad_header", PUNT_DROP},
	[IP_WITH_OPTIONS] = {"options", PUNT_REST},
	[IP_NOT_IP] = {"not_ip", PUNT_REST}, /* or PUNT_PROTOCOL, by what it is */
	[OTHER_MAC] = {"other_mac", PUNT_DROP},
	[MARTIAN] = {"martian", PUNT_DROP},
	[MULTICAST] = {"multicast", PUNT_REST}, /* or PUNT_PROTOCOL, too */
	[BLACKHOLE] = {"blackhole", PUNT_DROP},
	[LOCAL] = {"local", PUNT_LOCAL}, /* or PUNT_PROTOCOL, too */
	[NEIGHBOUR] = {"neighbour", PUNT_NEIGHBOUR},
	[TOO_BIG] = {"too_big", PUNT_REST},
	[FRAGMENT] = {"fragment", PUNT_REST},
	[BY_KERNEL] = {"by_kernel", PUNT_REST},
	[INTERFACE_DOWN] = {"interface_down", PUNT_DROP},
	[UNKNOWN_VLAN] = {"unknown_vlan", PUNT_DROP},
	[NO_HEADROOM] = {"no_headroom", PUNT_DROP},
};

static const char *const class_names[PUNT_CLASSES][2] = {
	[PUNT_PROTOCOL] = {"punted_protocol", "over_rate_protocol"},
	[PUNT_NEIGHBOUR] = {"punted_neighbour", "over_rate_neighbour"},
	[PUNT_LOCAL] = {"punted_local", "over_rate_local"},
	[PUNT_REST] = {"punted_rest", "over_rate_rest"},
};

static int
router_prepare(struct task *task)
{
	struct router *router = task->priv;

	for (unsigned int i = 0; i < PUNT_CLASSES; i++)
		token_bucket_init(&router->buckets[i], tsc_hz(), router->punt_fps, PUNT_DEPTH,
				  rte_rdtsc());
	if (router->path == NULL) {
		router->host = host_attach(task, &router->kernel);
		if (router->host == NULL)
			return -EIO;
		router->space = router->host->host->space;
		return 0;
	}
	router->space = router_space_get(router->path, task->socket_id, task->nb_out);
	return router->space == NULL ? -ENOMEM : 0;
}

/* Return the hop of a group that the flow has. */
static const struct router_hop *
choose(const struct router_tables *tables, const struct router_hop *group,
       const struct rte_mbuf *mbuf)
{
	const uint8_t *ip = rte_pktmbuf_mtod(mbuf, const uint8_t *) + IP_ETHER_LEN;
	uint32_t here = mbuf->data_len - IP_ETHER_LEN;

	return &tables->hops[group->buckets[ip[0] >> 4 == 4 ? ecmp_bucket_v4(ip, here)
							    : ecmp_bucket_v6(ip, here)]];
}

/* Return the cause by which a frame does not go to its hop; NO_HEADROOM: it goes there if it has room for a tag.
 * cause: what its header shows. */
static uint8_t
cause_at(const struct router_hop *hop, const struct rte_mbuf *mbuf, bool found, uint8_t cause)
{
	static const uint8_t of_kind[] = {[ROUTE_BLACKHOLE] = BLACKHOLE,
					  [ROUTE_LOCAL] = LOCAL,
					  [ROUTE_NEIGHBOUR] = NEIGHBOUR,
					  [ROUTE_KERNEL] = BY_KERNEL};

	if (!found)
		return cause == IP_FORWARD ? IP_NO_ROUTE : cause;
	if (cause != IP_FORWARD)
		return hop->kind == ROUTE_LOCAL ? LOCAL : cause;
	if (hop->kind != ROUTE_FORWARD)
		return of_kind[hop->kind];
	cause = judge_size(rte_pktmbuf_mtod(mbuf, const uint8_t *) + IP_ETHER_LEN, hop->mtu);
	return cause == IP_FORWARD && hop->vlan != 0 ? NO_HEADROOM : cause;
}

/* Find the frame's hop, or return a cause as cause_at does. value: what the lookup gave, where there
 * was one. */
static inline uint8_t
decide(const struct router_tables *tables, const struct rte_mbuf *mbuf, const uint64_t *value,
       uint8_t verdict, const struct router_hop **chosen)
{
	const struct router_hop *hop;

	if (unlikely((verdict & LOOKED_UP) == 0))
		return verdict;
	hop = &tables->hops[*value];
	verdict &= (uint8_t)~LOOKED_UP;
	if (likely(verdict == IP_FORWARD)) {
		if (hop->kind == ROUTE_GROUP)
			hop = choose(tables, hop, mbuf);
		*chosen = hop;
		/* It is 0 for hops that do not forward, or with a tag. */
		if (likely(mbuf->pkt_len - IP_ETHER_LEN <= hop->untagged_mtu))
			return IP_FORWARD;
	}
	return cause_at(hop, mbuf, *value != FIB_NO_ROUTE, verdict);
}

/* Return whether a frame is one that keeps a link or a routing protocol alive. */
static bool
is_protocol(const struct rte_mbuf *mbuf, uint8_t why)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const uint8_t *ip = frame + IP_ETHER_LEN;

	if (why == IP_NOT_IP)
		return be16_load(frame + 12) == RTE_ETHER_TYPE_ARP;
	return (why == MULTICAST && ip_is_link_multicast(ip)) ||
	       ((why == MULTICAST || why == LOCAL) &&
		ip_is_protocol(ip, mbuf->data_len - IP_ETHER_LEN));
}

/* Return the class of a frame that is not forwarded. */
static enum punt_class
class_of(const struct rte_mbuf *mbuf, uint8_t why)
{
	return is_protocol(mbuf, why) ? PUNT_PROTOCOL : causes[why].class;
}

/* Hand a frame to the kernel. */
static bool
punt_to_kernel(struct task *task, struct rte_mbuf *mbuf, enum punt_class class)
{
	struct router *router = task->priv;

	if (!host_punt(router->host, mbuf, class, router->host->interface_of[task->from])) {
		router->queue_full++;
		return false;
	}
	router->punted[class]++;
	task->stats.handled++;
	return true;
}

/* Hand frames to the host, or drop them. */
static void
except(struct task *task, struct rte_mbuf **mbufs, const uint8_t *why, uint16_t n)
{
	struct router *router = task->priv;
	struct rte_mbuf *dropped[TASK_BURST], *left[TASK_BURST];
	uint16_t nb_dropped = 0, nb_left = 0;
	uint64_t now = rte_rdtsc();
	uint8_t outs[TASK_BURST];

	for (uint16_t i = 0; i < n; i++) {
		enum punt_class class = class_of(mbufs[i], why[i]);

		router->counts[why[i]]++;
		if (class == PUNT_DROP || !router->punts) {
			dropped[nb_dropped++] = mbufs[i];
			continue;
		}
		if (!token_bucket_ready(&router->buckets[class], now)) {
			router->over_rate[class]++;
			dropped[nb_dropped++] = mbufs[i];
			continue;
		}
		token_bucket_take(&router->buckets[class], now);
		if (router->host != NULL) {
			if (!punt_to_kernel(task, mbufs[i], class))
				dropped[nb_dropped++] = mbufs[i];
			continue;
		}
		router->punted[class]++;
		outs[nb_left] = (uint8_t)router->outs[class];
		left[nb_left++] = mbufs[i];
	}
	if (nb_left > 0)
		task_send_each(task, left, outs, nb_left);
	if (nb_dropped > 0)
		task_discard(task, dropped, nb_dropped);
}

/* Send what the kernel sends. */
static void
send_for_kernel(struct task *task, struct host_task *host)
{
	struct rte_mbuf *mbufs[TASK_BURST];
	uint8_t outs[TASK_BURST];
	uint16_t n = host_receive(host, mbufs, outs);

	if (n == 0)
		return;
	task->stats.rx += n;
	task->stats.rx_bytes += task_octets(mbufs, n);
	task_send_each(task, mbufs, outs, n);
}

/* Send what the kernel sends, and drop a burst if the interface that it came by, of this address, is down. Return
 * whether there are frames to route. */
static bool
begin_burst(struct task *task, struct rte_mbuf **mbufs, uint16_t n, uint64_t mac)
{
	struct router *router = task->priv;

	if (router->host->received != NULL)
		send_for_kernel(task, router->host);
	if (n == 0)
		return false;
	if (likely(mac != ROUTER_DOWN))
		return true;
	router->counts[INTERFACE_DOWN] += n;
	task_discard(task, mbufs, n);
	return false;
}

static void
router_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct router *router = task->priv;
	/* One reading a burst: all its frames go by the same tables. */
	const struct router_tables *tables =
		atomic_load_explicit(&router->space->current, memory_order_acquire);
	struct rte_mbuf *excepted[TASK_BURST];
	uint8_t why[TASK_BURST], outs[TASK_BURST], verdicts[TASK_BURST];
	uint16_t left = 0, nb_excepted = 0;
	struct judged_input input = {.mac = router->mac};
	struct judged_others others;
	struct ip_burst burst;
	bool any_tagged;

	if (router->host != NULL) {
		input.links = &tables->links;
		input.port = router->host->interface_of[task->from];
		input.mac = tables->links.macs[input.port];
		input.fib = tables->links.fibs[input.port];
		if (!begin_burst(task, mbufs, n, input.mac))
			return;
	}
	n = task_discard_short(task, mbufs, n, RTE_ETHER_HDR_LEN);
	any_tagged = judge_burst(&input, mbufs, n, verdicts, &burst, &others);
	ip_burst_look_up(&burst, &tables->fibs[input.fib]);
	if (unlikely(any_tagged) && others.nb > 0)
		vrf_look_up(tables, mbufs, &others, &burst);
	for (uint16_t i = 0; i < n; i++) {
		const struct router_hop *hop = NULL;
		uint8_t verdict = decide(tables, mbufs[i], &burst.value_of[i], verdicts[i], &hop);

		if (likely(verdict == IP_FORWARD)) {
			ip_rewrite(rte_pktmbuf_mtod(mbufs[i], uint8_t *), hop->macs);
		} else if (verdict != NO_HEADROOM ||
			   !vlan_rewrite(mbufs[i], hop->macs, hop->vlan)) {
			why[nb_excepted] = verdict;
			excepted[nb_excepted++] = mbufs[i];
			continue;
		}
		outs[left] = hop->port;
		mbufs[left++] = mbufs[i];
	}
	if (unlikely(any_tagged))
		vlan_forget(mbufs, left);
	ip_burst_send(task, mbufs, outs, left);
	if (unlikely(nb_excepted > 0))
		except(task, excepted, why, nb_excepted);
}

static void
router_stats(const struct task *task, struct telemetry_out *out)
{
	const struct router *router = task->priv;
	const struct router_tables *tables = atomic_load(&router->space->current);

	for (unsigned int i = IP_FORWARD + 1; i < CAUSES; i++)
		telemetry_u64(out, causes[i].name, router->counts[i]);
	for (unsigned int i = 0; i < PUNT_CLASSES; i++) {
		telemetry_u64(out, class_names[i][0], router->punted[i]);
		telemetry_u64(out, class_names[i][1], router->over_rate[i]);
	}
	if (router->host != NULL) {
		telemetry_u64(out, "queue_full", router->queue_full);
		telemetry_u64(out, "vlans", tables->links.nb_vlans);
	}
	telemetry_u64(out, "generation", router->space->generation);
	telemetry_u64(out, "routes_ipv4", tables->nb_v4);
	telemetry_u64(out, "routes_ipv6", tables->nb_v6);
	telemetry_u64(out, "hops", tables->nb_hops - tables->nb_groups);
	telemetry_u64(out, "groups", tables->nb_groups);
	telemetry_u64(out, "tables_bytes", tables->bytes);
	if (router->host != NULL)
		host_stats(router->host->host, out);
	if (tables->nb_vrfs > 1)
		vrf_stats(tables, out);
}

static void
router_reset(struct task *task)
{
	struct router *router = task->priv;

	memset(router->counts, 0, sizeof(router->counts));
	memset(router->punted, 0, sizeof(router->punted));
	memset(router->over_rate, 0, sizeof(router->over_rate));
	router->queue_full = 0;
}

static void
router_close(struct task *task)
{
	struct router *router = task->priv;

	if (router->host != NULL)
		host_detach(router->host);
	else
		router_space_put(router->space);
}

static void *
router_build(const struct task *task, const char *path, const atomic_bool *cancel, char *error,
	     size_t size)
{
	const struct router *router = task->priv;

	if (router->host != NULL) {
		snprintf(error, size, "its tables follow the kernel's: change those");
		return NULL;
	}
	return router_tables_build(router->space, path, cancel, error, size);
}

static void
router_exchange(struct task *task, void *built)
{
	struct router *router = task->priv;

	router_space_exchange(router->space, built);
}

static void
router_settle(struct task *task)
{
	struct router *router = task->priv;

	router_space_settle(router->space);
}

static int
router_check_tables(struct task *task, const char *path, const atomic_bool *cancel,
		    struct telemetry_out *out)
{
	struct router *router = task->priv;

	if (router->host == NULL)
		return telemetry_error(out, "%s: its tables are a file's", task->name), -ENOTSUP;
	return mirror_check(router->host->host->mirror, path, cancel, out);
}

static const struct task_reload router_reload = {
	.build = router_build,
	.exchange = router_exchange,
	.settle = router_settle,
};

static const struct task_ops router = {
	.name = "router",
	.private_size = sizeof(struct router),
	.takes_input = true,
	.max_out = TASK_MAX_OUT,
	.init = router_init,
	.prepare = router_prepare,
	.handle = router_handle,
	.stats = router_stats,
	.reset = router_reset,
	.reload = &router_reload,
	.check = router_check_tables,
	.close = router_close,
};

TASK_REGISTER(router)
