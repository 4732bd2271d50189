/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_file.h"

/* Place of a key in the file, to find it a second time. Sorted by key, then line. */
struct sighting {
	uint64_t key;
	uint32_t line;
};

enum sight { LINES, KEYS, PREFIXES, HOPS, NB_SIGHTS };

struct sightings {
	struct sighting *list;
	uint32_t nb;
	bool sorted;
};

struct reading {
	struct bng_table_file *tables;
	const char *path;
	const struct bng_complaint *complaint;
	uint32_t line;
	uint32_t nb_faults;
	bool out_of_memory;
	struct sightings seen[NB_SIGHTS];
	struct sightings used_hops; /* key: hop id */
};

static void
complain_at(struct reading *reading, uint32_t line, const char *text)
{
	char message[512];

	if (reading->nb_faults++ >= BNG_COMPLAINTS_MAX)
		return;
	snprintf(message, sizeof(message), "%s:%u: %s", reading->path, line, text);
	reading->complaint->say(reading->complaint, message);
}

static void
complain_here(const struct bng_complaint *complaint, const char *text)
{
	struct reading *reading = complaint->context;

	complain_at(reading, reading->line, text);
}

/* Make room for one more element; the capacity is the next power of two, so it needs no memory of
 * its own. Returns the element's place, or NULL. */
static void *
grow(struct reading *reading, void **array, uint32_t nb, size_t size)
{
	if ((nb & (nb - 1)) == 0) {
		uint64_t room = nb == 0 ? 1 : 2 * (uint64_t)nb;
		void *grown = reallocarray(*array, room, size);

		if (grown == NULL) {
			reading->out_of_memory = true;
			return NULL;
		}
		*array = grown;
	}
	return (char *)*array + (size_t)nb * size;
}

static void
sight(struct reading *reading, struct sightings *seen, uint64_t key)
{
	struct sighting *new = grow(reading, (void **)&seen->list, seen->nb, sizeof(*new));

	if (new == NULL)
		return;
	*new = (struct sighting){key, reading->line};
	seen->sorted = seen->nb == 0 || (seen->sorted && new[-1].key < key);
	seen->nb++;
}

static void
keep(struct reading *reading, const struct bng_entry *entry)
{
	struct bng_table_file *tables = reading->tables;
	void *place = NULL;

	switch (entry->kind) {
	case BNG_HOP_ENTRY:
		place = grow(reading, (void **)&tables->hops, tables->nb_hops, sizeof(entry->hop));
		if (place == NULL)
			return;
		memcpy(place, &entry->hop, sizeof(entry->hop));
		tables->nb_hops++;
		sight(reading, &reading->seen[HOPS], entry->hop.id);
		break;
	case BNG_ROUTE_ENTRY:
		place = grow(reading, (void **)&tables->routes, tables->nb_routes,
			     sizeof(entry->route));
		if (place == NULL)
			return;
		memcpy(place, &entry->route, sizeof(entry->route));
		tables->nb_routes++;
		sight(reading, &reading->seen[PREFIXES],
		      (uint64_t)entry->route.prefix << 8 | entry->route.length);
		sight(reading, &reading->used_hops, entry->route.hop);
		break;
	case BNG_USER_ENTRY:
		place = grow(reading, (void **)&tables->users, tables->nb_users,
			     sizeof(entry->user));
		if (place == NULL)
			return;
		memcpy(place, &entry->user, sizeof(entry->user));
		tables->nb_users++;
		sight(reading, &reading->seen[LINES], entry->user.line);
		sight(reading, &reading->seen[KEYS], entry->user.key);
		break;
	case BNG_ENTRY_KINDS:
		break;
	}
}

static void
read_line(struct reading *reading, const char *at, const char *end)
{
	const struct bng_complaint here = {complain_here, reading};
	const char *comment = memchr(at, '#', (size_t)(end - at)), *word;
	enum bng_entry_kind kind;
	struct bng_entry entry;

	if (comment != NULL)
		end = comment;
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	if (at == end)
		return;
	for (word = at; at < end && *at != ' ' && *at != '\t' && *at != '\r'; at++)
		;
	kind = bng_entry_kind_of(word, (size_t)(at - word));
	if (kind == BNG_ENTRY_KINDS) {
		char message[120];

		snprintf(message, sizeof(message),
			 "\"%.*s\": a line begins with hop, route or user",
			 (int)(at - word > 40 ? 40 : at - word), word);
		complain_at(reading, reading->line, message);
	} else if (bng_entry_parse(&entry, kind, at, end, &here) == 0) {
		keep(reading, &entry);
	}
}

