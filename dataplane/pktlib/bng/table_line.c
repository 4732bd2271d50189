/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lpm.h"
#include "pppoe.h"
#include "table_line.h"

#define FIELDS_MAX 7
#define FIELDS_WITH_HOST 6 /* of a user */
#define SHOWN_MAX 40       /* octets of a bad field in a message */

enum field_type { NUMBER, LABEL, ADDRESS, PREFIX, MAC, SESSION };

struct field {
	const char *name;
	enum field_type type;
	uint64_t max; /* of a NUMBER */
};

struct layout {
	const char *word;
	unsigned int nb_name;     /* leading fields that name the entry */
	unsigned int nb_required; /* all of the rest are optional, */
	unsigned int nb_whole;    /* or those behind this one, */
	unsigned int nb_fields;   /* or none */
	struct field fields[FIELDS_MAX];
};

static const struct layout layouts[BNG_ENTRY_KINDS] = {
	[BNG_HOP_ENTRY] = {"hop",
			   1,
			   5,
			   5,
			   5,
			   {{"id", NUMBER, BNG_HOPS_MAX - 1},
			    {"tunnel", ADDRESS, 0},
			    {"label", LABEL, 0},
			    {"mac", MAC, 0},
			    {"port", NUMBER, BNG_PORTS_MAX - 1}}},
	[BNG_ROUTE_ENTRY] =
		{"route", 1, 2, 2, 2, {{"prefix", PREFIX, 0}, {"hop", NUMBER, BNG_HOPS_MAX - 1}}},
	[BNG_USER_ENTRY] = {"user",
			    3,
			    4,
			    FIELDS_WITH_HOST,
			    FIELDS_MAX,
			    {{"svid", NUMBER, BNG_VID_MASK},
			     {"cvid", NUMBER, BNG_VID_MASK},
			     {"key", NUMBER, BNG_KEY_MAX},
			     {"port", NUMBER, BNG_PORTS_MAX - 1},
			     {"ip", ADDRESS, 0},
			     {"mac", MAC, 0},
			     {"session", SESSION, 0}}},
};

