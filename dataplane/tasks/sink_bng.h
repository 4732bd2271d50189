/* SPDX-License-Identifier: Apache-2.0 */
/* What a sink makes of frames that a BNG under test let out: is each what the tables say, and did it
 * come out of the right port? */
#ifndef WSDP_SINK_BNG_H
#define WSDP_SINK_BNG_H

#include "bng_script_task.h"
#include "core/telemetry.h"
#include "pktlib/bng/content.h"
#include "pktlib/verdict.h"

struct sink_bng {
	struct bng_script_keys keys;
	struct bng_script script;
	struct bng_content_rule rule;
	uint64_t contents[BNG_CONTENTS]; /* frames that were not right, by cause */
};

/* Read the keys, if there are any. Returns 0, or -1 after config_fault. */
int sink_bng_read(struct sink_bng *bng, const struct config_section *section);
int sink_bng_open(struct sink_bng *bng, const struct task *task);
void sink_bng_close(struct sink_bng *bng);

static inline bool
sink_bng_is_on(const struct sink_bng *bng)
{
	return bng->keys.tables != NULL;
}

/* As verdict_of; a frame of wrong content is MISDIRECTED or CORRUPT, and counted by its cause. */
enum verdict sink_bng_verdict(struct sink_bng *bng, const struct verdict_rule *rule,
			      const uint8_t *frame, uint32_t len, struct stamp *stamp);
uint64_t sink_bng_misdirected(const struct sink_bng *bng);
void sink_bng_stats(const struct sink_bng *bng, struct telemetry_out *out);
void sink_bng_reset(struct sink_bng *bng);

#endif
