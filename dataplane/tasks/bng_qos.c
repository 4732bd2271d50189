/* SPDX-License-Identifier: Apache-2.0 */
/* bng_qos: no subscriber gets more than was sold. Meters every subscriber's frames on the CPE side,
 * either direction, with two rates and three colours (RFC 2698) or one rate and three colours (RFC
 * 2697); green and yellow pass, red is dropped. A subscriber is a pair of tags; octets count as on
 * the line, with FCS. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_meter.h>

#include "bng_files.h"
#include "bng_lines.h"
#include "bng_worker.h"
#include "core/arguments.h"
#include "core/config.h"
#include "core/telemetry.h"

#define BITS 8
#define RATE_MAX UINT64_C(400000000000) /* bit/s */
#define BUCKET_MAX (UINT32_C(1) << 30)

enum algorithm { TRTCM, SRTCM };

union meter {
	struct rte_meter_trtcm two_rates;
	struct rte_meter_srtcm one_rate;
};

struct bng_qos {
	struct bng_map lines; /* S-VID and C-VID -> number of the meter + 1 */
	union meter *meters;
	uint32_t *free_meters; /* a stack */
	uint32_t nb_meters, nb_free;
	unsigned int algorithm;
	struct rte_meter_trtcm_profile two_rates;
	struct rte_meter_srtcm_profile one_rate;
	uint64_t colours[RTE_COLORS];
	uint64_t no_user, type;
	uint64_t cir_bps, pir_bps;
	uint32_t cbs_bytes, pbs_bytes, ebs_bytes;
	uint32_t room_users;
	uint32_t worker, workers;
	const struct bng_memory *memory;
	char path[BNG_PATH_LEN];
};

/* Read the keys of the chosen algorithm. Keys of the other one are rejected as unknown. */
static int
read_rates(struct bng_qos *qos, const struct config_section *section)
{
	bool two = qos->algorithm == TRTCM;
	int ret = config_u64(section, "cir_bps", &qos->cir_bps, BITS, RATE_MAX);

	ret |= config_u32(section, "cbs_bytes", &qos->cbs_bytes, RTE_ETHER_MIN_LEN, BUCKET_MAX);
	if (two) {
		ret |= config_u64(section, "pir_bps", &qos->pir_bps, BITS, RATE_MAX);
		ret |= config_u32(section, "pbs_bytes", &qos->pbs_bytes, RTE_ETHER_MIN_LEN,
				  BUCKET_MAX);
	} else {
		ret |= config_u32(section, "ebs_bytes", &qos->ebs_bytes, 0, BUCKET_MAX);
	}
	if (!(config_require(section, "cir_bps") & config_require(section, "cbs_bytes") &
	      config_require(section, two ? "pir_bps" : "ebs_bytes")) ||
	    (two && !config_require(section, "pbs_bytes")))
		return -1;
	if (ret == 0 && two && qos->pir_bps < qos->cir_bps) {
		config_fault(section, "pir_bps", "must be at least cir_bps = %lu",
			     (unsigned long)qos->cir_bps);
		return -1;
	}
	return ret;
}

static int
bng_qos_init(struct task *task, const struct config_section *section)
{
	static const char *const algorithms[] = {"trtcm", "srtcm", NULL};
	const char *path = config_string(section, "tables");
	struct bng_qos *qos = task->priv;
	int ret = config_enum(section, "algorithm", algorithms, &qos->algorithm);

	qos->workers = 1;
	qos->room_users = 1024;
	ret |= config_u32(section, "workers", &qos->workers, 1, BNG_WORKERS_MAX);
	ret |= config_u32(section, "worker", &qos->worker, 0, qos->workers - 1);
	ret |= config_u32(section, "room_users", &qos->room_users, 0, 1u << 24);
	ret |= read_rates(qos, section);
	if (!config_require(section, "tables") || ret != 0)
		return -EINVAL;
	if (snprintf(qos->path, sizeof(qos->path), "%s", path) >= (int)sizeof(qos->path)) {
		config_fault(section, "tables", "must be shorter than %d octets", BNG_PATH_LEN);
		return -EINVAL;
	}
	return bng_file_get(section, path) == NULL ? -EINVAL : 0;
}

