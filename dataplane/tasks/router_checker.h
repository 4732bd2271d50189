/* SPDX-License-Identifier: Apache-2.0 */
/* Read the kernel's routes anew, ask it for some addresses, and compare both with a router's tables. */
#ifndef WSDP_ROUTER_CHECKER_H
#define WSDP_ROUTER_CHECKER_H

#include <stdatomic.h>
#include <stdint.h>

#include "mirror/feed.h"
#include "router_sample.h"
#include "router_tables.h"

struct checker {
	const char *task;
	struct router_space *space;
	const uint32_t *indexes; /* of the interfaces, by output; they and the names outlive it */
	const char *const *names;
	unsigned int nb;
	struct feed feed;
	struct router_samples samples; /* nb: 0 where others are to be drawn */
};

/* In the network namespace to read. Returns 0 or a negative errno. */
int checker_open(struct checker *checker, const char *task, struct router_space *space,
		 const uint32_t *indexes, const char *const *names, unsigned int nb);
void checker_close(struct checker *checker);
/* For a feed whose dumps are without routes: ask for the samples that are drawn already, and make the routes
 * of the answers. Returns 0 or a negative errno with nothing left. */
int checker_ask(struct checker *checker, struct routes *answers, const atomic_bool *cancel);
/* See struct task_ops. */
int checker_run(struct checker *checker, const char *path, const atomic_bool *cancel,
		struct telemetry_out *out);

#endif
