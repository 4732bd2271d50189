/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that look at CPUs and threads instead of frames. They may take long, so they hold no lock
 * that others need. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "arguments.h"
#include "number.h"
#include "commands.h"
#include "contention_probe.h"
#include "cpu_placement.h"
#include "switch_log.h"
#include "telemetry_reply.h"

#define AFTER_NS_MAX NS_PER_S
#define NS_PER_MS UINT64_C(1000000)
/* A wake-up costs 20 to 30 us in a virtual machine, most of it for the timer: 1 to 1.5% of a CPU. */
#define PERIOD_NS (2 * NS_PER_MS)
#define PERIOD_NS_MIN (NS_PER_MS / 10)
#define DURATION_NS_MAX (UINT64_C(24) * 3600 * NS_PER_S)

static void
done(struct telemetry_out *out)
{
	telemetry_u64(out, "ok", 1);
}

/* "A,B" */
static int
read_pair(const char *text, uint32_t *a, uint32_t *b)
{
	size_t length = strcspn(text, ",");
	char first[sizeof("4294967295")];
	uint64_t values[2];

	if (text[length] != ',' || length >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, length);
	first[length] = '\0';
	if (number_u64(first, &values[0], 0, UINT32_MAX) != 0 ||
	    number_u64(text + length + 1, &values[1], 0, UINT32_MAX) != 0)
		return -EINVAL;
	*a = (uint32_t)values[0];
	*b = (uint32_t)values[1];
	return 0;
}

/* "/wirespeed/placement,A,B" */
void
watch_placement(const char *params, struct telemetry_out *out)
{
	struct cpu_placement found = {0};
	uint32_t a, b;
	int ret;

	if (read_pair(params, &a, &b) != 0) {
		telemetry_error(out, "placement %s: two CPUs are wanted, A,B", params);
		return;
	}
	ret = cpu_placement_measure(a, b, &found);
	if (ret != 0) {
		telemetry_error(out, "placement %s: %s", params, strerror(-ret));
		return;
	}
	telemetry_u64(out, "core_to_core_ns", found.core_to_core_ns);
	telemetry_u64(out, "slowdown_pct", found.slowdown_pct);
}

struct contention_request {
	uint64_t after_ns, duration_ns, period_ns;
	unsigned int nb_cpus;
	uint32_t cpus[CONTENTION_CPUS_MAX];
};

static int
read_contention(const char *args, struct contention_request *request)
{
	struct argument argument;
	uint64_t cpu;
	int ret;

	while ((ret = arguments_next(&args, &argument)) > 0) {
		if (strcmp(argument.key, "after_ns") == 0) {
			ret = number_u64(argument.value, &request->after_ns, 0, AFTER_NS_MAX);
		} else if (strcmp(argument.key, "period_ns") == 0) {
			ret = number_u64(argument.value, &request->period_ns, PERIOD_NS_MIN,
					 NS_PER_S);
		} else if (strcmp(argument.key, "duration_ns") == 0) {
			ret = number_u64(argument.value, &request->duration_ns, 1, DURATION_NS_MAX);
		} else if (strcmp(argument.key, "cpu") == 0 &&
			   request->nb_cpus < CONTENTION_CPUS_MAX) {
			ret = number_u64(argument.value, &cpu, 0, UINT32_MAX);
			request->cpus[request->nb_cpus++] = (uint32_t)cpu;
		} else {
			ret = -EINVAL;
		}
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* "/wirespeed/contention,after_ns=N,duration_ns=N,period_ns=N,cpu=A,cpu=B,..." */
void
watch_contention(const char *params, struct telemetry_out *out)
{
	struct contention_request request = {.period_ns = PERIOD_NS};
	int ret = read_contention(params, &request);

	if (ret == 0)
		ret = contention_probe_start(request.cpus, request.nb_cpus, request.after_ns,
					     request.duration_ns, request.period_ns);
	if (ret != 0)
		telemetry_error(out, "contention %s: %s", params, strerror(-ret));
	else
		done(out);
}

/* "/wirespeed/contention_samples,FILE" */
void
watch_contention_samples(const char *params, struct telemetry_out *out)
{
	int ret = contention_probe_finish(params);

	if (ret != 0)
		telemetry_error(out, "contention_samples to \"%s\": %s", params, strerror(-ret));
	else
		done(out);
}

/* "tid=A,cpu=B,..." */
static int
read_targets(const char *args, struct switch_log_target targets[SWITCH_LOG_WATCHED_MAX],
	     unsigned int *count)
{
	struct argument argument;
	uint64_t number;
	int ret;

	while ((ret = arguments_next(&args, &argument)) > 0) {
		bool is_cpu = strcmp(argument.key, "cpu") == 0;

		if ((!is_cpu && strcmp(argument.key, "tid") != 0) ||
		    *count == SWITCH_LOG_WATCHED_MAX)
			return -EINVAL;
		ret = number_u64(argument.value, &number, is_cpu ? 0 : 1, INT32_MAX);
		if (ret < 0)
			return ret;
		targets[(*count)++] = (struct switch_log_target){is_cpu, (uint32_t)number};
	}
	return ret;
}

/* Return the next step after a rejected request. */
static const char *
switches_advice(int error, bool is_cpu)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return is_cpu ? "; be root, have CAP_PERFMON, or set kernel.perf_event_paranoid to 0 or "
				"less"
			      : "; be root, have CAP_PERFMON, or set kernel.perf_event_paranoid to 2 or "
				"less for threads of your own";
	case ESRCH:
		return "; there is no such thread on this host";
	case ENODEV:
		return "; there is no such CPU on this host, or it is offline";
	case ENOSYS:
	case ENOENT:
	case EOPNOTSUPP:
		return "; this kernel has no perf events";
	case EBUSY:
		return "; end it with switches_stop";
	default:
		return "";
	}
}

/* "/wirespeed/switches,tid=A,cpu=B,..." */
void
watch_switches(const char *params, struct telemetry_out *out)
{
	struct switch_log_target targets[SWITCH_LOG_WATCHED_MAX];
	const struct switch_log_target *failed = NULL;
	unsigned int count = 0;
	int ret = read_targets(params, targets, &count);

	if (ret == 0)
		ret = switch_log_start(targets, count, &failed);
	if (ret == 0)
		done(out);
	else if (failed != NULL)
		telemetry_error(out, "switches %s=%u: %s%s", failed->is_cpu ? "cpu" : "tid",
				failed->number, strerror(-ret),
				switches_advice(-ret, failed->is_cpu));
	else
		telemetry_error(out, "switches %.60s: %s%s", params, strerror(-ret),
				switches_advice(-ret, false));
}

/* "/wirespeed/switches_stop,FILE" */
void
watch_switches_stop(const char *params, struct telemetry_out *out)
{
	int ret = switch_log_stop(params);

	if (ret == -ENODATA)
		telemetry_error(out, "switches_stop: nothing is watched; begin with switches");
	else if (ret != 0)
		telemetry_error(out, "switches_stop to \"%s\": %s", params, strerror(-ret));
	else
		done(out);
}
