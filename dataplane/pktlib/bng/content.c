/* SPDX-License-Identifier: Apache-2.0 */
#include "content.h"

#include <string.h>

#include "../bytes.h"
#include "../checksum.h"
#include "../protocol.h"
#include "../stamp.h"

#define PPPOE_LEN 8    /* with PPP */
#define HEADERS_LEN 28 /* IPv4 without options, UDP */
#define TUNNEL_LEN 28  /* IPv4 without options, GRE with key */
#define FRAME_LEN_LEAST 60

const char *
bng_content_name(enum bng_content content)
{
	static const char *const names[BNG_CONTENTS] = {
		[BNG_CONTENT_RIGHT] = "right",           [BNG_CONTENT_FOREIGN] = "foreign",
		[BNG_CONTENT_FORMAT] = "wrong_format",   [BNG_CONTENT_CHECKSUM] = "wrong_checksum",
		[BNG_CONTENT_LENGTH] = "wrong_length",   [BNG_CONTENT_TTL] = "wrong_ttl",
		[BNG_CONTENT_PACKET] = "wrong_packet",   [BNG_CONTENT_TUNNEL] = "wrong_tunnel",
		[BNG_CONTENT_PORT] = "wrong_port",       [BNG_CONTENT_MAC] = "wrong_mac",
		[BNG_CONTENT_TAGS] = "wrong_tags",       [BNG_CONTENT_LABEL] = "wrong_label",
		[BNG_CONTENT_ENDS] = "wrong_ends",       [BNG_CONTENT_KEY] = "wrong_key",
		[BNG_CONTENT_SESSION] = "wrong_session",
	};

	return names[content];
}

/* Over tags, session and label to the first IPv4 header. False: there is none. */
static bool
skip_link(const uint8_t *frame, uint32_t len, struct bng_content_seen *seen, uint32_t *at)
{
	uint16_t type = be16_load(frame + 12);

	*at = 14;
	while ((type == TPID_VLAN || type == TPID_QINQ) && seen->nb_tags < 2) {
		if (len < *at + 4 + HEADERS_LEN)
			return false;
		type = be16_load(frame + *at + 2);
		*at += 4;
		seen->nb_tags++;
	}
	if (type == ETH_TYPE_MPLS) {
		*at += 4;
		seen->mpls = true;
	} else if (type == ETH_TYPE_PPPOE_SESSION) {
		*at += PPPOE_LEN;
		seen->pppoe = true;
	}
	return (type == ETH_TYPE_IPV4 || seen->mpls || seen->pppoe) && len >= *at + HEADERS_LEN;
}

bool
bng_content_find(const struct bng_content_rule *rule, const uint8_t *frame, uint32_t len,
		 struct bng_content_seen *seen)
{
	uint32_t at;

	*seen = (struct bng_content_seen){0};
	if (len < 14 + HEADERS_LEN || !skip_link(frame, len, seen, &at))
		return false;
	if (frame[at + 9] == IP_PROTO_GRE) {
		seen->outer_at = (uint16_t)at;
		at += TUNNEL_LEN;
	}
	if (len < at + HEADERS_LEN || frame[at] != 0x45 || frame[at + 9] != IP_PROTO_UDP ||
	    !bng_script_flow(be32_load(frame + at + 20), &seen->flow) ||
	    seen->flow >= rule->script->nb_users)
		return false;
	seen->inner_at = (uint16_t)at;
	seen->total = be16_load(frame + at + 2);
	if (seen->total >= HEADERS_LEN + STAMP_BYTES && len >= at + HEADERS_LEN + STAMP_BYTES)
		seen->stamp_at = (uint16_t)(at + HEADERS_LEN);
	return true;
}

static bool
is_intact(const uint8_t *ip)
{
	return checksum_finish(checksum_add(0, ip, 20)) == 0;
}

/* The inner packet: as it was sent, one hop older downstream. */
static enum bng_content
judge_packet(const struct bng_content_rule *rule, const uint8_t *ip,
	     const struct bng_script_user *user, const struct bng_script_peer *peer, uint16_t total)
{
	bool upstream = rule->script->spec.upstream;
	uint8_t ttl = BNG_SCRIPT_TTL - (rule->translated && !upstream);

	if (!is_intact(ip))
		return BNG_CONTENT_CHECKSUM;
	if (ip[8] != ttl)
		return BNG_CONTENT_TTL;
	if (be16_load(ip + 24) != total - 20)
		return BNG_CONTENT_LENGTH;
	if (ip[1] != 0 || be16_load(ip + 6) != 0 || be16_load(ip + 26) != 0 ||
	    be32_load(ip + 12) != (upstream ? user->ip : peer->ip) ||
	    be32_load(ip + 16) != (upstream ? peer->ip : user->ip))
		return BNG_CONTENT_PACKET;
	return BNG_CONTENT_RIGHT;
}

/* The headers of a subscriber's session, behind both tags. */
static enum bng_content
judge_session(const uint8_t *pppoe, const struct bng_content_seen *seen,
	      const struct bng_script_user *user)
{
	if (be16_load(pppoe) != PPPOE_SESSION_CODE || be16_load(pppoe + 6) != PPP_IPV4)
		return BNG_CONTENT_FORMAT;
	if (be16_load(pppoe + 4) != seen->total + 2)
		return BNG_CONTENT_LENGTH;
	return be16_load(pppoe + 2) == user->session ? BNG_CONTENT_RIGHT : BNG_CONTENT_SESSION;
}

