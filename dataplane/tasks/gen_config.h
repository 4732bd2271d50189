/* SPDX-License-Identifier: Apache-2.0 */
/* The INI section of a gen task, read and checked: what to send, how fast, for how long. */
#ifndef WSDP_GEN_CONFIG_H
#define WSDP_GEN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "content.h"
#include "pktlib/flow_step.h"
#include "pktlib/frame.h"
#include "pktlib/frame_size.h"
#include "pktlib/schedule.h"

struct config_section;

struct gen_config {
	struct load load;
	struct frame_spec frame;
	struct frame_sizes sizes;
	enum flow_field field;
	uint32_t flows;
	uint16_t rss_queues;               /* senders that share the flows; 0: this one has all */
	uint16_t rss_queue;                /* number of this sender */
	const char *destinations;          /* file of addresses; NULL: the flows step a field */
	const char *pcap;                  /* NULL: frames are made from the rest */
	const struct content_ops *content; /* NULL: from templates */
	struct content_keys content_keys;
	uint32_t largest_bytes; /* with FCS, of all frames */
	bool autostart;
};

/* Read "frame", a size or a genome, into config->sizes. Returns 0, or -EINVAL after config_fault. */
int gen_config_read_sizes(struct gen_config *config, const struct config_section *section);

/* Every fault is recorded. Returns 0, or -EINVAL if there was one. */
int gen_config_read(struct gen_config *config, const struct config_section *section);

#endif
