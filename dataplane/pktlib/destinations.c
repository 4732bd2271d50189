/* SPDX-License-Identifier: Apache-2.0 */
#include "destinations.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "flow_step.h"

/* The longest IPv6 address, with newline and NUL. */
#define LINE_BYTES 64
#define FIRST_ROOM 1024

static bool
read_address(const char *line, uint8_t version, struct destination *address)
{
	uint8_t octets[16] = {0};

	if (inet_pton(version == 4 ? AF_INET : AF_INET6, line, octets) != 1)
		return false;
	if (version == 4) {
		*address = (struct destination){.low = be32_load(octets)};
		return octets[0] < 224;
	}
	*address = (struct destination){.high = be64_load(octets), .low = be64_load(octets + 8)};
	return octets[0] != 0xff;
}

static int
grow(struct destinations *destinations, uint32_t *room)
{
	uint32_t more = *room == 0 ? FIRST_ROOM : 2 * *room;
	struct destination *list = realloc(destinations->list, more * sizeof(*list));

	if (list == NULL)
		return -1;
	destinations->list = list;
	*room = more;
	return 0;
}

static int
read_lines(struct destinations *destinations, FILE *file, uint8_t version, struct fault *why)
{
	char line[LINE_BYTES];
	uint32_t room = 0;

	while (fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (destinations->nb == FLOWS_MAX)
			return fault_say(why, "has more than %d lines", FLOWS_MAX);
		if (destinations->nb == room && grow(destinations, &room) < 0)
			return fault_say(why, "no memory for its %u addresses", destinations->nb);
		if (!read_address(line, version, &destinations->list[destinations->nb++]))
			return fault_say(why, "line %u: \"%s\" is no IPv%u address of one host",
					 destinations->nb, line, version);
	}
	if (ferror(file))
		return fault_say(why, "cannot be read: %s", strerror(errno));
	return destinations->nb > 0 ? 0 : fault_say(why, "has no address");
}

int
destinations_load(struct destinations *destinations, const char *path, uint8_t version,
		  struct fault *why)
{
	FILE *file = fopen(path, "r");
	int ret;

	memset(destinations, 0, sizeof(*destinations));
	if (file == NULL)
		return fault_say(why, "cannot be opened: %s", strerror(errno));
	ret = read_lines(destinations, file, version, why);
	fclose(file);
	if (ret < 0)
		destinations_unload(destinations);
	return ret;
}

void
destinations_unload(struct destinations *destinations)
{
	free(destinations->list);
	memset(destinations, 0, sizeof(*destinations));
}
