/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "app.h"
#include "ask.h"
#include "commands.h"
#include "control.h"
#include "reload.h"
#include "telemetry_reply.h"

/* One reload at a time. Taken before the control lock, never the other way round. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct app *served; /* with `turn` */
static atomic_bool cancel;

void
reload_open(struct app *app)
{
	pthread_mutex_lock(&turn);
	served = app;
	atomic_store(&cancel, false);
	pthread_mutex_unlock(&turn);
}

void
reload_close(void)
{
	atomic_store(&cancel, true);
	pthread_mutex_lock(&turn);
	served = NULL;
	pthread_mutex_unlock(&turn);
}

static void
reload(struct app *app, const char *params, struct telemetry_out *out)
{
	const struct task_reload *ops;
	struct app_task *slot;
	const char *path;
	char error[512];
	bool answered;
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
	built = ops->build(&slot->task, path, &cancel, error, sizeof(error));
	if (built == NULL) {
		telemetry_error(out, "%s: %s", slot->task.name, error);
		return;
	}
	control_lock();
	ops->exchange(&slot->task, built);
	/* Any request will do: an lcore answers it between two rounds, and so reads nothing of before.
	 * What an lcore that does not answer may still read is kept for the next reload. */
	answered = ask_lcores(app, out, lcore_snapshot, 0) == 0;
	control_unlock();
	if (answered) {
		ops->settle(&slot->task); /* of a full table it takes a second */
		telemetry_u64(out, "ok", 1);
	}
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
