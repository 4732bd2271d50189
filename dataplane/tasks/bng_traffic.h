/* SPDX-License-Identifier: Apache-2.0 */
/* A gateway's test traffic, the content "bng" of gen and sink: docs/reference/bng.md. */
#ifndef TASKS_BNG_TRAFFIC_H
#define TASKS_BNG_TRAFFIC_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "content.h"
#include "pktlib/bng/script.h"

/* In struct content_keys. */
struct bng_traffic_keys {
	struct bng_script_spec spec;
	const char *tables;
	uint32_t arp_every; /* gen: one announcement in this many frames; 0: none */
	bool translated;    /* sink: a gateway is between */
	uint8_t port;       /* sink: the gateway's port that it listens to */
};

static_assert(sizeof(struct bng_traffic_keys) <= CONTENT_KEYS_BYTES, "the keys fit");

/* Read the keys that both sides have. Returns 0, or -1 after config_fault. */
int bng_traffic_read(struct bng_traffic_keys *keys, const struct config_section *section);
/* Build the script on the task's NUMA node. Returns 0 or a negative errno, after a message. */
int bng_traffic_open(struct bng_script *script, const struct bng_traffic_keys *keys,
		     const struct task *task);

int bng_traffic_gen_read(struct gen_config *config, const struct config_section *section);
int bng_traffic_gen_open(struct gen_source *source, const struct gen_config *config,
			 const struct task *task);
void bng_traffic_gen_rewind(struct gen_source *source);
void bng_traffic_gen_close(struct gen_source *source);

int bng_traffic_sink_read(struct content_keys *keys, uint32_t *flows,
			  const struct config_section *section);
void *bng_traffic_sink_open(const struct content_keys *keys, const struct task *task);
enum verdict bng_traffic_judge(void *state, const struct verdict_rule *rule, const uint8_t *frame,
			       uint32_t len, struct stamp *stamp);
void bng_traffic_sink_stats(const void *state, struct telemetry_out *out);
void bng_traffic_sink_reset(void *state);
void bng_traffic_sink_close(void *state);

#endif