struct text {
	const char *at;
	const char *end;
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits up to `max`, without a sign or a superfluous 0 in front. */
static bool
take_number(struct text *text, uint64_t max, uint64_t *value)
{
	const char *start = text->at;

	for (*value = 0; text->at < text->end && is_digit(*text->at); text->at++) {
		*value = *value * 10 + (uint64_t)(*text->at - '0');
		if (*value > max)
			return false;
	}
	return text->at > start && (*start != '0' || text->at == start + 1);
}

static bool
take_char(struct text *text, char c)
{
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

static bool
take_address(struct text *text, uint64_t *value)
{
	uint64_t part;

	*value = 0;
	for (unsigned int i = 0; i < 4; i++) {
		if ((i > 0 && !take_char(text, '.')) || !take_number(text, 255, &part))
			return false;
		*value = *value << 8 | part;
	}
	return true;
}

/* The length goes into the bits above the address. Bits behind the length must be 0. */
static bool
take_prefix(struct text *text, uint64_t *value)
{
	uint64_t length;

	if (!take_address(text, value) || !take_char(text, '/') || !take_number(text, 32, &length))
		return false;
	if ((*value & ~bng_prefix_mask((uint8_t)length) & UINT32_MAX) != 0)
		return false;
	*value |= length << 32;
	return true;
}

static int
hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
take_mac(struct text *text, uint64_t *value)
{
	*value = 0;
	for (unsigned int i = 0; i < 6; i++) {
		int high, low;

		if ((i > 0 && !take_char(text, ':')) || text->end - text->at < 2)
			return false;
		high = hex_digit(text->at[0]);
		low = hex_digit(text->at[1]);
		if (high < 0 || low < 0)
			return false;
		*value = *value << 8 | (uint64_t)(high << 4 | low);
		text->at += 2;
	}
	return (*value >> 40 & 1) == 0; /* no station has a group address */
}

static bool
take_label(struct text *text, uint64_t *value)
{
	if (take_char(text, '-')) {
		*value = BNG_NO_LABEL;
		return true;
	}
	return take_number(text, 0xfffff, value) && *value > 15;
}

static bool
take_field(const struct field *field, struct text text, uint64_t *value)
{
	bool good = false;

	switch (field->type) {
	case NUMBER:
		good = take_number(&text, field->max, value);
		break;
	case LABEL:
		good = take_label(&text, value);
		break;
	case ADDRESS:
		good = take_address(&text, value);
		break;
	case PREFIX:
		good = take_prefix(&text, value);
		break;
	case MAC:
		good = take_mac(&text, value);
		break;
	case SESSION:
		good = take_number(&text, BNG_SESSION_MAX, value) && *value > 0;
		break;
	}
	return good && text.at == text.end;
}

static void
complain_field(const struct field *field, unsigned int number, struct text text,
	       const struct bng_complaint *complaint)
{
	static const char *const allowed[] = {
		[LABEL] = "an MPLS label from 16 to 1048575, or - for none",
		[ADDRESS] = "an IPv4 address as in 10.0.0.1",
		[PREFIX] = "an IPv4 prefix as in 10.0.0.0/8, all bits behind its length 0",
		[MAC] = "the MAC address of one station as in 02:00:00:00:00:01",
		[SESSION] = "a PPPoE session from 1 to 65534",
	};
	char number_text[48], message[200];
	const char *what = number_text;

	if (field->type == NUMBER)
		snprintf(number_text, sizeof(number_text), "a whole number from 0 to %llu",
			 (unsigned long long)field->max);
	else
		what = allowed[field->type];
	snprintf(message, sizeof(message), "field %u, %s = \"%.*s\": must be %s", number + 1,
		 field->name,
		 (int)(text.end - text.at > SHOWN_MAX ? SHOWN_MAX : text.end - text.at), text.at,
		 what);
	complaint->say(complaint, message);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Split at blanks. Returns how many fields there are; those beyond FIELDS_MAX are only counted. */
static unsigned int
split(struct text text, struct text fields[FIELDS_MAX])
{
	unsigned int nb = 0;

	for (;;) {
		struct text field;

		while (text.at < text.end && is_blank(*text.at))
			text.at++;
		if (text.at == text.end)
			return nb;
		field.at = text.at;
		while (text.at < text.end && !is_blank(*text.at))
			text.at++;
		field.end = text.at;
		if (nb < FIELDS_MAX)
			fields[nb] = field;
		nb++;
	}
}

static void
put_mac(uint8_t mac[6], uint64_t value)
{
	for (unsigned int i = 0; i < 6; i++)
		mac[i] = (uint8_t)(value >> (40 - 8 * i));
}

static void
fill_entry(struct bng_entry *entry, const uint64_t values[FIELDS_MAX], unsigned int nb)
{
	switch (entry->kind) {
	case BNG_HOP_ENTRY:
		entry->hop.id = (uint16_t)values[0];
		entry->hop.spec.tunnel = (uint32_t)values[1];
		entry->hop.spec.label = (uint32_t)values[2];
		put_mac(entry->hop.spec.mac, values[3]);
		entry->hop.spec.port = (uint8_t)values[4];
		break;
	case BNG_ROUTE_ENTRY:
		entry->route.prefix = (uint32_t)values[0];
		entry->route.length = (uint8_t)(values[0] >> 32);
		entry->route.hop = (uint16_t)values[1];
		break;
	case BNG_USER_ENTRY:
		entry->user.line = bng_line((uint16_t)values[0], (uint16_t)values[1]);
		entry->user.key = (uint32_t)values[2];
		entry->user.port = (uint8_t)values[3];
		entry->user.has_host = nb >= FIELDS_WITH_HOST;
		entry->user.ip = (uint32_t)values[4];
		put_mac(entry->user.mac, values[5]);
		entry->user.session = (uint16_t)values[6];
		break;
	case BNG_ENTRY_KINDS:
		break;
	}
}

static bool
has_right_count(const struct layout *layout, unsigned int nb)
{
	return nb == layout->nb_required || (nb >= layout->nb_whole && nb <= layout->nb_fields);
}

static void
complain_count(const struct layout *layout, unsigned int nb, bool name_only,
	       const struct bng_complaint *complaint)
{
	char message[120];

	if (name_only || layout->nb_required == layout->nb_fields)
		snprintf(message, sizeof(message), "%s: %u fields, must be %u", layout->word, nb,
			 name_only ? layout->nb_name : layout->nb_fields);
	else
		snprintf(message, sizeof(message), "%s: %u fields, must be %u, %u or %u",
			 layout->word, nb, layout->nb_required, layout->nb_whole,
			 layout->nb_fields);
	complaint->say(complaint, message);
}

static int
parse(struct bng_entry *entry, enum bng_entry_kind kind, struct text text, bool name_only,
      const struct bng_complaint *complaint)
{
	const struct layout *layout = &layouts[kind];
	struct text fields[FIELDS_MAX];
	uint64_t values[FIELDS_MAX] = {0};
	unsigned int nb = split(text, fields);
	int ret = 0;

	*entry = (struct bng_entry){.kind = kind};
	if (name_only ? nb != layout->nb_name : !has_right_count(layout, nb)) {
		complain_count(layout, nb, name_only, complaint);
		return -1;
	}
	for (unsigned int i = 0; i < nb; i++) {
		if (take_field(&layout->fields[i], fields[i], &values[i]))
			continue;
		complain_field(&layout->fields[i], i, fields[i], complaint);
		ret = -1;
	}
	fill_entry(entry, values, nb);
	return ret;
}

enum bng_entry_kind
bng_entry_kind_of(const char *word, size_t length)
{
	enum bng_entry_kind kind = 0;

	while (kind < BNG_ENTRY_KINDS && (strlen(layouts[kind].word) != length ||
					  memcmp(layouts[kind].word, word, length) != 0))
		kind++;
	return kind;
}

int
bng_entry_parse(struct bng_entry *entry, enum bng_entry_kind kind, const char *text,
		const char *end, const struct bng_complaint *complaint)
{
	return parse(entry, kind, (struct text){text, end}, false, complaint);
}

int
bng_entry_parse_name(struct bng_entry *entry, enum bng_entry_kind kind, const char *text,
		     const char *end, const struct bng_complaint *complaint)
{
	return parse(entry, kind, (struct text){text, end}, true, complaint);
}
