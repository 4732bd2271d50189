/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"

#define LINE_MAX_LEN 254
#define WORDS_MAX 6
#define UNKNOWN_HOP UINT16_MAX

struct reading {
	struct routes *routes;
	const char *path;
	const struct routes_complaint *complaint;
	uint32_t line;
	uint32_t nb_faults;
	uint16_t index_of[ROUTES_HOPS_MAX]; /* of a hop, by id */
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

/* "hop ID PORT SOURCE-MAC TARGET-MAC" */
static void
read_hop(struct reading *reading, char **words, unsigned int nb)
{
	struct routes *routes = reading->routes;
	struct route_hop hop, *place;
	unsigned long id, port;

	if (nb != 5) {
		complain(reading, "a hop is: hop ID PORT SOURCE-MAC TARGET-MAC");
		return;
	}
	if (!number(words[1], ROUTES_HOPS_MAX - 1, &id)) {
		complain(reading, "hop id \"%.40s\" must be 0..%u", words[1], ROUTES_HOPS_MAX - 1);
		return;
	}
	if (!number(words[2], UINT8_MAX, &port))
		complain(reading, "port \"%.40s\" must be the number of an output", words[2]);
	else if (!mac(words[3], hop.source) || !mac(words[4], hop.target))
		complain(reading, "\"%.40s\" and \"%.40s\" must be MAC addresses", words[3],
			 words[4]);
	else if (reading->index_of[id] != UNKNOWN_HOP)
		complain(reading, "hop %lu is there already", id);
	else if ((place = grow(reading, (void **)&routes->hops, routes->nb_hops, sizeof(hop))) !=
		 NULL) {
		hop.id = (uint16_t)id;
		hop.port = (uint8_t)port;
		*place = hop;
		reading->index_of[id] = (uint16_t)routes->nb_hops++;
	}
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
	else if (strcmp(words[0], "route") == 0)
		read_route(reading, words, nb);
	else
		complain(reading, "\"%.40s\" must be hop or route", words[0]);
}

static int
compare(const void *a, const void *b)
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
		qsort(routes->list, routes->nb_routes, sizeof(*routes->list), compare);
	for (uint32_t i = 1; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];

		if (compare(route - 1, route) != 0)
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
	free(routes->list);
	*routes = (struct routes){0};
}
