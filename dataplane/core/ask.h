/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from the control thread to lcores and tasks, through their mailboxes. What goes wrong
 * becomes the telemetry reply. */
#ifndef WSDP_ASK_H
#define WSDP_ASK_H

#include <stdint.h>

struct app;
struct lcore;
struct mail;
struct task;
struct telemetry_out;

/* An lcore without an answer after this time is given up. */
#define ANSWER_TIMEOUT_NS 2000000000ULL

/* Tasks that a verb addresses. */
enum audience { ANY_TASK, NOT_GENERATORS, GENERATORS };

/* Have every lcore carry out a request, all at once. 0, or the reply is an error already; `out` may be
 * NULL: nobody asked. */
int ask_lcores(struct app *app, struct telemetry_out *out,
	       int (*request)(struct lcore *lcore, struct mail *mail), uint64_t value);
/* Send a verb to one task, or (only = NULL) to an audience at once, and await all answers. */
int ask_tasks(struct app *app, struct telemetry_out *out, const struct task *only,
	      enum audience audience, const char *verb, const char *args);

struct lcore *ask_lcore_of(const struct app *app, const struct task *task);

#endif
