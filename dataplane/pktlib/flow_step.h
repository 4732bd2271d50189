/* SPDX-License-Identifier: Apache-2.0 */
/* Vary flows: one header field counts up by one from flow to flow.
 *
 * A step is applied as one 64-bit addition: the eight octets at `at` are, as a big-endian number,
 * base + (flow << shift). Fields never wrap: flow_step_check refuses more flows than there are
 * values from the first flow's on.
 */
#ifndef PKTLIB_FLOW_STEP_H
#define PKTLIB_FLOW_STEP_H

#include <stdint.h>

#include "fault.h"

#define FLOWS_MAX 1000000

enum flow_field {
	FLOW_SRC_IP,
	FLOW_DST_IP,
	FLOW_SRC_MAC,
	FLOW_DST_MAC,
	FLOW_SRC_PORT,
	FLOW_DST_PORT,
	FLOW_VLAN,
};

struct frame_spec; /* frame.h */

struct flow_step {
	uint16_t at; /* offset of the word in the frame */
	uint8_t shift;
};

/* Read a field's name. Returns 0, or -1 with the names there are. */
int flow_field_parse(enum flow_field *field, const char *text, struct fault *why);

/* Check that `flows` flows step this field without wrapping. Returns 0, or -1 with the reason. */
int flow_step_check(const struct frame_spec *spec, enum flow_field field, uint32_t flows,
		    struct fault *why);

/* Return the position of the field's word in frames of this spec. */
struct flow_step flow_step_of(const struct frame_spec *spec, enum flow_field field);

#endif
