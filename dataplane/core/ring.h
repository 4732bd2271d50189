/* SPDX-License-Identifier: Apache-2.0 */
/* [ring.NAME]: a queue of frames from tasks to tasks. */
#ifndef WSDP_RING_H
#define WSDP_RING_H

#include <stdbool.h>
#include <stdint.h>

struct config_section;
struct rte_ring;
struct task_in;
struct task_out;

/* The tasks at one end of a ring: whether they share one lcore decides how it is synchronised. */
struct ring_end {
	unsigned int tasks;
	unsigned int lcore_id; /* of the first */
	bool many_lcores;
};

struct ring {
	const struct config_section *section;
	const char *name;
	uint32_t size; /* frames it holds, exactly */
	struct ring_end writers;
	struct ring_end readers;
	struct rte_ring *ring;
};

void ring_parse(struct ring *ring, const struct config_section *section);
void ring_end_add(struct ring_end *end, unsigned int lcore_id);
/* A fault for a ring that nobody reads or nobody writes. */
void ring_check(const struct ring *ring);
int ring_start(struct ring *ring, int socket_id);
/* Free the ring and the frames left in it. */
void ring_stop(struct ring *ring);

void ring_reader(const struct ring *ring, struct task_in *in);
void ring_writer(const struct ring *ring, struct task_out *out);

#endif
