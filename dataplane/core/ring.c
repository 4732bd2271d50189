/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <rte_errno.h>
#include <rte_ring.h>

#include "config.h"
#include "ring.h"
#include "task.h"

void
ring_parse(struct ring *ring, const struct config_section *section)
{
	ring->section = section;
	ring->name = config_name(section);
	ring->size = 1024;
	config_u32(section, "size", &ring->size, 1, 1u << 20);
}

void
ring_end_add(struct ring_end *end, unsigned int lcore_id)
{
	if (end->tasks++ == 0)
		end->lcore_id = lcore_id;
	else if (end->lcore_id != lcore_id)
		end->many_lcores = true;
}

void
ring_check(const struct ring *ring)
{
	if (ring->writers.tasks == 0)
		config_fault(ring->section, NULL,
			     "no task writes to this ring: one must have tx = ring:%s", ring->name);
	if (ring->readers.tasks == 0)
		config_fault(ring->section, NULL,
			     "no task reads from this ring: one must have rx = ring:%s",
			     ring->name);
}

int
ring_start(struct ring *ring, int socket_id)
{
	unsigned int flags = RING_F_EXACT_SZ;
	char name[RTE_RING_NAMESIZE];

	if (!ring->writers.many_lcores)
		flags |= RING_F_SP_ENQ;
	if (!ring->readers.many_lcores)
		flags |= RING_F_SC_DEQ;
	snprintf(name, sizeof(name), "ws_%s", ring->name);
	ring->ring = rte_ring_create(name, ring->size, socket_id, flags);
	if (ring->ring == NULL) {
		fprintf(stderr, "wsdp: [ring.%s] of %u frames cannot be made: %s\n", ring->name,
			ring->size, rte_strerror(rte_errno));
		return -rte_errno;
	}
	return 0;
}

void
ring_stop(struct ring *ring)
{
	struct rte_mbuf *mbufs[TASK_BURST];
	unsigned int n;

	if (ring->ring == NULL)
		return;
	while ((n = rte_ring_dequeue_burst(ring->ring, (void **)mbufs, TASK_BURST, NULL)) > 0)
		rte_pktmbuf_free_bulk(mbufs, n);
	rte_ring_free(ring->ring);
	ring->ring = NULL;
}

static uint16_t
ring_receive(const struct task_in *in, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_ring_dequeue_burst(in->ring, (void **)mbufs, n, NULL);
}

static uint16_t
ring_send(const struct task_out *out, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_ring_enqueue_burst(out->ring, (void **)mbufs, n, NULL);
}

void
ring_reader(const struct ring *ring, struct task_in *in)
{
	in->receive = ring_receive;
	in->ring = ring->ring;
}

void
ring_writer(const struct ring *ring, struct task_out *out)
{
	out->send = ring_send;
	out->ring = ring->ring;
}
