/* SPDX-License-Identifier: Apache-2.0 */
/* Content: what fills the frames of a gen and what a sink checks in those that arrive, where that is
 * more than headers and a stamp.
 *
 * gen and sink know frames and stamps. A content is one file that registers itself; the key of its
 * name in a gen's or a sink's section chooses it, as in "bng = up". Without such a key gen makes UDP
 * frames from its own keys, and sink looks at nothing but the stamp.
 */
#ifndef TASKS_CONTENT_H
#define TASKS_CONTENT_H

#include <stdint.h>
#include <rte_common.h>

#include "pktlib/verdict.h"

#define CONTENT_KEYS_BYTES 128

struct config_section;
struct gen_config;
struct gen_source;
struct task;
struct telemetry_out;

/* Values of the content's own keys. A task's arguments are moved: no pointer into itself. */
struct content_keys {
	_Alignas(8) uint8_t octets[CONTENT_KEYS_BYTES];
};

/* Functions that return an int return 0 or a negative errno. */
struct content_ops {
	const char *name; /* the key that chooses it */

	struct {
		/* Read the keys into config->content_keys, and say what frames there are: sizes,
		 * flows and largest_bytes. On a fault: config_fault(...) and a negative return. */
		int (*read)(struct gen_config *config, const struct config_section *section);
		/* Set source->fill, source->flows and source->content_state. On failure: say why on
		 * stderr and leave nothing behind. */
		int (*open)(struct gen_source *source, const struct gen_config *config,
			    const struct task *task);
		/* Begin again, as after open. */
		void (*rewind)(struct gen_source *source);
		void (*close)(struct gen_source *source);
	} gen;

	struct {
		/* As of gen; *flows becomes how many each stream has, where the section does not
		 * say it. */
		int (*read)(struct content_keys *keys, uint32_t *flows,
			    const struct config_section *section);
		/* The state of one sink, or NULL after a message on stderr. */
		void *(*open)(const struct content_keys *keys, const struct task *task);
		/* Judge a frame as verdict_of does; `frame` has its first min(len, VERDICT_READS)
		 * octets. A frame that is not OURS may have been counted by its cause. */
		enum verdict (*judge)(void *state, const struct verdict_rule *rule,
				      const uint8_t *frame, uint32_t len, struct stamp *stamp);
		/* Add the content's own figures to those of the sink, and forget them. */
		void (*stats)(const void *state, struct telemetry_out *out);
		void (*reset)(void *state);
		void (*close)(void *state);
	} sink;
};

void content_register(const struct content_ops *content);
/* The content that a section chooses, NULL: none. Two of them are a fault. */
const struct content_ops *content_of(const struct config_section *section);

#define CONTENT_REGISTER(content_ops_symbol)           \
	RTE_INIT(register_##content_ops_symbol)        \
	{                                              \
		content_register(&content_ops_symbol); \
	}

#endif
