/* SPDX-License-Identifier: Apache-2.0 */
#include "hold.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "app.h"
#include "tsc.h"

/* Lcores that stand still already lose frames for as long as another one keeps them waiting. */
#define ARRIVE_NS 20000000
/* Who holds the lcores may need the CPU of one of them. */
#define SPIN_NS 200000
#define NAP_NS 20000

/* Each hold has a number, and ends all up to it: an lcore that comes too late does not wait. */
static uint64_t last_hold; /* under the control lock */
static _Atomic uint64_t ended_hold;

static void
nap(void)
{
	const struct timespec pause = {.tv_nsec = NAP_NS};

	nanosleep(&pause, NULL);
}

/* On the lcore. value: the number of the hold. */
static int
stand_still(struct lcore *lcore, struct mail *mail)
{
	const uint64_t began = rte_rdtsc(), spin = ns_to_tsc(SPIN_NS);

	atomic_store_explicit(&lcore->held, mail->value, memory_order_release);
	while (atomic_load_explicit(&ended_hold, memory_order_acquire) < mail->value) {
		if (likely(rte_rdtsc() - began < spin))
			rte_pause();
		else
			nap();
	}
	return 0;
}

/* Ask all lcores. mails: NULL where one was not asked. Return 0 or a negative errno. */
static int
post_all(struct app *app, struct mail **mails)
{
	int ret = 0;

	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		mails[i] = ret == 0 ? mail_new(stand_still) : NULL;
		if (mails[i] == NULL) {
			ret = ret == 0 ? -ENOMEM : ret;
			continue;
		}
		mails[i]->value = last_hold;
		ret = mailbox_post(&app->lcores[i]->mailbox, mails[i]);
		if (ret != 0)
			mails[i] = NULL;
	}
	return ret;
}

static bool
stand_all(const struct app *app)
{
	const uint64_t deadline = rte_rdtsc() + ns_to_tsc(ARRIVE_NS);

	for (unsigned int i = 0; i < app->nb_lcores; i++)
		while (atomic_load_explicit(&app->lcores[i]->held, memory_order_acquire) !=
		       last_hold) {
			if (rte_rdtsc() > deadline)
				return false;
			nap();
		}
	return true;
}

/* An lcore that has not come keeps its mail, and finds the hold ended. */
static void
release_all(struct app *app, struct mail **mails)
{
	const uint64_t deadline = rte_rdtsc() + ns_to_tsc(ARRIVE_NS);
	int result;

	atomic_store_explicit(&ended_hold, last_hold, memory_order_release);
	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		uint64_t now = rte_rdtsc();

		if (mails[i] != NULL)
			mailbox_await(&app->lcores[i]->mailbox, mails[i],
				      now < deadline ? tsc_to_ns(deadline - now) : 0, &result);
	}
}

int
hold_lcores(struct app *app, void (*change)(void *context), void *context)
{
	struct mail *mails[RTE_MAX_LCORE];
	int ret;

	last_hold++;
	ret = post_all(app, mails);
	if (ret == 0 && !stand_all(app))
		ret = -ETIMEDOUT;
	if (ret == 0)
		change(context);
	release_all(app, mails);
	return ret;
}
