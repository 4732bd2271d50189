/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that change something, and how all of them are served: one at a time, see control.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "arguments.h"
#include "ask.h"
#include "commands.h"
#include "control.h"
#include "reload.h"
#include "switch_log.h"
#include "telemetry_reply.h"

/* A longer pause would make the answers to requests wait. */
#define PAUSE_NS_MAX 10000000

static void
done(struct telemetry_out *out)
{
	telemetry_u64(out, "ok", 1);
}

struct app_task *
command_task(struct app *app, struct telemetry_out *out, const char *params, const char **rest)
{
	char name[TASK_NAME_LEN];
	struct app_task *slot;
	size_t length = params == NULL ? 0 : strcspn(params, ",");

	snprintf(name, sizeof(name), "%.*s", (int)length, params == NULL ? "" : params);
	slot = app_task_find(app, name);
	if (slot == NULL)
		telemetry_error(out, "there is no task \"%s\"; /wirespeed/info names them", name);
	else
		*rest = params[length] == ',' ? params + length + 1 : "";
	return slot;
}

/* "/wirespeed/reset" or "/wirespeed/reset,gap_limit_ns=N". */
static void
reset(struct app *app, const char *params, struct telemetry_out *out)
{
	uint64_t gap_limit_ns = 0;

	if (params != NULL &&
	    arguments_only_u64(params, "gap_limit_ns", &gap_limit_ns, 1, GAP_LIMIT_NS_MAX) != 0) {
		telemetry_error(out, "reset %s: only gap_limit_ns=N with N from 1 to %d is known",
				params, GAP_LIMIT_NS_MAX);
		return;
	}
	if (ask_lcores(app, out, lcore_reset, gap_limit_ns) != 0)
		return;
	for (unsigned int i = 0; i < app->nb_ports; i++)
		port_reset(&app->ports[i]);
	done(out);
}

/* "/wirespeed/pause_pollers,ns=N" */
static void
pause_pollers(struct app *app, const char *params, struct telemetry_out *out)
{
	const char *args = params == NULL ? "" : params;
	uint64_t pause_ns;

	if (arguments_only_u64(args, "ns", &pause_ns, 0, PAUSE_NS_MAX) != 0)
		telemetry_error(out, "pause_pollers %s: only ns=N with N up to %d is known", args,
				PAUSE_NS_MAX);
	else if (ask_lcores(app, out, lcore_pause, pause_ns) == 0)
		done(out);
}

static void
start(struct app *app, const char *params, struct telemetry_out *out)
{
	const char *args = params == NULL ? "" : params;
	bool any = false;

	for (unsigned int i = 0; i < app->nb_tasks; i++)
		any |= app->tasks[i].task.ops->generates;
	if (!any) {
		telemetry_error(out, "there is nothing to start: no task generates");
		return;
	}
	if (ask_lcores(app, out, lcore_pause, 0) != 0)
		return;
	/* Sinks first: they must know the trial's number before its first frame comes. */
	if (ask_tasks(app, out, NULL, NOT_GENERATORS, "start", args) == 0 &&
	    ask_tasks(app, out, NULL, GENERATORS, "start", args) == 0)
		done(out);
}

static void
stop(struct app *app, const char *params, struct telemetry_out *out)
{
	const char *args = params == NULL ? "" : params;

	if (ask_tasks(app, out, NULL, GENERATORS, "stop", args) == 0 &&
	    ask_tasks(app, out, NULL, NOT_GENERATORS, "stop", args) == 0)
		done(out);
}

static void
set(struct app *app, const char *params, struct telemetry_out *out)
{
	const char *args;
	struct app_task *slot = command_task(app, out, params, &args);

	if (slot == NULL)
		return;
	if (slot->task.ops->control == NULL)
		telemetry_error(out, "%s: a task of type %s has nothing to set", slot->task.name,
				slot->task.ops->name);
	else if (ask_tasks(app, out, &slot->task, ANY_TASK, "set", args) == 0)
		done(out);
}

static void export(struct app *app, const char *what, const char *params, struct telemetry_out *out)
{
	const char *path;
	struct app_task *slot = command_task(app, out, params, &path);
	int ret = -ENOTSUP;

	if (slot == NULL)
		return;
	if (slot->task.ops->export != NULL)
		ret = slot->task.ops->export(&slot->task, what, path);
	if (ret != 0)
		telemetry_error(out, "%s: %s to \"%s\": %s", slot->task.name, what, path,
				strerror(-ret));
	else
		done(out);
}

static void
histogram(struct app *app, const char *params, struct telemetry_out *out)
{
	export(app, "histogram", params, out);
}

static void
capture(struct app *app, const char *params, struct telemetry_out *out)
{
	export(app, "capture", params, out);
}

static void
windows(struct app *app, const char *params, struct telemetry_out *out)
{
	export(app, "windows", params, out);
}

static void
flow_gaps(struct app *app, const char *params, struct telemetry_out *out)
{
	export(app, "flow_gaps", params, out);
}

static void
latency_rows(struct app *app, const char *params, struct telemetry_out *out)
{
	export(app, "latency_rows", params, out);
}

