/* SPDX-License-Identifier: Apache-2.0 */
/* Read the load of a gen task, its rate and duration, from its section and from requests. */
#ifndef WSDP_GEN_LOAD_H
#define WSDP_GEN_LOAD_H

#include <stdint.h>

#include "pktlib/schedule.h"

struct config_section;
struct gen_config;

/* Arguments that only a start may have. */
struct gen_start {
	uint64_t trial;
	uint64_t after_ns;    /* delay of the first frame from now */
	uint64_t duration_ns; /* as the sinks know it: 0 if they do not */
};

/* Read config->load; sizes and pcap have been read. Returns 0, or -EINVAL after config_fault. */
int gen_load_config(struct gen_config *config, const struct config_section *section);
/* Read a request's arguments. `start` is NULL where none may be given. Returns 0 or a negative errno:
 * unknown keys and bad values are errors. */
int gen_load_request(const char *args, struct load *load, struct gen_start *start);

/* Senders that share a stream's flows share its load: each gets the same load, and sends what falls to
 * the `own` flows of all. */
struct load gen_load_share(struct load load, uint16_t senders, uint32_t own, uint32_t flows);

#endif
