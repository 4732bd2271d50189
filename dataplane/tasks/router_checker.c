/* SPDX-License-Identifier: Apache-2.0 */
#include "router_checker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cycles.h>

#include "core/export.h"
#include "core/reload.h"
#include "core/telemetry_reply.h"
#include "mirror/compile.h"
#include "router_check.h"

/* What tables are compared with: the kernel's routes, and those of its answers. */
struct wanted {
	struct routes routes, answers;
	struct compile_report report; /* of the routes */
};

int
checker_open(struct checker *checker, const char *task, struct router_space *space,
	     const uint32_t *indexes, const char *const *names, unsigned int nb)
{
	*checker = (struct checker){
		.task = task, .space = space, .indexes = indexes, .names = names, .nb = nb};
	checker->samples.random = rte_rdtsc() | 1;
	return feed_open(&checker->feed, 0);
}

void
checker_close(struct checker *checker)
{
	feed_close(&checker->feed);
}

/* Read the kernel's routes and its answers. Returns 0 or a negative errno with nothing left. */
static int
read_kernel(struct checker *checker, struct kernel *kernel, struct wanted *wanted,
	    const atomic_bool *cancel)
{
	int ret = feed_wait_dump(&checker->feed, kernel, cancel);
	struct hop_ids ids;

	if (ret != 0)
		return ret;
	hop_ids_open(&ids);
	if (!compile(kernel, &ids, &wanted->routes, &wanted->report))
		ret = -ENOMEM;
	hop_ids_close(&ids);
	if (ret != 0)
		return ret;
	if (checker->samples.nb == 0)
		samples_draw(&checker->samples, &wanted->routes, kernel, SAMPLES);
	kernel_forget_routes(kernel);
	ret = samples_ask(&checker->samples, &checker->feed, kernel, &wanted->answers, cancel);
	if (ret != 0)
		routes_free(&wanted->routes);
	return ret;
}

int
checker_ask(struct checker *checker, struct routes *answers, const atomic_bool *cancel)
{
	struct kernel *kernel = malloc(sizeof(*kernel));
	int ret;

	if (kernel == NULL)
		return -ENOMEM;
	kernel_open(kernel, checker->indexes, checker->nb);
	ret = feed_wait_dump(&checker->feed, kernel, cancel);
	if (ret == 0)
		ret = samples_ask(&checker->samples, &checker->feed, kernel, answers, cancel);
	kernel_close(kernel);
	free(kernel);
	return ret;
}

static void
report(const struct wanted *wanted, const struct router_difference_counts *counts,
       struct telemetry_out *out)
{
	telemetry_u64(out, "neighbours_over_hops", wanted->report.over_neighbours);
	telemetry_u64(out, "routes_over_hops", wanted->report.over_hops);
	telemetry_u64(out, "prefixes", counts->compared);
	telemetry_u64(out, "missing", counts->missing);
	telemetry_u64(out, "different", counts->different);
	telemetry_u64(out, "extra", counts->extra);
	telemetry_u64(out, "lookups", counts->lookups);
	telemetry_u64(out, "wrong_lookups", counts->wrong_lookups);
	telemetry_u64(out, "samples", counts->samples);
	telemetry_u64(out, "wrong_samples", counts->wrong_samples);
}

static int
compare(struct checker *checker, const struct wanted *wanted, const char *path,
	struct telemetry_out *out)
{
	const struct router_tables *tables;
	struct router_difference_counts counts;
	FILE *file = export_open(path);

	if (file == NULL)
		return telemetry_error(out, "%s: %s", path, strerror(errno)), -errno;
	reload_hold();
	tables = atomic_load(&checker->space->current);
	router_compare(tables, &wanted->routes, checker->names, file, &counts);
	router_compare_samples(tables, &checker->samples, &wanted->answers, checker->names, file,
			       &counts);
	reload_release();
	if (export_close(file) != 0)
		return telemetry_error(out, "%s: cannot be written", path), -EIO;
	/* Addresses that differ are asked for again: it may have been a change under way. */
	if (counts.wrong_samples == 0)
		checker->samples.nb = 0;
	report(wanted, &counts, out);
	return 0;
}

int
checker_run(struct checker *checker, const char *path, const atomic_bool *cancel,
	    struct telemetry_out *out)
{
	struct kernel *kernel = malloc(sizeof(*kernel));
	struct wanted wanted;
	int ret = -ENOMEM;

	if (kernel != NULL) {
		kernel_open(kernel, checker->indexes, checker->nb);
		ret = read_kernel(checker, kernel, &wanted, cancel);
		kernel_close(kernel);
		free(kernel);
	}
	if (ret != 0) {
		telemetry_error(out, "%s: the kernel's routes cannot be read: %s", checker->task,
				strerror(-ret));
		return ret;
	}
	ret = compare(checker, &wanted, path, out);
	routes_free(&wanted.routes);
	routes_free(&wanted.answers);
	return ret;
}
