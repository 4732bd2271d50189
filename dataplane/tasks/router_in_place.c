/* SPDX-License-Identifier: Apache-2.0 */
#include "router_in_place.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <rte_cycles.h>

#include "core/reload.h"
#include "core/tsc.h"
#include "pktlib/ecmp.h"
#include "router_hops.h"
#include "router_plan.h"
#include "router_tables_change.h"

/* A queue of 1,024 frames holds those of this time at 10 Mpps. One change may take longer: a default route writes
 * whole tables. */
#define HOLD_NS 100000
/* An lcore may have no time on a busy CPU. */
#define TRIES 10
#define TRY_AGAIN_NS 5000000

struct change {
	struct router_space *space;
	struct router_tables *tables;
	const struct routes *routes;
	struct router_plan plan;
	struct router_links *links;
	struct in_place_report *report;
	uint32_t next; /* in the plan */
	bool has_hops;
	bool is_wrong;    /* lookups of a route, which could not be taken back */
	int settle_error; /* of the last time: the next one makes good for it */
};

/* Write the buckets of a group. Its place has some, or there are free ones. */
static void
write_group(struct router_tables *tables, struct router_hop *hop, const uint16_t *from)
{
	uint16_t *buckets;

	if (hop->buckets == NULL)
		hop->buckets = &tables->buckets[tables->nb_groups++ * ECMP_BUCKETS];
	buckets = &tables->buckets[hop->buckets - tables->buckets];
	memcpy(buckets, from, ECMP_BUCKETS * sizeof(*buckets));
}

static void
write_hops(struct change *change)
{
	struct router_tables *tables = change->tables;
	const uint16_t *buckets = change->plan.buckets;

	for (uint32_t i = 0; i < change->routes->nb_hops; i++) {
		uint16_t place = change->plan.places[i];
		struct router_hop *hop = &tables->hops[place];

		router_hop_fill(hop, &change->routes->hops[i]);
		tables->nb_hops = RTE_MAX(tables->nb_hops, place);
		if (hop->kind != ROUTE_GROUP)
			continue;
		write_group(tables, hop, buckets);
		buckets += ECMP_BUCKETS;
	}
}

/* Make a change, or, where there is no room, leave the tables as they are. */
static void
set(struct change *change, const struct route *route)
{
	int ret = router_tables_set(change->tables, route);

	if (ret == 0)
		change->report->changed++;
	else
		change->report->without_room++;
	change->is_wrong |= ret == -EIO;
}

static void
finish(struct change *change)
{
	struct router_links former = change->tables->links;

	change->tables->links = *change->links;
	*change->links = former;
	change->space->generation++;
}

/* While lcores stand still. */
static void
make_some(void *context)
{
	struct change *change = context;
	const uint64_t deadline = rte_rdtsc() + ns_to_tsc(HOLD_NS);
	int ret = 0;

	if (!change->has_hops)
		write_hops(change);
	change->has_hops = true;
	while (change->next < change->plan.nb && rte_rdtsc() < deadline)
		set(change, &change->plan.list[change->next++]);
	for (unsigned int i = 0; ret == 0 && i < change->tables->nb_vrfs; i++)
		ret = fib_settle(&change->tables->fibs[i]);
	change->settle_error = ret;
	if (change->next == change->plan.nb)
		finish(change);
	change->report->holds++;
}

/* Return 0, or a negative errno after several tries. */
static int
hold_once(struct change *change)
{
	const struct timespec pause = {.tv_nsec = TRY_AGAIN_NS};
	int ret = -ETIMEDOUT;

	for (unsigned int i = 0; i < TRIES && ret == -ETIMEDOUT; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		ret = reload_in_place(make_some, change);
	}
	return ret;
}

/* Have interfaces in VRFs that the tables have not looked up where there are no routes, so that the kernel gets their
 * frames. */
static void
leave_links(struct router_links *links, const struct router_tables *tables,
	    const struct routes *routes)
{
	const unsigned int nb = routes->vrfs == NULL ? 1 : routes->nb_vrfs;
	const uint64_t none = (uint64_t)(ROUTER_FIBS - 1) << ROUTER_FIB_SHIFT;

	for (unsigned int port = 0; port < TASK_MAX_OUT; port++) {
		unsigned int place = links->fibs[port];

		if (place < nb && !router_plan_has(tables, routes, place))
			links->fibs[port] = ROUTER_FIBS - 1;
		for (unsigned int id = 0; links->vlans[port] != NULL && id < ROUTER_VLANS; id++) {
			uint64_t vlan = links->vlans[port][id];

			place = vlan == ROUTER_DOWN ? nb : (unsigned int)(vlan >> ROUTER_FIB_SHIFT);
			if (place < nb && !router_plan_has(tables, routes, place))
				links->vlans[port][id] = (vlan & ROUTER_MAC_MASK) | none;
		}
	}
}

int
router_in_place(struct router_space *space, const struct routes *routes, struct router_links *links,
		const atomic_bool *cancel, struct in_place_report *report)
{
	struct change change = {.space = space,
				.tables = atomic_load(&space->current),
				.routes = routes,
				.links = links,
				.report = report};
	int ret = router_plan_open(&change.plan, change.tables, routes);

	*report = (struct in_place_report){.without_room = change.plan.nb_without};
	if (ret != 0)
		return ret;
	leave_links(links, change.tables, routes);
	do
		ret = atomic_load(cancel) ? -ECANCELED : hold_once(&change);
	while (ret == 0 && change.next < change.plan.nb);
	router_plan_close(&change.plan);
	if (ret == 0)
		ret = change.is_wrong ? -EIO : change.settle_error;
	return ret;
}
