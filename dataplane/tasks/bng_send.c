/* SPDX-License-Identifier: Apache-2.0 */
#include "bng_send.h"
#include "bng_worker.h"

void
bng_worker_settle(struct task *task, const struct bng_settings *settings,
		  const struct bng_aside *aside, uint64_t *verdicts,
		  void (*arp)(struct task *task, struct rte_mbuf *mbuf))
{
	struct rte_mbuf *dropped[TASK_BURST], *slow[TASK_BURST];
	uint16_t nb_dropped = 0, nb_slow = 0;

	for (uint16_t i = 0; i < aside->nb; i++) {
		enum bng_verdict verdict = aside->verdicts[i];

		verdicts[verdict]++;
		if (verdict == BNG_ARP)
			arp(task, aside->mbufs[i]);
		else if (bng_is_for_slow_path(verdict) && settings->slow_tx != BNG_NO_TX)
			slow[nb_slow++] = aside->mbufs[i];
		else
			dropped[nb_dropped++] = aside->mbufs[i];
	}
	if (nb_slow > 0)
		task_send(task, settings->slow_tx, slow, nb_slow);
	if (nb_dropped > 0)
		task_discard(task, dropped, nb_dropped);
}

void
bng_worker_send(struct task *task, uint32_t nb_forward, struct rte_mbuf **mbufs,
		const uint8_t *ports, uint16_t n)
{
	struct rte_mbuf *chosen[TASK_BURST];

	for (uint32_t port = 0; port < nb_forward; port++) {
		uint16_t count = 0;

		for (uint16_t i = 0; i < n; i++)
			if (ports[i] == port)
				chosen[count++] = mbufs[i];
		if (count > 0)
			task_send(task, port, chosen, count);
	}
}

void
bng_scatter(struct task *task, struct rte_mbuf **mbufs, const uint8_t *outputs, uint16_t n)
{
	struct rte_mbuf *sorted[TASK_BURST];
	uint16_t counts[TASK_MAX_OUT + 1] = {0}, starts[TASK_MAX_OUT + 1], at = 0;

	for (uint16_t i = 0; i < n; i++)
		counts[outputs[i]]++;
	if (counts[outputs[0]] == n && outputs[0] < TASK_MAX_OUT) {
		task_send(task, outputs[0], mbufs, n);
		return;
	}
	for (unsigned int out = 0; out <= TASK_MAX_OUT; out++) {
		starts[out] = at;
		at += counts[out];
	}
	for (uint16_t i = 0; i < n; i++)
		sorted[starts[outputs[i]]++] = mbufs[i];
	for (unsigned int out = 0; out < task->nb_out; out++)
		if (counts[out] > 0)
			task_send(task, out, &sorted[starts[out] - counts[out]], counts[out]);
	if (counts[TASK_MAX_OUT] > 0)
		task_discard(task, &sorted[starts[TASK_MAX_OUT] - counts[TASK_MAX_OUT]],
			     counts[TASK_MAX_OUT]);
}
