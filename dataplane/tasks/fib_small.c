/* SPDX-License-Identifier: Apache-2.0 */
#include "fib_small.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>

#include "fib_tree.h"
#include "pktlib/bytes.h"

struct fib_small *
fib_small_make(const char *name, uint8_t version, uint32_t routes, int socket_id)
{
	struct rte_rib_conf conf = {.max_nodes = 2 * (int)routes};
	struct rte_rib6_conf conf6 = {.max_nodes = 2 * (int)routes};
	struct fib_small *small = calloc(1, sizeof(*small));

	rte_errno = ENOMEM;
	if (small == NULL)
		return NULL;
	/* Without nodes in between, the tree holds twice the routes. */
	small->room = 4 * routes + 1;
	small->starts = calloc(small->room, sizeof(*small->starts));
	small->values = calloc(small->room, sizeof(*small->values));
	small->nb = 1;
	if (small->starts != NULL && small->values != NULL) {
		if (version == 4)
			small->v4 = rte_rib_create(name, socket_id, &conf);
		else
			small->v6 = rte_rib6_create(name, socket_id, &conf6);
	}
	if (small->v4 != NULL || small->v6 != NULL)
		return small;
	fib_small_free(small);
	return NULL;
}

void
fib_small_free(struct fib_small *small)
{
	if (small == NULL)
		return;
	rte_rib_free(small->v4);
	rte_rib6_free(small->v6);
	free(small->starts);
	free(small->values);
	free(small);
}

int
fib_small_set(struct fib_small *small, const struct route *prefix, uint64_t value)
{
	small->is_settled = false;
	return small->v4 != NULL ? fib_tree_set_v4(small->v4, prefix, value)
				 : fib_tree_set_v6(small->v6, prefix, value);
}

/* A prefix of the tree. */
struct span {
	fib_address first, last;
	uint16_t value;
};

static fib_address
load_v6(const uint8_t *octets)
{
	return (fib_address)be64_load(octets) << 64 | be64_load(octets + 8);
}

static struct span
span_of(fib_address first, unsigned int free_bits, uint64_t value)
{
	fib_address mask = free_bits == 128 ? ~(fib_address)0 : ((fib_address)1 << free_bits) - 1;

	return (struct span){first, first | mask, (uint16_t)value};
}

/* Read the prefixes of a tree, in any order. Return how many there are; `room` at most are written. */
static uint32_t
read_v4(struct rte_rib *rib, struct span *spans, uint32_t room)
{
	/* That of length 0 is not among those that follow. */
	struct rte_rib_node *node = rte_rib_lookup_exact(rib, 0, 0);
	uint32_t nb = 0, address;
	uint64_t value;
	uint8_t length;

	if (node == NULL)
		node = rte_rib_get_nxt(rib, 0, 0, NULL, RTE_RIB_GET_NXT_ALL);
	while (node != NULL) {
		rte_rib_get_ip(node, &address);
		rte_rib_get_depth(node, &length);
		rte_rib_get_nh(node, &value);
		if (nb < room)
			spans[nb] = span_of(address, 32u - length, value);
		nb++;
		node = rte_rib_get_nxt(rib, 0, 0, length == 0 ? NULL : node, RTE_RIB_GET_NXT_ALL);
	}
	return nb;
}

static uint32_t
read_v6(struct rte_rib6 *rib, struct span *spans, uint32_t room)
{
	static uint8_t zeros[16];
	struct rte_rib6_node *node = rte_rib6_lookup_exact(rib, (void *)zeros, 0);
	uint8_t address[16], length;
	uint32_t nb = 0;
	uint64_t value;

	if (node == NULL)
		node = rte_rib6_get_nxt(rib, (void *)zeros, 0, NULL, RTE_RIB6_GET_NXT_ALL);
	while (node != NULL) {
		rte_rib6_get_ip(node, (void *)address);
		rte_rib6_get_depth(node, &length);
		rte_rib6_get_nh(node, &value);
		if (nb < room)
			spans[nb] = span_of(load_v6(address), 128u - length, value);
		nb++;
		node = rte_rib6_get_nxt(rib, (void *)zeros, 0, length == 0 ? NULL : node,
					RTE_RIB6_GET_NXT_ALL);
	}
	return nb;
}

/* By address, the larger ones first, which hold those that follow. */
static int
compare(const void *a, const void *b)
{
	const struct span *one = a, *other = b;

	if (one->first != other->first)
		return one->first < other->first ? -1 : 1;
	return one->last > other->last ? -1 : one->last < other->last;
}

/* From this address on, the answer is another one. */
static void
start(struct fib_small *small, fib_address address, uint16_t value)
{
	if (small->starts[small->nb - 1] != address) {
		if (small->values[small->nb - 1] == value)
			return;
		small->nb++;
	}
	small->starts[small->nb - 1] = address;
	small->values[small->nb - 1] = value;
}

/* Make the starts of spans in order. Each begins and ends once, so there are at most twice as many and one. */
static void
make_starts(struct fib_small *small, const struct span *spans, uint32_t nb)
{
	const struct span *open[129]; /* that hold the address, the longest prefix last */
	unsigned int depth = 0;

	small->nb = 1;
	small->starts[0] = 0;
	small->values[0] = 0;
	for (uint32_t i = 0; i <= nb; i++) {
		while (depth > 0 && (i == nb || open[depth - 1]->last < spans[i].first)) {
			fib_address behind = open[--depth]->last + 1;

			/* Behind the last address of all there is none. */
			if (behind != 0)
				start(small, behind, depth == 0 ? 0 : open[depth - 1]->value);
		}
		if (i == nb)
			break;
		open[depth++] = &spans[i];
		start(small, spans[i].first, spans[i].value);
	}
}

int
fib_small_settle(struct fib_small *small)
{
	uint32_t room = (small->room - 1) / 2, nb;
	struct span *spans;

	if (small->is_settled)
		return 0;
	spans = calloc(room + 1, sizeof(*spans));
	if (spans == NULL)
		return -ENOMEM;
	nb = small->v4 != NULL ? read_v4(small->v4, spans, room) : read_v6(small->v6, spans, room);
	if (nb <= room) {
		qsort(spans, nb, sizeof(*spans), compare);
		make_starts(small, spans, nb);
	}
	free(spans);
	small->is_settled = nb <= room;
	return nb <= room ? 0 : -ENOSPC;
}

/* Find the last start that is not behind the address. */
static inline uint64_t
look_up(const struct fib_small *small, fib_address address)
{
	const fib_address *at = small->starts;

	for (uint32_t nb = small->nb; nb > 1;) {
		uint32_t half = nb / 2;

		at += at[half] <= address ? half : 0;
		nb -= half;
	}
	return small->values[at - small->starts];
}

void
fib_small_look_up_v4(const struct fib_small *small, const uint32_t *addresses, uint64_t *values,
		     uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		values[i] = small == NULL ? 0 : look_up(small, addresses[i]);
}

void
fib_small_look_up_v6(const struct fib_small *small, uint8_t (*addresses)[16], uint64_t *values,
		     uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		values[i] = small == NULL ? 0 : look_up(small, load_v6(addresses[i]));
}
