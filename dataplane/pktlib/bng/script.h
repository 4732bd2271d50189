/* SPDX-License-Identifier: Apache-2.0 */
/* Derive who sends what to whom in a BNG's test traffic from the table file alone. Sender and
 * receiver derive the same, so that the receiver knows the right result of each frame.
 *
 * A flow is a subscriber. Which address behind the gateway a frame goes to (or comes from) follows
 * from flow and sequence number. Both are in the frame: the flow in the UDP ports, the low 16 bits of
 * the sequence number in the inner packet's identification. So frames of minimum size, which have no
 * room for a stamp, can be checked as well.
 *
 * Nothing here uses the tables or the wire code of the gateway: what judges it must not share its
 * mistakes.
 */
#ifndef PKTLIB_BNG_SCRIPT_H
#define PKTLIB_BNG_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "../fault.h"
#include "memory.h"
#include "table_file.h"

#define BNG_SCRIPT_TTL 64
#define BNG_SCRIPT_PACKET_MIN 28 /* IPv4 and UDP headers: what a frame of 64 octets carries */
#define BNG_SCRIPT_PORT 0xc000   /* the upper bits of both UDP ports, by which ours are known */
#define BNG_SCRIPT_PORT_BITS 14
#define BNG_SCRIPT_FLOW_MAX ((1u << 2 * BNG_SCRIPT_PORT_BITS) - 1)
#define BNG_SCRIPT_DEFAULT_HOST 0x0a000007 /* 10.0.0.7, of users without a host of their own */
#define BNG_SCRIPT_DEFAULT_MAC UINT64_C(0x020000000000)

/* Type of the gateway and its test traffic. Addresses in host order. */
struct bng_script_spec {
	bool upstream;  /* from subscribers to the network */
	bool shuffled;  /* subscribers take turns in a random order, not in the file's */
	bool pppoe;     /* subscribers come in PPPoE sessions, those of the file */
	uint32_t flows; /* number of subscribers, 0: all */
	uint32_t local_ip;
	uint16_t tpid; /* of the outer tag that is sent, or expected */
	uint8_t gateway_mac[6];
	uint8_t inet_mac[6];
};

struct bng_script_user {
	uint32_t line;
	uint32_t key;
	uint32_t ip;
	uint8_t mac[6];
	uint8_t port;
	uint8_t unused;
	uint16_t session; /* PPPoE; 0: IPv4 follows the tags */
	uint16_t padding[5];
} __attribute__((aligned(32)));

/* An address behind the gateway, and where the longest prefix that holds it leads. */
struct bng_script_peer {
	uint32_t ip;
	uint32_t hop;
};

struct bng_script {
	struct bng_script_spec spec;
	struct bng_script_user *users; /* in the order in which they take turns */
	struct bng_script_peer *peers; /* one for each route */
	struct bng_hop_spec *hops;     /* by id; those that do not exist are never referred to */
	uint32_t nb_users, nb_peers;
	const struct bng_memory *memory;
};

/* Return 0 where these tables can be tested, or -1 with the reason. */
int bng_script_check(const struct bng_script_spec *spec, const struct bng_table_file *file,
		     struct fault *why);
/* Returns 0, or -1 when memory is short. The file is not needed afterwards. */
int bng_script_build(struct bng_script *script, const struct bng_script_spec *spec,
		     const struct bng_table_file *file, const struct bng_memory *memory);
void bng_script_free(struct bng_script *script);

/* Return the peer for a flow and the low 16 bits of a sequence number: as good as random. */
static inline const struct bng_script_peer *
bng_script_peer(const struct bng_script *script, uint32_t flow, uint16_t number)
{
	uint32_t mixed = (flow ^ (uint32_t)number << 16) * UINT32_C(0x9e3779b1);

	mixed ^= mixed >> 15;
	mixed *= UINT32_C(0x85ebca6b);
	return &script->peers[(uint64_t)mixed * script->nb_peers >> 32];
}

/* The flow as the two UDP ports, and back. */
static inline uint32_t
bng_script_ports(uint32_t flow)
{
	uint32_t low = flow & ((1u << BNG_SCRIPT_PORT_BITS) - 1);

	return (BNG_SCRIPT_PORT | flow >> BNG_SCRIPT_PORT_BITS) << 16 | BNG_SCRIPT_PORT | low;
}

/* False: these are not our ports. */
static inline bool
bng_script_flow(uint32_t ports, uint32_t *flow)
{
	const uint32_t marks = (uint32_t)BNG_SCRIPT_PORT << 16 | BNG_SCRIPT_PORT;

	*flow = (ports >> 16 & ~(uint32_t)BNG_SCRIPT_PORT) << BNG_SCRIPT_PORT_BITS |
		(ports & 0xffff & ~(uint32_t)BNG_SCRIPT_PORT);
	return (ports & marks) == marks;
}

/* Octets of the IPv4 packet in a subscriber's frame of `bytes` octets with FCS. The shortest packet
 * there is goes into frames of 64 octets, padded: it is 78 octets behind the gateway, with MPLS. */
static inline uint16_t
bng_script_packet(uint16_t bytes, bool pppoe)
{
	return (uint16_t)(bytes <= 64 ? BNG_SCRIPT_PACKET_MIN : bytes - (pppoe ? 34 : 26));
}

#endif
