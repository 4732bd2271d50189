/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_size.h"

#include <stdlib.h>
#include <string.h>

/* RFC 6985 section 3.1: the letters a to h. */
static const uint16_t genome_bytes[] = {64, 128, 256, 512, 1024, 1280, 1518, 2112};
#define NB_LETTERS (sizeof(genome_bytes) / sizeof(genome_bytes[0]))

static int
parse_number(struct frame_sizes *sizes, const char *text, struct fault *why)
{
	unsigned long bytes = strtoul(text, NULL, 10);

	if (strlen(text) > 5 || bytes < FRAME_MIN_BYTES || bytes > FRAME_MAX_BYTES)
		return fault_say(why, "must be %d to %d octets, FCS included", FRAME_MIN_BYTES,
				 FRAME_MAX_BYTES);
	sizes->nb_positions = 1;
	sizes->nb_sizes = 1;
	sizes->position[0] = 0;
	sizes->sizes[0] = (uint16_t)bytes;
	return 0;
}

static uint8_t
index_of_size(struct frame_sizes *sizes, uint16_t bytes)
{
	unsigned int i;

	for (i = 0; i < sizes->nb_sizes; i++)
		if (sizes->sizes[i] == bytes)
			return (uint8_t)i;
	sizes->sizes[sizes->nb_sizes] = bytes;
	return (uint8_t)sizes->nb_sizes++;
}

static int
parse_genome(struct frame_sizes *sizes, const char *text, struct fault *why)
{
	size_t length = strlen(text);
	size_t i;

	if (length > GENOME_MAX)
		return fault_say(why, "an IMIX genome has at most %d letters, this one %zu",
				 GENOME_MAX, length);
	for (i = 0; i < length; i++) {
		unsigned int letter = (unsigned int)(unsigned char)text[i] - 'a';

		if (letter >= NB_LETTERS)
			return fault_say(why, "must be a number of octets or an IMIX genome of the "
					      "letters a to h (RFC 6985)");
		sizes->position[i] = index_of_size(sizes, genome_bytes[letter]);
	}
	sizes->nb_positions = (unsigned int)length;
	return 0;
}

int
frame_sizes_parse(struct frame_sizes *sizes, const char *text, struct fault *why)
{
	memset(sizes, 0, sizeof(*sizes));
	if (text[0] == '\0')
		return fault_say(why, "must be a frame size or an IMIX genome");
	if (strspn(text, "0123456789") == strlen(text))
		return parse_number(sizes, text, why);
	return parse_genome(sizes, text, why);
}
