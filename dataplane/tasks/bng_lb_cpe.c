/* SPDX-License-Identifier: Apache-2.0 */
/* bng_lb_cpe: spread subscribers' frames over workers. Worker i, at the i-th output, owns the
 * subscribers whose key is i modulo the number of outputs: bng_lb_inet sends it the other direction.
 *
 * What has no known pair of tags is dropped here: no worker knows it either. */
#include <errno.h>
#include <string.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "bng_files.h"
#include "bng_lines.h"
#include "bng_send.h"
#include "bng_worker.h"
#include "core/arguments.h"
#include "core/config.h"
#include "core/telemetry.h"

#define LINES (1u << 24) /* pairs of S-VID and C-VID */
#define NOBODY 0         /* worker i is i + 1 */

struct bng_lb_cpe {
	uint8_t *workers; /* of each pair of tags */
	uint64_t no_user, type;
	char path[BNG_PATH_LEN];
};

static int
bng_lb_cpe_init(struct task *task, const struct config_section *section)
{
	struct bng_lb_cpe *lb = task->priv;
	const char *path = config_string(section, "tables");

	if (!config_require(section, "tables") || bng_file_get(section, path) == NULL)
		return -EINVAL;
	rte_strscpy(lb->path, path, sizeof(lb->path));
	return 0;
}

static void
own(struct task *task, uint32_t line, uint32_t key)
{
	struct bng_lb_cpe *lb = task->priv;

	lb->workers[line] = (uint8_t)(key % task->nb_out + 1);
}

static int
bng_lb_cpe_prepare(struct task *task)
{
	struct bng_lb_cpe *lb = task->priv;
	const struct bng_table_file *file = bng_file_find(lb->path);

	lb->workers = rte_zmalloc_socket(task->name, LINES, RTE_CACHE_LINE_SIZE, task->socket_id);
	for (uint32_t i = 0; lb->workers != NULL && file != NULL && i < file->nb_users; i++)
		own(task, file->users[i].line, file->users[i].key);
	bng_file_put(lb->path);
	return lb->workers == NULL ? -ENOMEM : 0;
}

static inline void
prefetch_worker(const void *workers, uint32_t line)
{
	rte_prefetch0((const uint8_t *)workers + line);
}

/* Find the output of every frame, or TASK_MAX_OUT: it is dropped. */
static void
choose(struct bng_lb_cpe *lb, struct rte_mbuf **mbufs, uint16_t n, uint8_t *outputs)
{
	uint32_t lines[TASK_BURST];

	bng_lines_read(mbufs, n, lines, prefetch_worker, lb->workers);
	for (uint16_t i = 0; i < n; i++) {
		uint8_t worker = likely(lines[i] != BNG_NO_LINE) ? lb->workers[lines[i]] : NOBODY;

		outputs[i] = worker == NOBODY ? TASK_MAX_OUT : worker - 1;
		lb->type += lines[i] == BNG_NO_LINE;
		lb->no_user += worker == NOBODY && lines[i] != BNG_NO_LINE;
	}
}

static void
bng_lb_cpe_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	uint8_t outputs[TASK_BURST];
	struct bng_lb_cpe *lb = task->priv;

	choose(lb, mbufs, n, outputs);
	bng_scatter(task, mbufs, outputs, n);
}

static void
bng_lb_cpe_stats(const struct task *task, struct telemetry_out *out)
{
	const struct bng_lb_cpe *lb = task->priv;

	telemetry_u64(out, "no_user", lb->no_user);
	telemetry_u64(out, "type", lb->type);
}

static void
bng_lb_cpe_reset(struct task *task)
{
	struct bng_lb_cpe *lb = task->priv;

	lb->no_user = lb->type = 0;
}

static int
change(struct task *task, const struct argument *argument)
{
	struct bng_lb_cpe *lb = task->priv;
	struct bng_user_entry user;
	bool adds;
	int ret = bng_user_argument(argument, &user, &adds);

	if (ret != 0)
		return ret;
	if (adds) {
		if (lb->workers[user.line] != NOBODY)
			return -EEXIST;
		own(task, user.line, user.key);
		return 0;
	}
	if (lb->workers[user.line] != user.key % task->nb_out + 1)
		return -ENOENT;
	lb->workers[user.line] = NOBODY;
	return 0;
}

/* "set,user=..." and "set,no_user=...", as for the workers. */
static int
bng_lb_cpe_control(struct task *task, const char *verb, const char *args)
{
	struct argument argument;
	int ret;

	if (strcmp(verb, "set") != 0)
		return 0;
	while ((ret = arguments_next(&args, &argument)) == 1) {
		ret = change(task, &argument);
		if (ret != 0)
			return ret;
	}
	return ret;
}

static void
bng_lb_cpe_close(struct task *task)
{
	struct bng_lb_cpe *lb = task->priv;

	rte_free(lb->workers);
}

static const struct task_ops bng_lb_cpe = {
	.name = "bng_lb_cpe",
	.private_size = sizeof(struct bng_lb_cpe),
	.takes_input = true,
	.max_out = BNG_MAX_OUT,
	.init = bng_lb_cpe_init,
	.prepare = bng_lb_cpe_prepare,
	.handle = bng_lb_cpe_handle,
	.stats = bng_lb_cpe_stats,
	.reset = bng_lb_cpe_reset,
	.control = bng_lb_cpe_control,
	.close = bng_lb_cpe_close,
};

TASK_REGISTER(bng_lb_cpe)
