/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a table file: it is rejected with a reason, or everything in it is in
 * range. */
#include <stdlib.h>

#include "bng/lpm.h"
#include "bng/pppoe.h"
#include "bng/table_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *text, size_t size);

static unsigned int nb_said;

static void
say(const struct bng_complaint *complaint, const char *text)
{
	(void)complaint;
	nb_said += text[0] != '\0';
}

static void
require(bool holds)
{
	if (!holds)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *text, size_t size)
{
	const struct bng_complaint complaint = {say, NULL};
	struct bng_table_file file;
	uint32_t faults;

	nb_said = 0;
	faults = bng_table_file_parse(&file, "fuzz", (const char *)text, size, &complaint);
	require((faults > 0) == (nb_said > 0));
	for (uint32_t i = 0; i < file.nb_hops; i++)
		require(file.hops[i].id < BNG_HOPS_MAX && file.hops[i].spec.port < BNG_PORTS_MAX);
	for (uint32_t i = 0; i < file.nb_routes; i++)
		require(file.routes[i].length <= 32 &&
			(file.routes[i].prefix & ~bng_prefix_mask(file.routes[i].length)) == 0);
	for (uint32_t i = 0; i < file.nb_users; i++)
		require(file.users[i].key <= BNG_KEY_MAX && file.users[i].line < 1u << 24 &&
			file.users[i].port < BNG_PORTS_MAX &&
			(file.users[i].session == 0 || file.users[i].has_host) &&
			file.users[i].session <= BNG_SESSION_MAX);
	bng_table_file_free(&file);
	return 0;
}
