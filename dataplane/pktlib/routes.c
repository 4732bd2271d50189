/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"

/* A group of 64 hops with weights fits. */
#define LINE_MAX_LEN 1022
#define WORDS_MAX (2 + ROUTES_MEMBERS_MAX + 1) /* a word too many is seen, too */
#define MTU_MIN 68                             /* RFC 791 */
#define MTU_MIN_V6 1280                        /* RFC 8200 */
#define UNKNOWN_HOP UINT16_MAX

struct reading {
	struct routes *routes;
	const char *path;
	const struct routes_complaint *complaint;
	uint32_t line;
	uint32_t nb_faults;
	uint16_t index_of[ROUTES_HOPS_MAX]; /* of a hop or a group, by id */
};

__attribute__((format(printf, 2, 3))) static void
complain(struct reading *reading, const char *format, ...)
{
	char text[512];
	va_list args;
	int at = snprintf(text, sizeof(text), "%.200s:%u: ", reading->path, reading->line);

	if (reading->nb_faults++ >= ROUTES_COMPLAINTS_MAX)
		return;
	va_start(args, format);
	vsnprintf(text + at, sizeof(text) - (size_t)at, format, args);
	va_end(args);
	reading->complaint->say(reading->complaint->context, text);
}

/* Make room for one more element: the capacity is the next power of two. */
static void *
grow(struct reading *reading, void **array, uint32_t nb, size_t size)
{
	if ((nb & (nb - 1)) == 0) {
		void *grown = reallocarray(*array, nb == 0 ? 1 : 2 * (size_t)nb, size);

		if (grown == NULL) {
			complain(reading, "out of memory");
			return NULL;
		}
		*array = grown;
	}
	return (char *)*array + nb * size;
}

