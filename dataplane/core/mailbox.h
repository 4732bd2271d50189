/* SPDX-License-Identifier: Apache-2.0 */
/* Reach an lcore from control without a lock: a ring of requests, which the lcore polls now and
 * then, and a ring on which it returns them with answers.
 *
 * A mail belongs to the mailbox from mailbox_post until mailbox_await returns it. When an lcore
 * does not answer in time (it was descheduled), the mail stays in the mailbox, may still be carried
 * out, and is freed when it comes back. One control thread at a time may post and await.
 */
#ifndef WSDP_MAILBOX_H
#define WSDP_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ring.h>

#define MAIL_ARGS_LEN 1024 /* a telemetry request is no longer */
#define MAILBOX_SIZE 128   /* room for a request to each of an lcore's tasks at once */

struct lcore;
struct task;

struct mail {
	int (*run)(struct lcore *lcore, struct mail *mail); /* on the lcore */
	struct task *task;
	uint64_t value;
	const char *verb; /* a constant */
	char args[MAIL_ARGS_LEN];
	int result; /* what run returned */

	/* The control thread's. */
	bool returned;
	bool given_up;
};

struct mailbox {
	struct rte_ring *requests;
	struct rte_ring *answers;
	unsigned int outstanding; /* posted and not yet back; the control thread's */
};

int mailbox_open(struct mailbox *mailbox, unsigned int lcore_id, int socket_id);
void mailbox_close(struct mailbox *mailbox);

/* Control side. A new mail, or NULL when memory is short or `args` too long. */
struct mail *mail_new(int (*run)(struct lcore *lcore, struct mail *mail));
/* 0, or -EBUSY: the lcore has left too many requests unanswered (the mail is freed). */
int mailbox_post(struct mailbox *mailbox, struct mail *mail);
/* Wait for this mail, which stays in the mailbox. True: it is back, so mailbox_await returns at once. */
bool mailbox_answered(struct mailbox *mailbox, const struct mail *mail, uint64_t within_ns);
/* Wait for this mail. 0: *result is what the lcore answered; -ETIMEDOUT. The mail is gone. */
int mailbox_await(struct mailbox *mailbox, struct mail *mail, uint64_t timeout_ns, int *result);

/* Lcore side: carry out what has arrived. Cheap when nothing has. */
void mailbox_serve(struct mailbox *mailbox, struct lcore *lcore);

#endif