/* Take a full meter for a subscriber. Returns 0, -EEXIST or -ENOSPC. */
static int
add_user(struct bng_qos *qos, uint32_t line)
{
	union meter *meter;

	if (bng_map_get(&qos->lines, line) != 0)
		return -EEXIST;
	if (qos->nb_free == 0 ||
	    bng_map_set(&qos->lines, line, qos->free_meters[qos->nb_free - 1] + 1) != 0)
		return -ENOSPC;
	meter = &qos->meters[qos->free_meters[--qos->nb_free]];
	if (qos->algorithm == TRTCM)
		return rte_meter_trtcm_config(&meter->two_rates, &qos->two_rates);
	return rte_meter_srtcm_config(&meter->one_rate, &qos->one_rate);
}

static int
remove_user(struct bng_qos *qos, uint32_t line)
{
	uint32_t value = bng_map_get(&qos->lines, line);

	if (value == 0)
		return -ENOENT;
	bng_map_remove(&qos->lines, line);
	qos->free_meters[qos->nb_free++] = value - 1;
	return 0;
}

static int
make_profile(struct bng_qos *qos)
{
	struct rte_meter_trtcm_params two_rates = {
		.cir = qos->cir_bps / BITS,
		.pir = qos->pir_bps / BITS,
		.cbs = qos->cbs_bytes,
		.pbs = qos->pbs_bytes,
	};
	struct rte_meter_srtcm_params one_rate = {
		.cir = qos->cir_bps / BITS,
		.cbs = qos->cbs_bytes,
		.ebs = qos->ebs_bytes,
	};

	return qos->algorithm == TRTCM ? rte_meter_trtcm_profile_config(&qos->two_rates, &two_rates)
				       : rte_meter_srtcm_profile_config(&qos->one_rate, &one_rate);
}

static int
build(struct bng_qos *qos, const struct bng_table_file *file)
{
	uint32_t nb = 0, first = UINT32_MAX, last = 0;
	int ret = make_profile(qos);

	for (uint32_t i = 0; i < file->nb_users; i++) {
		if (file->users[i].key % qos->workers != qos->worker)
			continue;
		nb++;
		first = RTE_MIN(first, file->users[i].line);
		last = RTE_MAX(last, file->users[i].line);
	}
	qos->nb_meters = nb + qos->room_users;
	qos->meters = qos->memory->take(qos->memory,
					(qos->nb_meters + UINT64_C(1)) * sizeof(union meter));
	qos->free_meters =
		qos->memory->take(qos->memory, (qos->nb_meters + UINT64_C(1)) * sizeof(uint32_t));
	if (qos->meters == NULL || qos->free_meters == NULL ||
	    bng_map_init(&qos->lines, qos->memory, nb, first, last, qos->room_users) != 0)
		return -ENOMEM;
	while (qos->nb_free < qos->nb_meters) {
		qos->free_meters[qos->nb_free] = qos->nb_meters - 1 - qos->nb_free;
		qos->nb_free++;
	}
	for (uint32_t i = 0; i < file->nb_users && ret == 0; i++)
		if (file->users[i].key % qos->workers == qos->worker)
			ret = add_user(qos, file->users[i].line);
	return ret;
}

static void
release(struct bng_qos *qos)
{
	bng_map_free(&qos->lines);
	qos->memory->give(qos->memory, qos->meters);
	qos->memory->give(qos->memory, qos->free_meters);
}

static int
bng_qos_prepare(struct task *task)
{
	struct bng_qos *qos = task->priv;
	const struct bng_table_file *file = bng_file_find(qos->path);
	int ret;

	qos->memory = bng_memory_of(task->socket_id);
	ret = file == NULL ? -ENOENT : build(qos, file);
	if (ret != 0) {
		fprintf(stderr, "wsdp: [task.%s] tables = %s: no meters for %u users: %s\n",
			task->name, qos->path, file == NULL ? 0 : file->nb_users, strerror(-ret));
		release(qos);
	}
	bng_file_put(qos->path);
	return ret;
}

