/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "members.h"

uint64_t
members_tag(const struct route_member *members, uint16_t nb, const struct routes *routes)
{
	uint64_t tag = nb;

	for (uint16_t i = 0; i < nb; i++) {
		tag = (tag ^ routes->hops[members[i].hop].id) * UINT64_C(0x9e3779b97f4a7c15);
		tag = (tag ^ members[i].weight) * UINT64_C(0xc2b2ae3d27d4eb4f);
	}
	return tag | UINT64_C(1) << 63; /* no id of an object */
}

bool
members_add(struct routes *routes, const struct route_member *members, uint16_t nb)
{
	uint32_t total = routes->nb_members + nb;
	struct route_member *grown = reallocarray(routes->members, total, sizeof(*routes->members));

	if (grown == NULL)
		return false;
	memcpy(grown + routes->nb_members, members, nb * sizeof(*members));
	routes->members = grown;
	routes->nb_members = total;
	return true;
}

uint16_t
members_put(struct route_member *members, uint16_t nb, uint16_t hop, uint16_t weight)
{
	for (uint16_t i = 0; i < nb; i++)
		if (members[i].hop == hop) {
			uint32_t sum = (uint32_t)members[i].weight + weight;

			members[i].weight = (uint16_t)(sum > UINT16_MAX ? UINT16_MAX : sum);
			return nb;
		}
	members[nb] = (struct route_member){hop, weight == 0 ? 1 : weight};
	return nb + 1;
}
