/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_errno.h>

#include "mailbox.h"

#define ANSWER_POLL_NS 20000 /* the control thread looks for the answer this often */

static struct rte_ring *
open_ring(const char *kind, unsigned int lcore_id, int socket_id)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "wsdp_%s_%u", kind, lcore_id);
	return rte_ring_create(name, MAILBOX_SIZE, socket_id,
			       RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

int
mailbox_open(struct mailbox *mailbox, unsigned int lcore_id, int socket_id)
{
	mailbox->outstanding = 0;
	mailbox->requests = open_ring("ask", lcore_id, socket_id);
	mailbox->answers = open_ring("answer", lcore_id, socket_id);
	if (mailbox->requests != NULL && mailbox->answers != NULL)
		return 0;
	mailbox_close(mailbox);
	return -rte_errno;
}

static void
free_ring(struct rte_ring *ring)
{
	void *mail;

	while (ring != NULL && rte_ring_sc_dequeue(ring, &mail) == 0)
		free(mail);
	rte_ring_free(ring);
}

void
mailbox_close(struct mailbox *mailbox)
{
	free_ring(mailbox->requests);
	free_ring(mailbox->answers);
	mailbox->requests = NULL;
	mailbox->answers = NULL;
}

struct mail *
mail_new(int (*run)(struct lcore *lcore, struct mail *mail))
{
	struct mail *mail = calloc(1, sizeof(*mail));

	if (mail != NULL)
		mail->run = run;
	return mail;
}

/* Take back what has been answered: awaited mails are marked, given-up ones freed. */
static void
collect_answers(struct mailbox *mailbox)
{
	void *slot;

	while (rte_ring_sc_dequeue(mailbox->answers, &slot) == 0) {
		struct mail *mail = slot;

		mailbox->outstanding--;
		mail->returned = true;
		if (mail->given_up)
			free(mail);
	}
}

int
mailbox_post(struct mailbox *mailbox, struct mail *mail)
{
	collect_answers(mailbox);
	/* Bounding what is outstanding also leaves the lcore room to answer. */
	if (mailbox->outstanding == MAILBOX_SIZE) {
		free(mail);
		return -EBUSY;
	}
	mailbox->outstanding++;
	return rte_ring_sp_enqueue(mailbox->requests, mail);
}

bool
mailbox_answered(struct mailbox *mailbox, const struct mail *mail, uint64_t within_ns)
{
	const struct timespec pause = {.tv_nsec = ANSWER_POLL_NS};
	struct timespec now, start;
	uint64_t waited_ns;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		collect_answers(mailbox);
		if (mail->returned)
			return true;
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		waited_ns = (uint64_t)((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec -
				       start.tv_nsec);
	} while (waited_ns < within_ns);
	return false;
}

int
mailbox_await(struct mailbox *mailbox, struct mail *mail, uint64_t timeout_ns, int *result)
{
	if (!mailbox_answered(mailbox, mail, timeout_ns)) {
		mail->given_up = true;
		return -ETIMEDOUT;
	}
	*result = mail->result;
	free(mail);
	return 0;
}

void
mailbox_serve(struct mailbox *mailbox, struct lcore *lcore)
{
	void *slot;

	while (unlikely(rte_ring_sc_dequeue(mailbox->requests, &slot) == 0)) {
		struct mail *mail = slot;

		mail->result = mail->run(lcore, mail);
		rte_ring_sp_enqueue(mailbox->answers, mail);
	}
}