/* Commands that read or change the app: one at a time. */
static const struct {
	const char *name;
	void (*handle)(struct app *app, const char *params, struct telemetry_out *out);
	const char *help;
} commands[] = {
	{"/wirespeed/info", report_info, "Versions, tasks, ports"},
	{"/wirespeed/stats", report_stats, "Counters of every task"},
	{"/wirespeed/task", report_task, "Counters and own figures of a task. Parameter: TASK"},
	{"/wirespeed/lcores", report_lcores, "Polls and busy time of every lcore"},
	{"/wirespeed/gaps", report_gaps,
	 "Writes when lcores did not poll to a file. Parameter: FILE"},
	{"/wirespeed/ports", report_ports, "Link and counters of every port"},
	{"/wirespeed/rings", report_rings, "Size and fill of every ring"},
	{"/wirespeed/reset", reset, "Forgets all counts. Parameter: gap_limit_ns=N (optional)"},
	{"/wirespeed/pause_pollers", pause_pollers,
	 "Leaves the CPUs to others. Parameter: ns=N, 0 to poll again"},
	{"/wirespeed/start", start, "Starts all generators. Parameters: key=value,..."},
	{"/wirespeed/stop", stop, "Stops all generators"},
	{"/wirespeed/set", set, "Changes a task's arguments. Parameters: TASK,key=value,..."},
	{"/wirespeed/histogram", histogram, "Writes a histogram to a file. Parameters: TASK,FILE"},
	{"/wirespeed/capture", capture, "Writes captured frames to a file. Parameters: TASK,FILE"},
	{"/wirespeed/windows", windows,
	 "Writes counts by time stamp to a file. Parameters: TASK,FILE"},
	{"/wirespeed/flow_gaps", flow_gaps,
	 "Writes holes and changed paths of flows to a file. Parameters: TASK,FILE"},
	{"/wirespeed/latency_rows", latency_rows,
	 "Writes latencies by time stamp to a file. Parameters: TASK,FILE"},
};

/* Commands that may take long and hold no control lock meanwhile: only their caller waits. */
static const struct {
	const char *name;
	void (*handle)(const char *params, struct telemetry_out *out);
	const char *help;
} watches[] = {
	{"/wirespeed/placement", watch_placement, "What two CPUs share. Parameters: A,B"},
	{"/wirespeed/contention", watch_contention,
	 "Samples CPUs for a while. Parameters: after_ns=N,duration_ns=N,cpu=A,cpu=B,..."},
	{"/wirespeed/contention_samples", watch_contention_samples,
	 "Writes the samples to a file; waits for the end. Parameter: FILE"},
	{"/wirespeed/reload", watch_reload,
	 "Replaces a task's tables while it runs. Parameters: TASK,FILE"},
	{"/wirespeed/check", watch_check,
	 "Compares a task's tables with what they follow. Parameters: TASK,FILE"},
	{"/wirespeed/switches", watch_switches,
	 "Records context switches of threads and CPUs. Parameters: tid=A,cpu=B,..."},
	{"/wirespeed/switches_stop", watch_switches_stop,
	 "Ends that and writes the records to a file. Parameter: FILE"},
};

static struct app *served; /* rte_telemetry of DPDK 22.11 hands its handlers no argument */

static struct telemetry_out
begin_reply(struct telemetry_reply *reply, struct rte_tel_data *data)
{
	memset(reply, 0, sizeof(*reply));
	rte_tel_data_start_dict(data);
	return (struct telemetry_out){.reply = reply, .data = data};
}

static int
serve(const char *command, const char *params, struct rte_tel_data *data)
{
	struct telemetry_reply reply;
	struct telemetry_out out = begin_reply(&reply, data);

	control_lock();
	if (served == NULL)
		telemetry_error(&out, "wsdp is stopping");
	for (size_t i = 0; served != NULL && i < RTE_DIM(commands); i++)
		if (strcmp(command, commands[i].name) == 0)
			commands[i].handle(served, params, &out);
	control_unlock();
	if (reply.overflow)
		telemetry_error(&out, "the reply exceeds 16 KiB; ask for one task at a time");
	return 0;
}

static int
serve_watch(const char *command, const char *params, struct rte_tel_data *data)
{
	struct telemetry_reply reply;
	struct telemetry_out out = begin_reply(&reply, data);

	for (size_t i = 0; i < RTE_DIM(watches); i++)
		if (strcmp(command, watches[i].name) == 0)
			watches[i].handle(params == NULL ? "" : params, &out);
	return 0;
}

static int
add(const char *name, telemetry_cb handle, const char *help)
{
	int ret = rte_telemetry_register_cmd(name, handle, help);

	if (ret != 0)
		fprintf(stderr, "wsdp: telemetry command %s cannot be registered: %s\n", name,
			strerror(-ret));
	return ret;
}

int
telemetry_start(struct app *app)
{
	static bool registered;
	int ret = 0;

	served = app;
	reload_open(app);
	for (size_t i = 0; !registered && ret == 0 && i < RTE_DIM(commands); i++)
		ret = add(commands[i].name, serve, commands[i].help);
	for (size_t i = 0; !registered && ret == 0 && i < RTE_DIM(watches); i++)
		ret = add(watches[i].name, serve_watch, watches[i].help);
	registered = true;
	return ret;
}

void
telemetry_stop(void)
{
	reload_close(); /* it may be about to take the lock */
	control_lock();
	served = NULL;
	control_unlock();
	switch_log_abandon();
}
