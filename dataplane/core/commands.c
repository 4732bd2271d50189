/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that change something, and how all of them are served. rte_telemetry runs every
 * client in a thread of its own, so one lock makes them take turns; the lcores never see it. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "ask.h"
#include "commands.h"
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
	static const char key[] = "gap_limit_ns=";
	uint64_t gap_limit_ns = 0;

	if (params != NULL) {
		char *end = NULL;

		if (strncmp(params, key, strlen(key)) == 0)
			gap_limit_ns = strtoull(params + strlen(key), &end, 10);
		if (gap_limit_ns == 0 || *end != '\0') {
			telemetry_error(out, "reset %s: only gap_limit_ns=N is known", params);
			return;
		}
	}
	if (ask_lcores(app, out, lcore_reset, gap_limit_ns) != 0)
		return;
	for (unsigned int i = 0; i < app->nb_ports; i++)
		port_reset(&app->ports[i]);
	for (unsigned int i = 0; i < app->nb_lcores; i++)
		lcore_thread_reset(app->lcores[i]);
	done(out);
}

/* "/wirespeed/pause_pollers,ns=N" */
static void
pause_pollers(struct app *app, const char *params, struct telemetry_out *out)
{
	static const char key[] = "ns=";
	uint64_t pause_ns = 0;
	char *end = NULL;

	if (params != NULL && strncmp(params, key, strlen(key)) == 0)
		pause_ns = strtoull(params + strlen(key), &end, 10);
	if (end == NULL || *end != '\0' || pause_ns > PAUSE_NS_MAX)
		telemetry_error(out, "pause_pollers %s: only ns=N with N up to %d is known",
				params == NULL ? "" : params, PAUSE_NS_MAX);
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
latency_rows(struct app *app, const char *params, struct telemetry_out *out)
{
	export(app, "latency_rows", params, out);
}

static const struct {
	const char *name;
	void (*handle)(struct app *app, const char *params, struct telemetry_out *out);
	const char *help;
} commands[] = {
	{"/wirespeed/info", report_info, "Versions, tasks, ports"},
	{"/wirespeed/stats", report_stats, "Counters of every task"},
	{"/wirespeed/task", report_task, "Counters and own figures of a task. Parameter: TASK"},
	{"/wirespeed/lcores", report_lcores, "Polls, gaps and descheduling of every lcore"},
	{"/wirespeed/gaps", report_gaps,
	 "Writes when lcores did not poll to a file. Parameter: FILE"},
	{"/wirespeed/ports", report_ports, "Link and counters of every port"},
	{"/wirespeed/rings", report_rings, "Size and fill of every ring"},
	{"/wirespeed/reset", reset, "Forgets all counts. Parameter: gap_limit_ns=N (optional)"},
	{"/wirespeed/pause_pollers", pause_pollers,
	 "Leaves the CPUs to others. Parameter: ns=N, 0 to poll again"},
	{"/wirespeed/placement", command_placement, "What two CPUs share. Parameters: A,B"},
	{"/wirespeed/contention", command_contention,
	 "Samples CPUs for a while. Parameters: after_ns=N,duration_ns=N,cpu=A,cpu=B,..."},
	{"/wirespeed/contention_samples", command_contention_samples,
	 "Writes the samples to a file; waits for the end. Parameter: FILE"},
	{"/wirespeed/switches", command_switches,
	 "Records threads' context switches. Parameters: tid=A,tid=B,..."},
	{"/wirespeed/switches_stop", command_switches_stop,
	 "Ends that and writes the records to a file. Parameter: FILE"},
	{"/wirespeed/start", start, "Starts all generators. Parameters: key=value,..."},
	{"/wirespeed/stop", stop, "Stops all generators"},
	{"/wirespeed/set", set, "Changes a task's arguments. Parameters: TASK,key=value,..."},
	{"/wirespeed/histogram", histogram, "Writes a histogram to a file. Parameters: TASK,FILE"},
	{"/wirespeed/capture", capture, "Writes captured frames to a file. Parameters: TASK,FILE"},
	{"/wirespeed/windows", windows,
	 "Writes counts by time stamp to a file. Parameters: TASK,FILE"},
	{"/wirespeed/latency_rows", latency_rows,
	 "Writes latencies by time stamp to a file. Parameters: TASK,FILE"},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct app *served; /* rte_telemetry of DPDK 22.11 hands its handlers no argument */

static int
serve(const char *command, const char *params, struct rte_tel_data *data)
{
	struct telemetry_reply reply = {0};
	struct telemetry_out out = {.reply = &reply, .data = data};

	rte_tel_data_start_dict(data);
	pthread_mutex_lock(&lock);
	if (served == NULL)
		telemetry_error(&out, "wsdp is stopping");
	for (size_t i = 0; served != NULL && i < RTE_DIM(commands); i++)
		if (strcmp(command, commands[i].name) == 0)
			commands[i].handle(served, params, &out);
	pthread_mutex_unlock(&lock);
	if (reply.overflow)
		telemetry_error(&out, "the reply exceeds 16 KiB; ask for one task at a time");
	return 0;
}

int
telemetry_start(struct app *app)
{
	static bool registered;

	served = app;
	for (size_t i = 0; !registered && i < RTE_DIM(commands); i++) {
		int ret = rte_telemetry_register_cmd(commands[i].name, serve, commands[i].help);

		if (ret != 0) {
			fprintf(stderr, "wsdp: telemetry command %s cannot be registered: %s\n",
				commands[i].name, strerror(-ret));
			return ret;
		}
	}
	registered = true;
	return 0;
}

void
telemetry_stop(void)
{
	pthread_mutex_lock(&lock);
	served = NULL;
	switch_log_abandon();
	pthread_mutex_unlock(&lock);
}