/* A frame of the subscribers' side, on its way to the gateway or from it. */
static enum bng_content
judge_cpe(const struct bng_content_rule *rule, const uint8_t *frame, uint32_t len,
	  const struct bng_content_seen *seen, const struct bng_script_user *user)
{
	const struct bng_script_spec *spec = &rule->script->spec;
	bool to_user = rule->translated;
	uint32_t expected_len = seen->inner_at + (uint32_t)seen->total;
	enum bng_content session = BNG_CONTENT_RIGHT;
	uint32_t line;

	if (seen->nb_tags != 2 || seen->mpls || seen->pppoe != spec->pppoe || seen->outer_at != 0 ||
	    be16_load(frame + 12) != spec->tpid || be16_load(frame + 16) != TPID_VLAN)
		return BNG_CONTENT_FORMAT;
	if (len != (expected_len < FRAME_LEN_LEAST ? FRAME_LEN_LEAST : expected_len))
		return BNG_CONTENT_LENGTH;
	if (memcmp(frame, to_user ? user->mac : spec->gateway_mac, 6) != 0 ||
	    memcmp(frame + 6, to_user ? spec->gateway_mac : user->mac, 6) != 0)
		return BNG_CONTENT_MAC;
	/* Priority and DEI are 0, too. */
	line = (uint32_t)be16_load(frame + 14) << 12 | be16_load(frame + 18);
	if (line != user->line || be16_load(frame + 18) > 0x0fff)
		return BNG_CONTENT_TAGS;
	if (spec->pppoe)
		session = judge_session(frame + seen->inner_at - PPPOE_LEN, seen, user);
	if (session != BNG_CONTENT_RIGHT)
		return session;
	return rule->translated && rule->port != user->port ? BNG_CONTENT_PORT : BNG_CONTENT_RIGHT;
}

static enum bng_content
judge_tunnel(const uint8_t *outer, const struct bng_content_seen *seen)
{
	if (!is_intact(outer))
		return BNG_CONTENT_CHECKSUM;
	if (be16_load(outer + 2) != seen->total + TUNNEL_LEN)
		return BNG_CONTENT_LENGTH;
	/* No options, service 0, id 0, "don't fragment", TTL, and GRE with a key before IPv4. */
	if (be16_load(outer) != 0x4500 || be32_load(outer + 4) != 0x00004000 ||
	    outer[8] != BNG_SCRIPT_TTL || be32_load(outer + 20) != GRE_KEY_IPV4)
		return BNG_CONTENT_TUNNEL;
	return BNG_CONTENT_RIGHT;
}

/* A frame of the network's side, on its way to a hop or from it. */
static enum bng_content
judge_inet(const struct bng_content_rule *rule, const uint8_t *frame, uint32_t len,
	   const struct bng_content_seen *seen, const struct bng_script_user *user,
	   const struct bng_hop_spec *hop)
{
	const struct bng_script_spec *spec = &rule->script->spec;
	const uint8_t *outer = frame + seen->outer_at;
	bool to_hop = rule->translated;
	enum bng_content tunnel;

	if (seen->nb_tags != 0 || seen->pppoe || seen->outer_at == 0)
		return BNG_CONTENT_FORMAT;
	tunnel = judge_tunnel(outer, seen);
	if (tunnel != BNG_CONTENT_RIGHT)
		return tunnel;
	if (len != seen->inner_at + (uint32_t)seen->total)
		return BNG_CONTENT_LENGTH;
	if (memcmp(frame, to_hop ? hop->mac : spec->inet_mac, 6) != 0 ||
	    memcmp(frame + 6, to_hop ? spec->inet_mac : hop->mac, 6) != 0)
		return BNG_CONTENT_MAC;
	if (seen->mpls != (hop->label != BNG_NO_LABEL) ||
	    /* Class 0, bottom of stack; the label's own TTL is the sender's to choose. */
	    (seen->mpls && be32_load(frame + 14) >> 8 != (hop->label << 4 | 1)))
		return BNG_CONTENT_LABEL;
	if (be32_load(outer + 12) != (to_hop ? spec->local_ip : hop->tunnel) ||
	    be32_load(outer + 16) != (to_hop ? hop->tunnel : spec->local_ip))
		return BNG_CONTENT_ENDS;
	if (be32_load(outer + 24) != user->key)
		return BNG_CONTENT_KEY;
	return rule->translated && rule->port != hop->port ? BNG_CONTENT_PORT : BNG_CONTENT_RIGHT;
}

enum bng_content
bng_content_judge(const struct bng_content_rule *rule, const uint8_t *frame, uint32_t len,
		  const struct bng_content_seen *seen)
{
	const struct bng_script *script = rule->script;
	const uint8_t *ip = frame + seen->inner_at;
	const struct bng_script_user *user = &script->users[seen->flow];
	const struct bng_script_peer *peer = bng_script_peer(script, seen->flow, be16_load(ip + 4));
	enum bng_content packet = judge_packet(rule, ip, user, peer, seen->total);

	if (packet != BNG_CONTENT_RIGHT)
		return packet;
	/* Upstream and translated, or downstream and not: a frame of the network's side. */
	if (script->spec.upstream == rule->translated)
		return judge_inet(rule, frame, len, seen, user, &script->hops[peer->hop]);
	return judge_cpe(rule, frame, len, seen, user);
}
