/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <rte_cycles.h>
#include <rte_string_fns.h>

#include "app.h"
#include "ask.h"
#include "telemetry_reply.h"
#include "tsc.h"

#define NS_PER_MS 1000000
/* An lcore without an answer for so long is short of CPU time. */
#define URGE_AFTER_NS 5000000

struct lcore *
ask_lcore_of(const struct app *app, const struct task *task)
{
	for (unsigned int i = 0; i < app->nb_lcores; i++)
		if (app->lcores[i]->id == task->lcore_id)
			return app->lcores[i];
	return NULL;
}

/* The time-out covers all lcores together, not each of them. */
static uint64_t
time_left(uint64_t deadline_tsc)
{
	uint64_t now = rte_rdtsc();

	return now < deadline_tsc ? tsc_to_ns(deadline_tsc - now) : 0;
}

/* Raise a thread to our own nice value where its own is higher, and tell what it was. False: it is as
 * urgent already, or we may not.
 */
static bool
urge(pid_t tid, int *niceness)
{
	const int own = getpriority(PRIO_PROCESS, 0);

	if (tid == 0) /* the lcore has not run yet */
		return false;
	errno = 0;
	*niceness = getpriority(PRIO_PROCESS, tid);
	return errno == 0 && *niceness > own && setpriority(PRIO_PROCESS, tid, own) == 0;
}

/* Wait for an lcore's answer. Whoever polls on its CPU at a lower nice value leaves a niced lcore no
 * time for it: for 20 s at nice -20 next to 19. So who waits lends the lcore its own nice value.
 */
static int
await(struct lcore *lcore, struct mail *mail, uint64_t deadline_tsc, int *result)
{
	const pid_t tid = lcore->tid;
	bool urged = false;
	int niceness = 0, ret;

	if (!mailbox_answered(&lcore->mailbox, mail,
			      RTE_MIN((uint64_t)URGE_AFTER_NS, time_left(deadline_tsc))))
		urged = urge(tid, &niceness);
	ret = mailbox_await(&lcore->mailbox, mail, time_left(deadline_tsc), result);
	if (urged)
		setpriority(PRIO_PROCESS, tid, niceness);
	return ret;
}

int
ask_lcores(struct app *app, struct telemetry_out *out,
	   int (*request)(struct lcore *lcore, struct mail *mail), uint64_t value)
{
	const uint64_t deadline = rte_rdtsc() + ns_to_tsc(ANSWER_TIMEOUT_NS);
	struct mail *mails[RTE_MAX_LCORE];
	int failed = 0;

	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		mails[i] = mail_new(request);
		if (mails[i] != NULL)
			mails[i]->value = value;
		if (mails[i] == NULL || mailbox_post(&app->lcores[i]->mailbox, mails[i]) != 0) {
			mails[i] = NULL;
			failed = -EBUSY;
			telemetry_error(out, "lcore %u has left earlier requests unanswered",
					app->lcores[i]->id);
		}
	}
	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		int result;

		if (mails[i] != NULL && await(app->lcores[i], mails[i], deadline, &result) != 0) {
			failed = -ETIMEDOUT;
			telemetry_error(out, "lcore %u has not answered within %llu ms",
					app->lcores[i]->id, ANSWER_TIMEOUT_NS / NS_PER_MS);
		}
	}
	return failed;
}

static bool
is_for(enum audience audience, const struct task *task)
{
	return task->ops->control != NULL &&
	       (audience == ANY_TASK || (audience == GENERATORS) == task->ops->generates);
}

int
ask_tasks(struct app *app, struct telemetry_out *out, const struct task *only,
	  enum audience audience, const char *verb, const char *args)
{
	const uint64_t deadline = rte_rdtsc() + ns_to_tsc(ANSWER_TIMEOUT_NS);
	struct mail *mails[APP_MAX_TASKS] = {NULL};
	int failed = 0;

	for (unsigned int i = 0; i < app->nb_tasks; i++) {
		struct task *task = &app->tasks[i].task;
		struct mail *mail;

		if ((only != NULL && task != only) || !is_for(audience, task))
			continue;
		mail = mail_new(lcore_control);
		if (mail == NULL) {
			/* Mails that were posted before are awaited below. */
			failed = -ENOMEM;
			telemetry_error(out, "out of memory");
			break;
		}
		mail->task = task;
		mail->verb = verb;
		rte_strscpy(mail->args, args, sizeof(mail->args));
		if (mailbox_post(&ask_lcore_of(app, task)->mailbox, mail) == 0) {
			mails[i] = mail;
			continue;
		}
		failed = -EBUSY;
		telemetry_error(out, "lcore %u has left earlier requests unanswered",
				task->lcore_id);
	}
	for (unsigned int i = 0; i < app->nb_tasks; i++) {
		const struct task *task = &app->tasks[i].task;
		int result;

		if (mails[i] == NULL)
			continue;
		if (await(ask_lcore_of(app, task), mails[i], deadline, &result) != 0) {
			failed = -ETIMEDOUT;
			telemetry_error(out, "%s: lcore %u has not answered within %llu ms",
					task->name, task->lcore_id, ANSWER_TIMEOUT_NS / NS_PER_MS);
		} else if (result != 0) {
			failed = result;
			telemetry_error(out, "%s: %s %s: %s", task->name, verb, args,
					strerror(-result));
		}
	}
	return failed;
}
