/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bng_frames.h"
#include "pktlib/bng/wire.h"
#include "pktlib/checksum.h"

#define UP_BYTES 60   /* 64 with FCS */
#define DOWN_BYTES 74 /* 78 with FCS */
#define HOST_IP 0x0a000007

static void
put_inner(uint8_t *ip)
{
	memset(ip, 0, 28);
	ip[0] = IPV4_NO_OPTIONS;
	be16_store(ip + 2, 28);
	ip[8] = 64;
	ip[9] = IP_PROTO_UDP;
	be32_store(ip + 12, HOST_IP);
	be16_store(ip + 24, 8);
}

void
bng_frames_make(struct bng_frames *frames, const struct bng_table_file *tables, bool up,
		uint32_t local_ip)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
	uint8_t *frame = frames->frame;
	const struct bng_hop_spec spec = {
		.tunnel = local_ip, .label = 1000, .mac = {2, 0, 0, 0, 0, 2}};
	struct bng_hop hop;

	*frames = (struct bng_frames){.tables = tables, .up = up};
	frames->order = calloc(tables->nb_users, sizeof(*frames->order));
	if (frames->order == NULL) {
		fputs("bench: out of memory\n", stderr);
		exit(1);
	}
	for (uint32_t i = 0; i < tables->nb_users; i++) {
		uint32_t j = (uint32_t)(((uint64_t)rand() << 31 | (uint64_t)rand()) % (i + 1));

		frames->order[i] = frames->order[j];
		frames->order[j] = i;
	}
	if (up) {
		memcpy(frame, "\x02\0\0\0\0\1\x02\0\0\0\0\2\x88\xa8\0\0\x81\0\0\0\x08\0",
		       BNG_QINQ_LEN);
		put_inner(frame + BNG_QINQ_LEN);
		frames->bytes = UP_BYTES;
		frames->sum = checksum_add(0, frame + BNG_QINQ_LEN, IPV4_LEN);
		return;
	}
	bng_hop_build(&hop, &spec, 0xc6336401, mac);
	put_inner(frame + BNG_OUTER_ROOM);
	frames->sum = checksum_add(0, frame + BNG_OUTER_ROOM, IPV4_LEN);
	bng_encapsulate(frame + BNG_OUTER_ROOM, 28, &hop, 0);
	memmove(frame, frame + BNG_OUTER_ROOM - BNG_OUTER_MAX, DOWN_BYTES);
	frames->bytes = DOWN_BYTES;
}

void
bng_frames_restore(struct bng_frames *frames, struct rte_mbuf *mbuf)
{
	const struct bng_user_entry *user =
		&frames->tables->users[frames->order[frames->next_user]];
	uint32_t destination = HOST_IP;
	uint8_t *frame, *ip;

	if (++frames->next_user == frames->tables->nb_users)
		frames->next_user = 0;
	mbuf->data_off = RTE_PKTMBUF_HEADROOM;
	mbuf->data_len = frames->bytes;
	mbuf->pkt_len = frames->bytes;
	frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	memcpy(frame, frames->frame, 80);
	if (frames->up) {
		/* A stride that has no factor in common with the number of routes: all in turn. */
		frames->next_route = (frames->next_route + 4999) % frames->tables->nb_routes;
		destination = frames->tables->routes[frames->next_route].prefix + 9;
		be16_store(frame + 14, (uint16_t)(user->line >> 12));
		be16_store(frame + 18, user->line & BNG_VID_MASK);
		ip = frame + BNG_QINQ_LEN;
	} else {
		be32_store(frame + BNG_OUTER_MAX - 4, user->key);
		ip = frame + BNG_OUTER_MAX;
	}
	be32_store(ip + 16, destination);
	be16_store(ip + 10,
		   checksum_finish(frames->sum + (destination >> 16) + (destination & UINT16_MAX)));
}
