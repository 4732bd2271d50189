/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "ecmp.h"

/* Share the buckets among the members: by largest remainder, and one at least. */
static void
share_out(unsigned int *wanted, const struct ecmp_member *members, unsigned int nb)
{
	unsigned int total = 0, given = 0;
	unsigned int rest[ECMP_MEMBERS_MAX];

	for (unsigned int i = 0; i < nb; i++)
		total += members[i].weight;
	for (unsigned int i = 0; i < nb; i++) {
		wanted[i] = members[i].weight * ECMP_BUCKETS / total;
		rest[i] = members[i].weight * ECMP_BUCKETS % total;
		if (wanted[i] == 0) {
			wanted[i] = 1;
			rest[i] = 0;
		}
		given += wanted[i];
	}
	for (; given < ECMP_BUCKETS; given++) {
		unsigned int most = 0;

		for (unsigned int i = 1; i < nb; i++)
			if (rest[i] > rest[most])
				most = i;
		wanted[most]++;
		rest[most] = 0;
	}
	for (; given > ECMP_BUCKETS; given--) {
		unsigned int most = 0;

		for (unsigned int i = 1; i < nb; i++)
			if (wanted[i] > wanted[most])
				most = i;
		wanted[most]--;
	}
}

void
ecmp_fill(uint16_t *buckets, const struct ecmp_member *members, unsigned int nb_members,
	  const uint16_t *previous)
{
	unsigned int wanted[ECMP_MEMBERS_MAX], next = 0;
	bool kept[ECMP_BUCKETS] = {false};

	share_out(wanted, members, nb_members);
	for (unsigned int b = 0; previous != NULL && b < ECMP_BUCKETS; b++)
		for (unsigned int i = 0; i < nb_members; i++)
			if (members[i].hop == previous[b] && wanted[i] > 0) {
				wanted[i]--;
				buckets[b] = previous[b];
				kept[b] = true;
				break;
			}
	for (unsigned int b = 0; b < ECMP_BUCKETS; b++) {
		if (kept[b])
			continue;
		while (wanted[next] == 0)
			next++;
		wanted[next]--;
		buckets[b] = members[next].hop;
	}
}
