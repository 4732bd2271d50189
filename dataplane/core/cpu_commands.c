/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that look at CPUs instead of frames. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "arguments.h"
#include "commands.h"
#include "proximity.h"
#include "pulse.h"
#include "telemetry_reply.h"

#define AFTER_NS_MAX NS_PER_S
#define DURATION_NS_MAX (UINT64_C(24) * 3600 * NS_PER_S)

/* "/wirespeed/proximity,A,B" */
void
command_proximity(struct app *app __rte_unused, const char *params, struct telemetry_out *out)
{
	struct proximity found = {0};
	uint32_t a, b;
	char beyond;
	int ret;

	if (params == NULL || sscanf(params, "%u,%u%c", &a, &b, &beyond) != 2) {
		telemetry_error(out, "proximity %s: two CPUs are wanted, A,B",
				params == NULL ? "" : params);
		return;
	}
	ret = proximity_measure(a, b, &found);
	if (ret != 0) {
		telemetry_error(out, "proximity %s: %s", params, strerror(-ret));
		return;
	}
	telemetry_u64(out, "core_to_core_ns", found.core_to_core_ns);
	telemetry_u64(out, "slowdown_pct", found.slowdown_pct);
}

struct pulse_request {
	uint64_t after_ns, duration_ns;
	unsigned int nb_cpus;
	uint32_t cpus[PULSE_CPUS_MAX];
};

static int
read_pulse(const char *args, struct pulse_request *request)
{
	struct argument argument;
	uint64_t cpu;
	int ret;

	while ((ret = arguments_next(&args, &argument)) > 0) {
		if (strcmp(argument.key, "after_ns") == 0) {
			ret = argument_u64(&argument, &request->after_ns, 0, AFTER_NS_MAX);
		} else if (strcmp(argument.key, "duration_ns") == 0) {
			ret = argument_u64(&argument, &request->duration_ns, 1, DURATION_NS_MAX);
		} else if (strcmp(argument.key, "cpu") == 0 && request->nb_cpus < PULSE_CPUS_MAX) {
			ret = argument_u64(&argument, &cpu, 0, UINT32_MAX);
			request->cpus[request->nb_cpus++] = (uint32_t)cpu;
		} else {
			ret = -EINVAL;
		}
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* "/wirespeed/pulse,after_ns=N,duration_ns=N,cpu=A,cpu=B,..." */
void
command_pulse(struct app *app __rte_unused, const char *params, struct telemetry_out *out)
{
	struct pulse_request request = {0};
	const char *args = params == NULL ? "" : params;
	int ret = read_pulse(args, &request);

	if (ret == 0)
		ret = pulse_start(request.cpus, request.nb_cpus, request.after_ns,
				  request.duration_ns);
	if (ret != 0)
		telemetry_error(out, "pulse %s: %s", args, strerror(-ret));
	else
		telemetry_u64(out, "ok", 1);
}

/* "/wirespeed/pulsed" */
void
command_pulsed(struct app *app __rte_unused, const char *params __rte_unused,
	       struct telemetry_out *out)
{
	struct pulse_figures figures[PULSE_CPUS_MAX];
	unsigned int count = pulse_finish(figures);
	struct telemetry_out child;
	char key[16];

	for (unsigned int i = 0; i < count && telemetry_open(out, &child); i++) {
		telemetry_u64(&child, "beats", figures[i].beats);
		telemetry_u64(&child, "slow_beats", figures[i].slow_beats);
		telemetry_u64(&child, "work_ns", figures[i].work_ns);
		telemetry_u64(&child, "ran_ns", figures[i].ran_ns);
		snprintf(key, sizeof(key), "%u", figures[i].cpu);
		telemetry_close(out, key, &child);
	}
}