static enum rte_color
colour_of(struct bng_qos *qos, uint32_t value, uint64_t now, uint32_t octets)
{
	union meter *meter = &qos->meters[value - 1];

	return qos->algorithm == TRTCM
		       ? rte_meter_trtcm_color_blind_check(&meter->two_rates, &qos->two_rates, now,
							   octets)
		       : rte_meter_srtcm_color_blind_check(&meter->one_rate, &qos->one_rate, now,
							   octets);
}

static inline void
prefetch_meter(const void *lines, uint32_t line)
{
	bng_map_prefetch(lines, line);
}

/* Find the meters of a burst and bring them into the cache; 0: there is none. */
static void
find_meters(struct bng_qos *qos, struct rte_mbuf **mbufs, uint16_t n, uint32_t *values)
{
	uint32_t lines[TASK_BURST];

	bng_lines_read(mbufs, n, lines, prefetch_meter, &qos->lines);
	for (uint16_t i = 0; i < n; i++) {
		values[i] = lines[i] == BNG_NO_LINE ? 0 : bng_map_get(&qos->lines, lines[i]);
		if (likely(values[i] > 0))
			rte_prefetch0(&qos->meters[values[i] - 1]);
		qos->type += lines[i] == BNG_NO_LINE;
		qos->no_user += lines[i] != BNG_NO_LINE && values[i] == 0;
	}
}

static void
bng_qos_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct bng_qos *qos = task->priv;
	struct rte_mbuf *dropped[TASK_BURST];
	uint32_t values[TASK_BURST];
	uint64_t now = rte_rdtsc();
	uint16_t nb_dropped = 0, left = 0;

	find_meters(qos, mbufs, n, values);
	for (uint16_t i = 0; i < n; i++) {
		enum rte_color colour = RTE_COLOR_RED;

		if (likely(values[i] > 0)) {
			colour = colour_of(qos, values[i], now,
					   mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN);
			qos->colours[colour]++;
		}
		if (colour == RTE_COLOR_RED)
			dropped[nb_dropped++] = mbufs[i];
		else
			mbufs[left++] = mbufs[i];
	}
	if (left > 0)
		task_send(task, 0, mbufs, left);
	if (nb_dropped > 0)
		task_discard(task, dropped, nb_dropped);
}

static void
bng_qos_stats(const struct task *task, struct telemetry_out *out)
{
	const struct bng_qos *qos = task->priv;

	telemetry_u64(out, "green", qos->colours[RTE_COLOR_GREEN]);
	telemetry_u64(out, "yellow", qos->colours[RTE_COLOR_YELLOW]);
	telemetry_u64(out, "red", qos->colours[RTE_COLOR_RED]);
	telemetry_u64(out, "no_user", qos->no_user);
	telemetry_u64(out, "type", qos->type);
	telemetry_u64(out, "users", qos->nb_meters - qos->nb_free);
}

static void
bng_qos_reset(struct task *task)
{
	struct bng_qos *qos = task->priv;

	memset(qos->colours, 0, sizeof(qos->colours));
	qos->no_user = qos->type = 0;
}

/* "set,user=..." and "set,no_user=...", as for the workers. */
static int
bng_qos_control(struct task *task, const char *verb, const char *args)
{
	struct bng_qos *qos = task->priv;
	struct argument argument;
	int ret;

	if (strcmp(verb, "set") != 0)
		return 0;
	while ((ret = arguments_next(&args, &argument)) == 1) {
		struct bng_user_entry user;
		bool adds;

		ret = bng_user_argument(&argument, &user, &adds);
		if (ret == 0 && user.key % qos->workers != qos->worker)
			ret = -EXDEV;
		if (ret == 0)
			ret = adds ? add_user(qos, user.line) : remove_user(qos, user.line);
		if (ret != 0)
			return ret;
	}
	return ret;
}

static void
bng_qos_close(struct task *task)
{
	release(task->priv);
}

static const struct task_ops bng_qos = {
	.name = "bng_qos",
	.private_size = sizeof(struct bng_qos),
	.takes_input = true,
	.max_out = 1,
	.init = bng_qos_init,
	.prepare = bng_qos_prepare,
	.handle = bng_qos_handle,
	.stats = bng_qos_stats,
	.reset = bng_qos_reset,
	.control = bng_qos_control,
	.close = bng_qos_close,
};

TASK_REGISTER(bng_qos)
