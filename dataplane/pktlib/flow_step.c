/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_step.h"

#include "frame.h"

static const char *const field_names[] = {
	[FLOW_SRC_IP] = "src_ip",   [FLOW_DST_IP] = "dst_ip",     [FLOW_SRC_MAC] = "src_mac",
	[FLOW_DST_MAC] = "dst_mac", [FLOW_SRC_PORT] = "src_port", [FLOW_DST_PORT] = "dst_port",
	[FLOW_VLAN] = "vlan",
};
#define NB_FIELDS (sizeof(field_names) / sizeof(field_names[0]))

int
flow_field_parse(enum flow_field *field, const char *text, struct fault *why)
{
	size_t i;

	for (i = 0; i < NB_FIELDS; i++) {
		if (strcmp(text, field_names[i]) == 0) {
			*field = (enum flow_field)i;
			return 0;
		}
	}
	return fault_say(why,
			 "must be src_ip, dst_ip, src_mac, dst_mac, src_port, dst_port or vlan");
}

/* A MAC may only step within its low 40 bits, or it could turn into a group address. */
static uint64_t
values_left_in_mac(const uint8_t *mac)
{
	uint64_t low = (uint64_t)mac[1] << 32 | be32_load(mac + 2);

	return (UINT64_C(1) << 40) - low;
}

static uint64_t
values_left_in_ip(const struct frame_spec *spec, const uint8_t *ip)
{
	if (spec->ip_version == 4)
		return (UINT64_C(1) << 32) - be32_load(ip);
	/* Counted up to the number of flows anybody may ask for, so that it cannot overflow. */
	return UINT64_MAX - be64_load(ip + 8) < FLOWS_MAX ? UINT64_MAX - be64_load(ip + 8) + 1
							  : FLOWS_MAX;
}

/* Return how many values the field can take, from the first flow's on. */
static uint64_t
values_left(const struct frame_spec *spec, enum flow_field field)
{
	switch (field) {
	case FLOW_SRC_IP:
		return values_left_in_ip(spec, spec->src_ip);
	case FLOW_DST_IP:
		return values_left_in_ip(spec, spec->dst_ip);
	case FLOW_SRC_MAC:
		return values_left_in_mac(spec->src_mac);
	case FLOW_DST_MAC:
		return values_left_in_mac(spec->dst_mac);
	case FLOW_SRC_PORT:
		return 65536u - spec->src_port;
	case FLOW_DST_PORT:
		return 65536u - spec->dst_port;
	case FLOW_VLAN:
		return 4095u - spec->vlan;
	}
	return 0;
}

int
flow_step_check(const struct frame_spec *spec, enum flow_field field, uint32_t flows,
		struct fault *why)
{
	if (flows < 1 || flows > FLOWS_MAX)
		return fault_say(why, "must be 1 to %d", FLOWS_MAX);
	if (field == FLOW_VLAN && spec->nb_tags == 0)
		return fault_say(why, "steps vlan, but the frames carry no VLAN tag");
	if (flows > values_left(spec, field))
		return fault_say(why,
				 "would make %s wrap into duplicates: from the first flow's on it "
				 "has %llu values",
				 field_names[field], (unsigned long long)values_left(spec, field));
	return 0;
}

struct flow_step
flow_step_of(const struct frame_spec *spec, enum flow_field field)
{
	unsigned int l3 = frame_l3_at(spec);
	unsigned int l4 = frame_l4_at(spec);
	unsigned int ip_end = spec->ip_version == 4 ? 16 : 24; /* of the source address */

	switch (field) {
	case FLOW_SRC_IP:
		return (struct flow_step){.at = (uint16_t)(l3 + ip_end - 8)};
	case FLOW_DST_IP:
		return (struct flow_step){.at = (uint16_t)(l4 - 8)};
	case FLOW_SRC_MAC:
		return (struct flow_step){.at = 4};
	case FLOW_DST_MAC:
		return (struct flow_step){.at = 0, .shift = 16};
	case FLOW_SRC_PORT:
		return (struct flow_step){.at = (uint16_t)l4, .shift = 48};
	case FLOW_DST_PORT:
		return (struct flow_step){.at = (uint16_t)l4, .shift = 32};
	case FLOW_VLAN:
		return (struct flow_step){.at = 12, .shift = 32};
	}
	return (struct flow_step){.at = 12};
}
