/* SPDX-License-Identifier: Apache-2.0 */
#include "router_sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/telemetry_reply.h"
#include "router_check.h"

#define SAMPLED 16 /* addresses at once */
#define LINE_BYTES 1024

int
sampler_open(struct sampler *sampler, const char *task, struct router_space *space,
	     const uint32_t *indexes, const char *const *names, unsigned int nb)
{
	int ret = checker_open(&sampler->checker, task, space, indexes, names, nb);

	sampler->checker.feed.is_without_routes = true;
	return ret;
}

void
sampler_close(struct sampler *sampler)
{
	checker_close(&sampler->checker);
}

/* Take some routes of the state, in any order. */
static void
pick(struct sampler *sampler, const struct kernel *kernel, struct routes *picked)
{
	const struct table *table = &kernel->routes;

	for (uint32_t i = 0; i < SAMPLED && table->count > 0; i++) {
		uint32_t place = samples_random(&sampler->checker.samples) % table->capacity;
		const struct kernel_route *route =
			table_next(table, table->records + (size_t)place * table->record);
		struct route *one = &picked->list[picked->nb_routes];

		/* The rest of the table is empty. */
		if (route == NULL)
			continue;
		*one = (struct route){.version = route->key.version,
				      .length = route->key.length,
				      .vrf = route->key.vrf};
		memcpy(one->prefix, route->key.prefix, sizeof(one->prefix));
		picked->nb_routes++;
	}
}

/* Compare the answers; `line`: the first difference. */
static void
compare(struct sampler *sampler, const struct routes *answers, char *line,
	struct router_difference_counts *counts)
{
	const struct checker *checker = &sampler->checker;
	FILE *file = fmemopen(line, LINE_BYTES, "w");

	if (file == NULL)
		return;
	router_compare_samples(atomic_load(&checker->space->current), &checker->samples, answers,
			       checker->names, file, counts);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
}

static void
judge(struct sampler *sampler, const struct router_difference_counts *counts, const char *line)
{
	sampler->sampled += counts->samples;
	if (counts->wrong_samples > 0 && !sampler->was_wrong) {
		sampler->was_wrong = true;
		return;
	}
	sampler->was_wrong = false;
	sampler->wrong += counts->wrong_samples;
	sampler->checker.samples.nb = 0;
	if (counts->wrong_samples == 0 || sampler->is_said)
		return;
	sampler->is_said = true;
	fprintf(stderr,
		"wsdp: [task.%s] kernel: it routes otherwise than the tables: %s; `wirespeed router "
		"check` compares all\n",
		sampler->checker.task, line);
}

void
sampler_run(struct sampler *sampler, const struct kernel *kernel)
{
	static const atomic_bool never;
	struct route list[SAMPLED];
	struct routes picked = {.list = list}, answers;
	struct router_difference_counts counts = {0};
	char line[LINE_BYTES] = "";

	if (sampler->checker.samples.nb == 0) {
		pick(sampler, kernel, &picked);
		samples_draw(&sampler->checker.samples, &picked, kernel, SAMPLED);
	}
	if (checker_ask(&sampler->checker, &answers, &never) != 0)
		return;
	compare(sampler, &answers, line, &counts);
	routes_free(&answers);
	judge(sampler, &counts, line);
}

void
sampler_stats(const struct sampler *sampler, struct telemetry_out *out)
{
	telemetry_u64(out, "sampled", sampler->sampled);
	telemetry_u64(out, "sampled_wrong", sampler->wrong);
}
