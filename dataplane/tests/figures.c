/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/telemetry.h"
#include "figures.h"

static const char *wanted;
static unsigned int found;
static uint64_t found_value;

/* The linker calls this instead of telemetry_u64. */
void __wrap_telemetry_u64(struct telemetry_out *out, const char *key, uint64_t value);

void
__wrap_telemetry_u64(struct telemetry_out *out __rte_unused, const char *key, uint64_t value)
{
	if (wanted == NULL || strcmp(key, wanted) != 0)
		return;
	found++;
	found_value = value;
}

uint64_t
figure(struct bench *bench, const char *task, const char *name)
{
	const struct task *of = bench_task(bench, task);

	wanted = name;
	found = 0;
	of->ops->stats(of, NULL);
	wanted = NULL;
	CHECK_EQ(found, 1);
	return found_value;
}
