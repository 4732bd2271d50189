/* SPDX-License-Identifier: Apache-2.0 */
/* The INI section of a gen task, read and checked: what to send, how fast, for how long. */
#ifndef WSDP_GEN_CONFIG_H
#define WSDP_GEN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "bng_script_task.h"
#include "pktlib/flow_step.h"
#include "pktlib/frame.h"
#include "pktlib/frame_size.h"
#include "pktlib/schedule.h"

#define GEN_RATE_MAX_FPS 1e9

struct config_section;

struct gen_config {
	struct load load;
	struct frame_spec frame;
	struct frame_sizes sizes;
	enum flow_field field;
	uint32_t flows;
	const char *pcap;           /* NULL: frames are made from the rest */
	struct bng_script_keys bng; /* tables not NULL: a gateway's test traffic */
	uint32_t arp_every;         /* of it, every so many frames is an announcement; 0: none */
	uint32_t largest_bytes;     /* with FCS, of all frames */
	bool autostart;
};

/* A rate as schedules count it, to the nearest millionth of a frame/s. */
uint64_t gen_rate_ufps(double rate_fps);

/* Every fault is recorded. Returns 0, or -EINVAL if there was one. */
int gen_config_read(struct gen_config *config, const struct config_section *section);

#endif
