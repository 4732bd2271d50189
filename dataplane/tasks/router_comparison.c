/* SPDX-License-Identifier: Apache-2.0 */
#include "router_comparison.h"

#include <arpa/inet.h>
#include <string.h>

#include "pktlib/ecmp.h"

#define LINES_MAX 10000
#define WAY_BYTES 64 /* of a next hop's text, with its separator */

struct router_hop
comparison_as_built(const struct route_hop *from)
{
	struct router_hop hop = {.kind = from->kind, .port = from->port, .vlan = from->vlan};

	memcpy(hop.macs, from->target, sizeof(from->target));
	memcpy(hop.macs + sizeof(from->target), from->source, sizeof(from->source));
	if (from->kind == ROUTE_FORWARD)
		hop.mtu = from->mtu == 0 ? UINT16_MAX : from->mtu;
	return hop;
}

/* Write "by INTERFACE to MAC", with the VLAN where there is one. Return its length, cut or not. */
static size_t
describe_way(const struct comparison *comparison, uint8_t port, uint16_t vlan, const uint8_t *mac,
	     char *text, size_t size)
{
	char tag[24] = "";

	if (vlan != 0)
		snprintf(tag, sizeof(tag), " with VLAN %u", vlan);
	return (size_t)snprintf(text, size, "by %s%s to %02x:%02x:%02x:%02x:%02x:%02x",
				comparison->names[port], tag, mac[0], mac[1], mac[2], mac[3],
				mac[4], mac[5]);
}

static void
describe_hop(const struct comparison *comparison, const struct router_hop *hop, char *text)
{
	static const char *const kinds[] = {
		[ROUTE_GROUP] = "several next hops",
		[ROUTE_BLACKHOLE] = "dropped",
		[ROUTE_LOCAL] = "to the router itself",
		[ROUTE_NEIGHBOUR] = "to a neighbour of unknown address",
		[ROUTE_KERNEL] = "by the kernel",
	};
	size_t at;

	if (hop->kind != ROUTE_FORWARD) {
		snprintf(text, COMPARISON_TEXT, "%s", kinds[hop->kind]);
		return;
	}
	at = describe_way(comparison, hop->port, hop->vlan, hop->macs, text, COMPARISON_TEXT);
	snprintf(text + at, COMPARISON_TEXT - at, ", MTU %u", hop->mtu);
}

/* The members of a group, as many as there is room for. */
static void
describe_members(const struct comparison *comparison, const struct router_hop *group, char *text)
{
	uint16_t named[ECMP_MEMBERS_MAX];
	unsigned int nb = 0;
	size_t at = 0;

	for (unsigned int b = 0; b < ECMP_BUCKETS && nb < ECMP_MEMBERS_MAX; b++) {
		const struct router_hop *hop;
		unsigned int i = 0;

		while (i < nb && named[i] != group->buckets[b])
			i++;
		if (i < nb)
			continue;
		named[nb++] = group->buckets[b];
		hop = &comparison->tables->hops[group->buckets[b]];
		if (hop->kind != ROUTE_FORWARD || at + WAY_BYTES > COMPARISON_TEXT)
			continue;
		if (at > 0)
			at += (size_t)snprintf(text + at, COMPARISON_TEXT - at, "; ");
		at += describe_way(comparison, hop->port, hop->vlan, hop->macs, text + at,
				   COMPARISON_TEXT - at);
	}
}

void
comparison_describe_built(const struct comparison *comparison, uint64_t value, char *text)
{
	const struct router_hop *hop = &comparison->tables->hops[value];

	if (value == FIB_NO_ROUTE)
		snprintf(text, COMPARISON_TEXT, "no route");
	else if (hop->kind == ROUTE_GROUP)
		describe_members(comparison, hop, text);
	else
		describe_hop(comparison, hop, text);
}

void
comparison_describe_wanted(const struct comparison *comparison, const struct route_hop *wanted,
			   char *text)
{
	const struct routes *routes = comparison->routes;
	size_t at = 0;

	if (wanted->kind != ROUTE_GROUP) {
		struct router_hop hop = comparison_as_built(wanted);

		describe_hop(comparison, &hop, text);
		return;
	}
	for (uint32_t i = 0; i < wanted->nb_members && at + WAY_BYTES <= COMPARISON_TEXT; i++) {
		const struct route_hop *hop =
			&routes->hops[routes->members[wanted->first_member + i].hop];

		if (at > 0)
			at += (size_t)snprintf(text + at, COMPARISON_TEXT - at, "; ");
		at += describe_way(comparison, hop->port, hop->vlan, hop->target, text + at,
				   COMPARISON_TEXT - at);
	}
}

void
comparison_write_line(struct comparison *comparison, uint8_t version, const uint8_t *prefix,
		      uint8_t length, const char *kernel, const char *tables)
{
	char address[INET6_ADDRSTRLEN];

	if (comparison->lines++ >= LINES_MAX)
		return;
	inet_ntop(version == 4 ? AF_INET : AF_INET6, prefix, address, sizeof(address));
	fprintf(comparison->file, "{\"prefix\": \"%s/%u\", ", address, length);
	if (comparison->vrf[0] != '\0')
		fprintf(comparison->file, "\"vrf\": \"%s\", ", comparison->vrf);
	fprintf(comparison->file, "\"kernel\": \"%s\", \"fib\": \"%s\"}\n", kernel, tables);
}
