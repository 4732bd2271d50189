/* SPDX-License-Identifier: Apache-2.0 */
/* Of the task router alone: its state, and how its arguments are read. */
#ifndef WSDP_ROUTER_H
#define WSDP_ROUTER_H

#include "pktlib/token_bucket.h"
#include "router_host.h"
#include "router_tables.h"

struct config_section;

/* Causes for which a frame is not forwarded, after those that its header shows (enum ip_verdict). */
enum cause {
	OTHER_MAC = IP_VERDICTS,
	MARTIAN,
	MULTICAST,
	BLACKHOLE,
	LOCAL,
	NEIGHBOUR,
	TOO_BIG,  /* and it must not be fragmented */
	FRAGMENT, /* it must be */
	BY_KERNEL,
	INTERFACE_DOWN,
	UNKNOWN_VLAN,
	NO_HEADROOM, /* for a tag */
	CAUSES
};

struct router {
	struct router_space *space;
	const char
		*path; /* lives as long as the configuration; NULL: the tables are the kernel's */
	struct host_config kernel;
	struct host_task *host; /* NULL: the tables are a file's */
	uint64_t mac; /* as a frame's first octets read; 0: frames to any address are ours */
	bool punts;
	uint16_t outs[PUNT_CLASSES];
	uint32_t punt_fps;
	struct token_bucket buckets[PUNT_CLASSES];
	uint64_t counts[CAUSES];
	uint64_t punted[PUNT_CLASSES], over_rate[PUNT_CLASSES];
	uint64_t queue_full; /* exceptions for which the kernel's queue had no room */
};

/* See struct task_ops. */
int router_init(struct task *task, const struct config_section *section);

#endif
