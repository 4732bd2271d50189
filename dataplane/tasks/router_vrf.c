/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "core/telemetry_reply.h"
#include "router_vrf.h"

/* Move the frames of the first one's tables to a burst of their own. */
static void
take_first(struct judged_others *others, struct rte_mbuf *const *mbufs, struct ip_burst *burst)
{
	uint8_t fib = others->fibs[0];
	uint16_t left = 0;

	for (uint16_t i = 0; i < others->nb; i++) {
		uint8_t at = others->at[i];

		if (others->fibs[i] == fib) {
			ip_burst_add(burst, rte_pktmbuf_mtod(mbufs[at], const uint8_t *),
				     others->versions[i], at);
			continue;
		}
		others->at[left] = at;
		others->fibs[left] = others->fibs[i];
		others->versions[left++] = others->versions[i];
	}
	others->nb = left;
}

void
vrf_look_up(const struct router_tables *tables, struct rte_mbuf *const *mbufs,
	    struct judged_others *others, struct ip_burst *burst)
{
	while (others->nb > 0) {
		const struct fib *fib = &tables->fibs[others->fibs[0]];
		struct ip_burst part;

		ip_burst_begin(&part);
		take_first(others, mbufs, &part);
		ip_burst_look_up(&part, fib);
		for (uint16_t i = 0; i < part.n4; i++)
			burst->value_of[part.at4[i]] = part.value_of[part.at4[i]];
		for (uint16_t i = 0; i < part.n6; i++)
			burst->value_of[part.at6[i]] = part.value_of[part.at6[i]];
	}
}

void
vrf_stats(const struct router_tables *tables, struct telemetry_out *out)
{
	struct telemetry_out all, one;

	if (!telemetry_open(out, &all))
		return;
	for (unsigned int i = 1; i < tables->nb_vrfs; i++) {
		const struct router_vrf *vrf = &tables->vrfs[i];
		char key[16];

		if (vrf->name[0] == '\0')
			continue;
		if (!telemetry_open(&all, &one))
			break;
		snprintf(key, sizeof(key), "%u", vrf->table);
		telemetry_string(&one, "name", vrf->name);
		telemetry_u64(&one, "routes_ipv4", vrf->nb_v4);
		telemetry_u64(&one, "routes_ipv6", vrf->nb_v6);
		telemetry_u64(&one, "tables_bytes", vrf->bytes);
		telemetry_close(&all, key, &one);
	}
	telemetry_close(out, "vrfs", &all);
}