static int
compare(const void *a, const void *b)
{
	const struct sighting *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

static void
find_duplicates(struct reading *reading, enum sight kind)
{
	static const char *const what[] = {
		[LINES] = "these S-VID and C-VID",
		[KEYS] = "this key",
		[PREFIXES] = "this prefix",
		[HOPS] = "this hop id",
	};
	struct sightings *seen = &reading->seen[kind];

	if (seen->sorted || seen->nb == 0)
		return;
	qsort(seen->list, seen->nb, sizeof(*seen->list), compare);
	for (uint32_t i = 1; i < seen->nb; i++) {
		char message[100];

		if (seen->list[i].key != seen->list[i - 1].key)
			continue;
		snprintf(message, sizeof(message), "%s stood in line %u already", what[kind],
			 seen->list[i - 1].line);
		complain_at(reading, seen->list[i].line, message);
	}
}

static void
find_missing_hops(struct reading *reading)
{
	bool exists[BNG_HOPS_MAX] = {false};

	for (uint32_t i = 0; i < reading->tables->nb_hops; i++)
		exists[reading->tables->hops[i].id] = true;
	for (uint32_t i = 0; i < reading->used_hops.nb; i++) {
		const struct sighting *used = &reading->used_hops.list[i];
		char message[80];

		if (exists[used->key])
			continue;
		snprintf(message, sizeof(message), "field 2, hop = \"%u\": there is no such hop",
			 (unsigned int)used->key);
		complain_at(reading, used->line, message);
	}
}

/* The first line names the format, so that no other file is taken for tables. Returns what follows
 * it, or NULL. */
static const char *
read_format(struct reading *reading, const char *text, const char *end)
{
	size_t length = strlen(BNG_TABLE_FORMAT);

	reading->line = 1;
	if ((size_t)(end - text) >= length && memcmp(text, BNG_TABLE_FORMAT, length) == 0) {
		text += length;
		if (text < end && *text == '\r')
			text++;
		if (text == end || *text == '\n')
			return text;
	}
	complain_at(reading, 1, "the first line must be \"" BNG_TABLE_FORMAT "\"");
	return NULL;
}

static void
read_lines(struct reading *reading, const char *at, const char *end)
{
	while (at < end && !reading->out_of_memory) {
		const char *stop;

		at++; /* the line's end before this line */
		reading->line++;
		stop = memchr(at, '\n', (size_t)(end - at));
		if (stop == NULL)
			stop = end;
		read_line(reading, at, stop);
		at = stop;
	}
}

uint32_t
bng_table_file_parse(struct bng_table_file *tables, const char *path, const char *text,
		     size_t octets, const struct bng_complaint *complaint)
{
	struct reading reading = {.tables = tables, .path = path, .complaint = complaint};
	const char *end = text + octets;

	*tables = (struct bng_table_file){0};
	text = read_format(&reading, text, end);
	if (text != NULL) {
		read_lines(&reading, text, end);
		for (enum sight kind = 0; kind < NB_SIGHTS; kind++)
			find_duplicates(&reading, kind);
		find_missing_hops(&reading);
	}
	if (reading.out_of_memory)
		complain_at(&reading, reading.line, "out of memory");
	if (reading.nb_faults > BNG_COMPLAINTS_MAX) {
		char message[512];

		snprintf(message, sizeof(message), "%s: and %u more faults", path,
			 reading.nb_faults - BNG_COMPLAINTS_MAX);
		complaint->say(complaint, message);
	}
	for (enum sight kind = 0; kind < NB_SIGHTS; kind++)
		free(reading.seen[kind].list);
	free(reading.used_hops.list);
	if (reading.nb_faults > 0)
		bng_table_file_free(tables);
	return reading.nb_faults;
}

/* The whole file, to be freed; NULL with errno. */
static char *
slurp(const char *path, size_t *octets)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 1 << 20;
	int error;

	*octets = 0;
	if (file == NULL)
		return NULL;
	for (;; room *= 2) {
		char *grown = realloc(text, room);

		if (grown == NULL)
			break;
		text = grown;
		*octets += fread(text + *octets, 1, room - *octets, file);
		if (ferror(file))
			break;
		if (*octets < room) {
			fclose(file);
			return text;
		}
	}
	error = errno;
	free(text);
	fclose(file);
	errno = error;
	return NULL;
}

uint32_t
bng_table_file_read(struct bng_table_file *tables, const char *path,
		    const struct bng_complaint *complaint)
{
	size_t octets;
	char *text = slurp(path, &octets);
	uint32_t nb_faults;

	*tables = (struct bng_table_file){0};
	if (text == NULL) {
		char message[512];

		snprintf(message, sizeof(message), "%s: cannot be read: %s", path, strerror(errno));
		complaint->say(complaint, message);
		return 1;
	}
	nb_faults = bng_table_file_parse(tables, path, text, octets, complaint);
	free(text);
	return nb_faults;
}

void
bng_table_file_free(struct bng_table_file *tables)
{
	free(tables->hops);
	free(tables->routes);
	free(tables->users);
	*tables = (struct bng_table_file){0};
}
