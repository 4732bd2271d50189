/* SPDX-License-Identifier: Apache-2.0 */
/* The keys by which a gen or sink task is told what the gateway in its test looks like. */
#ifndef TASKS_BNG_SCRIPT_TASK_H
#define TASKS_BNG_SCRIPT_TASK_H

#include <stdbool.h>

#include "core/task.h"
#include "pktlib/bng/script.h"

struct config_section;

struct bng_script_keys {
	struct bng_script_spec spec;
	const char *tables; /* NULL: no gateway in this test */
};

/* Read `bng` and the keys that go with it. Without `bng`, those keys are nobody's. Returns 0, or -1
 * after config_fault. */
int bng_script_read(struct bng_script_keys *keys, const struct config_section *section);
/* Build the script on the task's NUMA node. Returns 0 or a negative errno, after a message. */
int bng_script_open(struct bng_script *script, const struct bng_script_keys *keys,
		    const struct task *task);

#endif