static bool
number(const char *word, unsigned long max, unsigned long *value)
{
	char *end;

	if (word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	*value = strtoul(word, &end, 10);
	return *end == '\0' && errno == 0 && *value <= max;
}

static bool
mac(const char *word, uint8_t *octets)
{
	int end = 0;

	/* sscanf alone would take signs and blanks. */
	return word[strspn(word, "0123456789abcdefABCDEF:")] == '\0' &&
	       sscanf(word, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &octets[0], &octets[1],
		      &octets[2], &octets[3], &octets[4], &octets[5], &end) == 6 &&
	       word[end] == '\0';
}

/* Read an id that no hop and no group has yet. */
static bool
new_id(struct reading *reading, const char *word, uint16_t *id)
{
	unsigned long value;

	if (!number(word, ROUTES_HOPS_MAX - 1, &value))
		complain(reading, "hop id \"%.40s\" must be 0..%u", word, ROUTES_HOPS_MAX - 1);
	else if (reading->index_of[value] != UNKNOWN_HOP)
		complain(reading, "hop %lu is there already", value);
	else
		return *id = (uint16_t)value, true;
	return false;
}

static void
add_hop(struct reading *reading, const struct route_hop *hop)
{
	struct routes *routes = reading->routes;
	struct route_hop *place =
		grow(reading, (void **)&routes->hops, routes->nb_hops, sizeof(*place));

	if (place == NULL)
		return;
	*place = *hop;
	reading->index_of[hop->id] = (uint16_t)routes->nb_hops++;
}

/* "hop ID blackhole" and others that need no more. */
static void
read_bare_hop(struct reading *reading, char **words)
{
	static const char *const kinds[] = {[ROUTE_BLACKHOLE] = "blackhole",
					    [ROUTE_LOCAL] = "local",
					    [ROUTE_NEIGHBOUR] = "neighbour"};
	struct route_hop hop = {0};

	for (uint8_t kind = ROUTE_BLACKHOLE; kind <= ROUTE_NEIGHBOUR; kind++) {
		if (strcmp(words[2], kinds[kind]) != 0)
			continue;
		hop.kind = kind;
		if (new_id(reading, words[1], &hop.id))
			add_hop(reading, &hop);
		return;
	}
	complain(reading, "\"%.40s\" must be blackhole, local or neighbour", words[2]);
}

/* "hop ID PORT SOURCE-MAC TARGET-MAC [MTU]" */
static void
read_hop(struct reading *reading, char **words, unsigned int nb)
{
	struct route_hop hop = {.kind = ROUTE_FORWARD};
	unsigned long port, mtu = 0;

	if (nb == 3) {
		read_bare_hop(reading, words);
		return;
	}
	if (nb != 5 && nb != 6) {
		complain(reading, "a hop is: hop ID PORT SOURCE-MAC TARGET-MAC [MTU]");
		return;
	}
	if (!new_id(reading, words[1], &hop.id))
		return;
	if (!number(words[2], UINT8_MAX, &port)) {
		complain(reading, "port \"%.40s\" must be the number of an output", words[2]);
	} else if (!mac(words[3], hop.source) || !mac(words[4], hop.target)) {
		complain(reading, "\"%.40s\" and \"%.40s\" must be MAC addresses", words[3],
			 words[4]);
	} else if (nb == 6 && (!number(words[5], UINT16_MAX, &mtu) || mtu < MTU_MIN)) {
		complain(reading, "MTU \"%.40s\" must be %u..%u", words[5], MTU_MIN, UINT16_MAX);
	} else {
		hop.port = (uint8_t)port;
		hop.mtu = (uint16_t)mtu;
		add_hop(reading, &hop);
	}
}

/* "HOP" or "HOP*WEIGHT" */
static bool
read_member(struct reading *reading, const struct route_hop *group, char *word)
{
	struct routes *routes = reading->routes;
	char *star = strchr(word, '*');
	struct route_member *place;
	unsigned long id, weight = 1;
	uint16_t hop;

	if (star != NULL)
		*star = '\0';
	if (star != NULL && (!number(star + 1, ROUTES_WEIGHT_MAX, &weight) || weight == 0)) {
		complain(reading, "weight \"%.40s\" must be 1..%u", star + 1, ROUTES_WEIGHT_MAX);
		return false;
	}
	if (!number(word, ROUTES_HOPS_MAX - 1, &id) || reading->index_of[id] == UNKNOWN_HOP) {
		complain(reading, "no line above this one makes hop \"%.40s\"", word);
		return false;
	}
	hop = reading->index_of[id];
	if (routes->hops[hop].kind == ROUTE_GROUP) {
		complain(reading, "%lu is a group; a group has hops only", id);
		return false;
	}
	/* Whether a packet is for the router itself does not depend on its flow. */
	if (routes->hops[hop].kind == ROUTE_LOCAL) {
		complain(reading, "hop %lu is local; a group has other hops only", id);
		return false;
	}
	for (uint32_t i = group->first_member; i < routes->nb_members; i++)
		if (routes->members[i].hop == hop) {
			complain(reading, "hop %lu is in the group already", id);
			return false;
		}
	place = grow(reading, (void **)&routes->members, routes->nb_members, sizeof(*place));
	if (place == NULL)
		return false;
	*place = (struct route_member){hop, (uint16_t)weight};
	routes->nb_members++;
	return true;
}

/* "group ID HOP[*WEIGHT]..." */
static void
read_group(struct reading *reading, char **words, unsigned int nb)
{
	struct route_hop group = {.kind = ROUTE_GROUP, .first_member = reading->routes->nb_members};

	if (nb < 3 || nb == WORDS_MAX) {
		complain(reading, "a group is: group ID HOP[*WEIGHT]..., 1 to %u hops",
			 ROUTES_MEMBERS_MAX);
		return;
	}
	if (!new_id(reading, words[1], &group.id))
		return;
	for (unsigned int i = 2; i < nb; i++)
		if (!read_member(reading, &group, words[i]))
			return;
	group.nb_members = (uint16_t)(nb - 2);
	add_hop(reading, &group);
}

/* Return whether all bits behind the prefix are 0. */
static bool
is_prefix(const uint8_t *octets, unsigned int length, unsigned int bits)
{
	for (unsigned int bit = length; bit < bits; bit++)
		if (octets[bit / 8] & (0x80 >> bit % 8))
			return false;
	return true;
}

/* Return whether packets of IPv6 may meet an MTU below what IPv6 needs. */
static bool
is_narrow(const struct routes *routes, const struct route_hop *hop)
{
	for (uint32_t i = 0; hop->kind == ROUTE_GROUP && i < hop->nb_members; i++)
		if (is_narrow(routes, &routes->hops[routes->members[hop->first_member + i].hop]))
			return true;
	return hop->mtu != 0 && hop->mtu < MTU_MIN_V6;
}

/* "route PREFIX/LENGTH HOP" */
static void
read_route(struct reading *reading, char **words, unsigned int nb)
{
	struct routes *routes = reading->routes;
	char *slash = nb == 3 ? strchr(words[1], '/') : NULL;
	struct route route = {.version = 0}, *place;
	unsigned long length, hop;
	unsigned int bits;

	if (slash == NULL) {
		complain(reading, "a route is: route PREFIX/LENGTH HOP");
		return;
	}
	*slash = '\0';
	route.version = strchr(words[1], ':') != NULL ? 6 : 4;
	bits = route.version == 4 ? 32 : 128;
	if (inet_pton(route.version == 4 ? AF_INET : AF_INET6, words[1], route.prefix) != 1) {
		complain(reading, "\"%.60s\" must be an IPv4 or IPv6 address", words[1]);
		return;
	}
	if (!number(slash + 1, bits, &length)) {
		complain(reading, "length \"%.40s\" must be 0..%u", slash + 1, bits);
		return;
	}
	if (!is_prefix(route.prefix, (unsigned int)length, bits))
		complain(reading, "%.60s has bits behind its length %lu", words[1], length);
	else if (!number(words[2], ROUTES_HOPS_MAX - 1, &hop) ||
		 reading->index_of[hop] == UNKNOWN_HOP)
		complain(reading, "no line above this one makes hop \"%.40s\"", words[2]);
	else if (route.version == 6 && is_narrow(routes, &routes->hops[reading->index_of[hop]]))
		complain(reading, "hop %lu has an MTU below %u, which IPv6 needs", hop, MTU_MIN_V6);
	else if ((place = grow(reading, (void **)&routes->list, routes->nb_routes,
			       sizeof(route))) != NULL) {
		route.length = (uint8_t)length;
		route.hop = reading->index_of[hop];
		*place = route;
		routes->nb_routes++;
	}
}

static void
read_line(struct reading *reading, char *line)
{
	char *words[WORDS_MAX], *rest = NULL;
	unsigned int nb = 0;

	line[strcspn(line, "#\r\n")] = '\0';
	for (char *word = strtok_r(line, " \t", &rest); word != NULL && nb < WORDS_MAX;
	     word = strtok_r(NULL, " \t", &rest))
		words[nb++] = word;
	if (nb == 0)
		return;
	if (strcmp(words[0], "hop") == 0)
		read_hop(reading, words, nb);
	else if (strcmp(words[0], "group") == 0)
		read_group(reading, words, nb);
	else if (strcmp(words[0], "route") == 0)
		read_route(reading, words, nb);
	else
		complain(reading, "\"%.40s\" must be hop, group or route", words[0]);
}

int
route_compare(const void *a, const void *b)
{
	const struct route *one = a, *other = b;

	if (one->version != other->version)
		return one->version < other->version ? -1 : 1;
	if (one->length != other->length)
		return one->length < other->length ? -1 : 1;
	return memcmp(one->prefix, other->prefix, sizeof(one->prefix));
}

static void
find_twins(struct reading *reading)
{
	const struct routes *routes = reading->routes;
	char text[INET6_ADDRSTRLEN];

	if (routes->nb_routes > 0)
		qsort(routes->list, routes->nb_routes, sizeof(*routes->list), route_compare);
	for (uint32_t i = 1; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];

		if (route_compare(route - 1, route) != 0)
			continue;
		inet_ntop(route->version == 4 ? AF_INET : AF_INET6, route->prefix, text,
			  sizeof(text));
		complain(reading, "%s/%u has more than one route", text, route->length);
	}
}

