/* SPDX-License-Identifier: Apache-2.0 */
#include <rte_common.h>
#include <rte_thash.h>

#include "gen_rss.h"

#define TABLE_ENTRIES 128
#define HEADERS_MAX 128 /* up to the ports: 14 + 8 + 40 + 4 octets at most */

/* Microsoft's, from the specification of RSS; also the one of its test vectors. */
static const uint8_t key[40] __rte_aligned(4) = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

uint16_t
gen_rss_queue(const struct frame_template *t, const struct frame_spec *spec, uint32_t flow,
	      uint16_t queues)
{
	const unsigned int l4 = frame_l4_at(spec), addresses = spec->ip_version == 4 ? 8 : 32;
	uint8_t headers[HEADERS_MAX];
	uint32_t tuple[RTE_THASH_V6_L4_LEN];
	unsigned int words = 0;

	memcpy(headers, t->octets, RTE_MIN(FRAME_ROOM(t->len), HEADERS_MAX));
	be64_store(headers + t->step.at, frame_flow_word(t, flow));
	/* Both addresses end where UDP begins, and both ports follow. */
	for (unsigned int at = l4 - addresses; at < l4 + 4; at += 4)
		tuple[words++] = be32_load(headers + at);
	return (uint16_t)(rte_softrss(tuple, words, key) % TABLE_ENTRIES % queues);
}
