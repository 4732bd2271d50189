/* SPDX-License-Identifier: Apache-2.0 */
/* Check the frames that a BNG under test let out, against the tables and the port they left by. */
#include <assert.h>
#include <string.h>
#include <rte_malloc.h>

#include "bng_traffic.h"
#include "core/config.h"
#include "core/task.h"
#include "core/telemetry.h"
#include "pktlib/bng/content.h"

static_assert(BNG_CONTENT_READS <= VERDICT_READS, "all headers are at hand");

struct sink_state {
	struct bng_script script;
	struct bng_content_rule rule;
	uint64_t contents[BNG_CONTENTS]; /* frames that were not right, by cause */
};

int
bng_traffic_sink_read(struct content_keys *content_keys, uint32_t *flows,
		      const struct config_section *section)
{
	struct bng_traffic_keys *keys = (void *)content_keys;
	uint16_t port = 0;
	int ret = bng_traffic_read(keys, section);

	keys->translated = true;
	ret |= config_bool(section, "gateway", &keys->translated);
	ret |= config_u16(section, "bng_port", &port, 0, BNG_PORTS_MAX - 1);
	keys->port = (uint8_t)port;
	*flows = RTE_MAX(keys->spec.flows, 1u);
	return ret == 0 ? 0 : -1;
}

void *
bng_traffic_sink_open(const struct content_keys *content_keys, const struct task *task)
{
	const struct bng_traffic_keys *keys = (const void *)content_keys;
	struct sink_state *state = rte_zmalloc_socket(task->name, sizeof(*state),
						      RTE_CACHE_LINE_SIZE, task->socket_id);

	if (state == NULL || bng_traffic_open(&state->script, keys, task) != 0) {
		rte_free(state);
		return NULL;
	}
	state->rule = (struct bng_content_rule){
		.script = &state->script,
		.translated = keys->translated,
		.port = keys->port,
	};
	return state;
}

void
bng_traffic_sink_close(void *opened)
{
	struct sink_state *state = opened;

	bng_script_free(&state->script);
	rte_free(state);
}

static bool
is_stamped(const struct verdict_rule *rule, const struct bng_content_seen *seen,
	   const uint8_t *frame, struct stamp *stamp, uint32_t *stream)
{
	if (seen->stamp_at == 0 || !stamp_read(frame + seen->stamp_at, stamp))
		return false;
	*stream = (uint32_t)stamp->stream - rule->first_stream;
	return true;
}

enum verdict
bng_traffic_judge(void *opened, const struct verdict_rule *rule, const uint8_t *frame, uint32_t len,
		  struct stamp *stamp)
{
	struct sink_state *state = opened;
	struct bng_content_seen seen;
	enum bng_content content;
	uint32_t stream = 0;
	bool stamped;

	if (!bng_content_find(&state->rule, frame, len, &seen))
		return VERDICT_FOREIGN;
	stamped = is_stamped(rule, &seen, frame, stamp, &stream);
	if (stamped && stream >= rule->streams)
		return VERDICT_FOREIGN;
	if (stamped && stamp->trial != rule->trial)
		return VERDICT_STALE;
	content = bng_content_judge(&state->rule, frame, len, &seen);
	/* A stamp tells the same as the headers: flow and number. */
	if (content == BNG_CONTENT_RIGHT && seen.stamp_at != 0 &&
	    (!stamped || stamp->flow != seen.flow ||
	     (uint16_t)stamp->sequence != be16_load(frame + seen.inner_at + 4)))
		content = BNG_CONTENT_PACKET;
	if (content != BNG_CONTENT_RIGHT) {
		state->contents[content]++;
		return bng_content_is_misdirected(content) ? VERDICT_MISDIRECTED : VERDICT_CORRUPT;
	}
	if (!stamped)
		return VERDICT_UNSTAMPED;
	stamp->flow += stream * rule->flows;
	return VERDICT_OURS;
}

void
bng_traffic_sink_stats(const void *opened, struct telemetry_out *out)
{
	const struct sink_state *state = opened;

	for (enum bng_content content = BNG_CONTENT_FORMAT; content < BNG_CONTENTS; content++)
		telemetry_u64(out, bng_content_name(content), state->contents[content]);
}

void
bng_traffic_sink_reset(void *opened)
{
	struct sink_state *state = opened;

	memset(state->contents, 0, sizeof(state->contents));
}
