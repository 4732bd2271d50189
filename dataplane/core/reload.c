/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "app.h"
#include "ask.h"
#include "commands.h"
#include "control.h"
#include "hold.h"
#include "reload.h"
#include "telemetry_reply.h"

/* One check at a time, while tables may change: it reads the state that they follow, which takes long. */
static pthread_mutex_t checking = PTHREAD_MUTEX_INITIALIZER;
/* One reload at a time. Taken after `checking` and before the control lock, never the other way round. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct app *served; /* read with either, written with both */
static atomic_bool cancel;

static void
serve(struct app *app)
{
	pthread_mutex_lock(&checking);
	pthread_mutex_lock(&turn);
	served = app;
	atomic_store(&cancel, app == NULL);
	pthread_mutex_unlock(&turn);
	pthread_mutex_unlock(&checking);
}

void
reload_open(struct app *app)
{
	serve(app);
}

void
reload_close(void)
{
	atomic_store(&cancel, true);
	serve(NULL);
}

void
reload_hold(void)
{
	pthread_mutex_lock(&turn);
}

void
reload_release(void)
{
	pthread_mutex_unlock(&turn);
}

/* Free the tables that no lcore reads any more. Any request will do: an lcore answers it between two
 * rounds, and so reads nothing of before. Returns whether each lcore has answered in time. */
static bool
settle(struct app *app, struct task *task, struct telemetry_out *out)
{
	bool answered;

	control_lock();
	answered = ask_lcores(app, out, lcore_snapshot, 0) == 0;
	control_unlock();
	if (answered)
		task->ops->reload->settle(task); /* of a full table it takes a second */
	return answered;
}

static void
reload(struct app *app, const char *params, struct telemetry_out *out)
{
	const struct task_reload *ops;
	struct app_task *slot;
	const char *path;
	char error[512];
	void *built;

	slot = command_task(app, out, params, &path);
	if (slot == NULL)
		return;
	ops = slot->task.ops->reload;
	if (ops == NULL) {
		telemetry_error(out, "%s: the tables of a task of type %s do not change",
				slot->task.name, slot->task.ops->name);
		return;
	}
	/* Tables that a reload before had to keep would take the memory of the new ones. */
	if (!settle(app, &slot->task, out))
		return;
	built = ops->build(&slot->task, path, &cancel, error, sizeof(error));
	if (built == NULL) {
		telemetry_error(out, "%s: %s", slot->task.name, error);
		return;
	}
	control_lock();
	ops->exchange(&slot->task, built);
	control_unlock();
	if (settle(app, &slot->task, out))
		telemetry_u64(out, "ok", 1);
	else /* The next reload frees what such an lcore may still read. */
		telemetry_error(
			out,
			"%s: the new tables are in force, but the former ones are not freed: "
			"an lcore has not answered in time",
			slot->task.name);
}

void
watch_reload(const char *params, struct telemetry_out *out)
{
	pthread_mutex_lock(&turn);
	if (served == NULL)
		telemetry_error(out, "wsdp is stopping");
	else
		reload(served, params, out);
	pthread_mutex_unlock(&turn);
}

bool
reload_swap(struct task *task, void *built)
{
	bool is_served;

	pthread_mutex_lock(&turn);
	is_served = served != NULL;
	if (is_served) {
		control_lock();
		task->ops->reload->exchange(task, built);
		control_unlock();
		/* What an lcore that has not answered may still read, the next swap frees. */
		settle(served, task, NULL);
	}
	pthread_mutex_unlock(&turn);
	return is_served;
}

int
reload_in_place(void (*change)(void *context), void *context)
{
	int ret = -ECANCELED;

	pthread_mutex_lock(&turn);
	if (served != NULL) {
		control_lock();
		ret = hold_lcores(served, change, context);
		control_unlock();
	}
	pthread_mutex_unlock(&turn);
	return ret;
}

static void
check(struct app *app, const char *params, struct telemetry_out *out)
{
	const char *path;
	struct app_task *slot = command_task(app, out, params, &path);

	if (slot == NULL)
		return;
	if (slot->task.ops->check == NULL)
		telemetry_error(out, "%s: a task of type %s has nothing to compare with",
				slot->task.name, slot->task.ops->name);
	else
		slot->task.ops->check(&slot->task, path, &cancel, out);
}

void
watch_check(const char *params, struct telemetry_out *out)
{
	pthread_mutex_lock(&checking);
	if (served == NULL)
		telemetry_error(out, "wsdp is stopping");
	else
		check(served, params, out);
	pthread_mutex_unlock(&checking);
}
