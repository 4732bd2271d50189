/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_branch_prediction.h>
#include <rte_ether.h>

#include "task.h"

#define TASK_MAX_TYPES 32

static const struct task_ops *types[TASK_MAX_TYPES];
static unsigned int nb_types;

void
task_register(const struct task_ops *ops)
{
	/* Runs before main: a duplicate or one too many is a programming fault. */
	if (nb_types == TASK_MAX_TYPES || task_ops_find(ops->name) != NULL) {
		fprintf(stderr, "wsdp: task type %s cannot be registered\n", ops->name);
		abort();
	}
	types[nb_types++] = ops;
}

const struct task_ops *
task_ops_find(const char *type)
{
	for (unsigned int i = 0; i < nb_types; i++)
		if (strcmp(types[i]->name, type) == 0)
			return types[i];
	return NULL;
}

const char *
task_ops_names(void)
{
	static char names[TASK_MAX_TYPES * TASK_NAME_LEN];

	names[0] = '\0';
	for (unsigned int i = 0; i < nb_types; i++) {
		if (i > 0)
			strcat(names, ", ");
		strncat(names, types[i]->name, TASK_NAME_LEN - 3);
	}
	return names;
}

uint16_t
task_send(struct task *task, unsigned int out, struct rte_mbuf **mbufs, uint16_t n)
{
	return task_send_octets(task, out, mbufs, n, task_octets(mbufs, n));
}

uint16_t
task_send_octets(struct task *task, unsigned int out, struct rte_mbuf **mbufs, uint16_t n,
		 uint64_t octets)
{
	const struct task_out *to = &task->out[out];
	uint16_t sent = to->send(to, mbufs, n);

	task->stats.tx += sent;
	if (unlikely(sent < n)) {
		octets -= task_octets(mbufs + sent, n - sent);
		task->stats.tx_fail += n - sent;
		rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
	}
	task->stats.tx_bytes += octets;
	return sent;
}

void
task_send_each(struct task *task, struct rte_mbuf **mbufs, const uint8_t *outs, uint16_t n)
{
	struct rte_mbuf *chosen[TASK_BURST];
	uint16_t sent = 0;

	for (unsigned int out = 0; sent < n; out++) {
		uint16_t count = 0;

		/* Without a branch: outputs take turns at random. */
		for (uint16_t i = 0; i < n; i++) {
			chosen[count] = mbufs[i];
			count += outs[i] == out;
		}
		if (count > 0)
			task_send(task, out, chosen, count);
		sent += count;
	}
}

void
task_discard(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	task->stats.discard += n;
	rte_pktmbuf_free_bulk(mbufs, n);
}

void
task_consume(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	task->stats.handled += n;
	rte_pktmbuf_free_bulk(mbufs, n);
}

uint16_t
task_discard_short(struct task *task, struct rte_mbuf **mbufs, uint16_t n, uint16_t bytes)
{
	uint16_t left = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (likely(mbufs[i]->data_len >= bytes))
			mbufs[left++] = mbufs[i];
		else
			task_discard(task, &mbufs[i], 1);
	}
	return left;
}