static void
read_lines(struct reading *reading, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	for (reading->line = 1; (length = getline(&line, &size, file)) >= 0; reading->line++) {
		if (strlen(line) < (size_t)length) {
			complain(reading, "a NUL octet is in the line");
			break;
		}
		if (strcspn(line, "\r\n") > LINE_MAX_LEN) {
			complain(reading, "a line has at most %u octets", LINE_MAX_LEN);
			break;
		}
		if (reading->line > 1) {
			read_line(reading, line);
		} else {
			line[strcspn(line, "\r\n")] = '\0';
			if (strcmp(line, ROUTES_FORMAT) != 0) {
				complain(reading, "the first line must be \"%s\"", ROUTES_FORMAT);
				break;
			}
		}
	}
	free(line);
	if (reading->line == 1 && reading->nb_faults == 0)
		complain(reading, "the file is empty; its first line must be \"%s\"",
			 ROUTES_FORMAT);
	find_twins(reading);
}

uint32_t
routes_read(struct routes *routes, const char *path, const struct routes_complaint *complaint)
{
	struct reading reading = {.routes = routes, .path = path, .complaint = complaint};
	FILE *file = fopen(path, "r");

	*routes = (struct routes){0};
	memset(reading.index_of, 0xff, sizeof(reading.index_of));
	if (file == NULL) {
		complain(&reading, "%s", strerror(errno));
		return reading.nb_faults;
	}
	read_lines(&reading, file);
	fclose(file);
	if (reading.nb_faults > 0)
		routes_free(routes);
	return reading.nb_faults;
}

void
routes_free(struct routes *routes)
{
	free(routes->hops);
	free(routes->members);
	free(routes->list);
	free(routes->vrfs);
	*routes = (struct routes){0};
}

struct routes
routes_of(const struct routes *routes, unsigned int vrf)
{
	struct routes part = *routes;

	if (routes->vrfs == NULL)
		return part;
	part.list = routes->list + routes->vrfs[vrf].first;
	part.nb_routes = routes->vrfs[vrf].nb;
	part.vrfs = NULL;
	part.nb_vrfs = 0;
	return part;
}
