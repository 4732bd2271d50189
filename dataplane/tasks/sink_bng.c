/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/config.h"
#include "sink_bng.h"

int
sink_bng_read(struct sink_bng *bng, const struct config_section *section)
{
	uint16_t port = 0;
	int ret = bng_script_read(&bng->keys, section);

	if (!sink_bng_is_on(bng))
		return ret;
	bng->rule.translated = true;
	ret |= config_bool(section, "gateway", &bng->rule.translated);
	ret |= config_u16(section, "bng_port", &port, 0, BNG_PORTS_MAX - 1);
	bng->rule.port = (uint8_t)port;
	return ret == 0 ? 0 : -1;
}

int
sink_bng_open(struct sink_bng *bng, const struct task *task)
{
	int ret = bng_script_open(&bng->script, &bng->keys, task);

	bng->rule.script = &bng->script;
	return ret;
}

void
sink_bng_close(struct sink_bng *bng)
{
	bng_script_free(&bng->script);
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
sink_bng_verdict(struct sink_bng *bng, const struct verdict_rule *rule, const uint8_t *frame,
		 uint32_t len, struct stamp *stamp)
{
	struct bng_content_seen seen;
	enum bng_content content;
	uint32_t stream = 0;
	bool stamped;

	if (!bng_content_find(&bng->rule, frame, len, &seen))
		return VERDICT_FOREIGN;
	stamped = is_stamped(rule, &seen, frame, stamp, &stream);
	if (stamped && stream >= rule->streams)
		return VERDICT_FOREIGN;
	if (stamped && stamp->trial != rule->trial)
		return VERDICT_STALE;
	content = bng_content_judge(&bng->rule, frame, len, &seen);
	/* A stamp tells the same as the headers: flow and number. */
	if (content == BNG_CONTENT_RIGHT && seen.stamp_at != 0 &&
	    (!stamped || stamp->flow != seen.flow ||
	     (uint16_t)stamp->sequence != be16_load(frame + seen.inner_at + 4)))
		content = BNG_CONTENT_PACKET;
	if (content != BNG_CONTENT_RIGHT) {
		bng->contents[content]++;
		return bng_content_is_misdirected(content) ? VERDICT_MISDIRECTED : VERDICT_CORRUPT;
	}
	if (!stamped)
		return VERDICT_UNSTAMPED;
	stamp->flow += stream * rule->flows;
	return VERDICT_OURS;
}

uint64_t
sink_bng_misdirected(const struct sink_bng *bng)
{
	uint64_t sum = 0;

	for (enum bng_content content = BNG_CONTENT_PORT; content < BNG_CONTENTS; content++)
		sum += bng->contents[content];
	return sum;
}

void
sink_bng_stats(const struct sink_bng *bng, struct telemetry_out *out)
{
	for (enum bng_content content = BNG_CONTENT_FORMAT; content < BNG_CONTENTS; content++)
		telemetry_u64(out, bng_content_name(content), bng->contents[content]);
}

void
sink_bng_reset(struct sink_bng *bng)
{
	memset(bng->contents, 0, sizeof(bng->contents));
}
