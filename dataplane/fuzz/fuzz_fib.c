/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a route file. One that passes the check becomes lookup tables; for each edge
 * of each prefix they give the same answer as a walk over all prefixes. */
#include <string.h>
#include <rte_eal.h>

#include "core/config.h"
#include "fuzz_file.h"
#include "pktlib/bytes.h"
#include "tasks/l3fwd_tables.h"

#define OUTPUTS 4

int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct config *config;
static const struct config_section *section;

static void
ignore(void *context, const char *text)
{
	(void)context;
	(void)text;
}

/* Tables need memory of the EAL; of this host they take nothing but that. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char *words[] = {
		"fuzz_fib",       "--no-huge",         "-m", "512", "--no-pci", "--no-shconf",
		"--no-telemetry", "--log-level=error", NULL};
	static const uint8_t ini[] = "[task.r]\nroutes = fuzz\n";
	char path[FUZZ_PATH_LEN];
	int file = file_of(ini, sizeof(ini) - 1, path);

	(void)argc;
	(void)argv;
	require(rte_eal_init(8, words) >= 0);
	config = config_load(path);
	require(config != NULL);
	section = config_find(config, "task.r");
	close(file);
	return 0;
}

static bool
matches(const struct route *route, const uint8_t *address)
{
	for (unsigned int bit = 0; bit < route->length; bit++)
		if ((route->prefix[bit / 8] ^ address[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
}

/* The number of the hop of the longest prefix; they are sorted by length. */
static uint64_t
walk(const struct routes *routes, uint8_t version, const uint8_t *address)
{
	uint64_t hop = FIB_NO_ROUTE;

	for (uint32_t i = 0; i < routes->nb_routes; i++)
		if (routes->list[i].version == version && matches(&routes->list[i], address))
			hop = 1 + (uint64_t)routes->list[i].hop;
	return hop;
}

static void
look_up(const struct fib *fib, const struct routes *routes, uint8_t version, const uint8_t *address)
{
	uint64_t hop = FIB_NO_ROUTE;
	uint32_t number = be32_load(address);
	int ret = 0;

	if (version == 4 && fib->v4 != NULL)
		ret = rte_fib_lookup_bulk(fib->v4, &number, &hop, 1);
	if (version == 6 && fib->v6 != NULL)
		ret = rte_fib6_lookup_bulk(fib->v6, (void *)(uintptr_t)address, &hop, 1);
	require(ret == 0 && hop == walk(routes, version, address));
}

/* The first and the last address of a prefix, and their neighbours outside. */
static void
look_up_edges(const struct fib *fib, const struct routes *routes, const struct route *route)
{
	unsigned int octets = route->version == 4 ? 4 : 16;
	uint8_t address[16];

	memcpy(address, route->prefix, sizeof(address));
	look_up(fib, routes, route->version, address);
	for (unsigned int i = octets; i-- > 0 && address[i]-- == 0;)
		;
	look_up(fib, routes, route->version, address);
	memcpy(address, route->prefix, sizeof(address));
	for (unsigned int bit = route->length; bit < octets * 8; bit++)
		address[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	look_up(fib, routes, route->version, address);
	for (unsigned int i = octets; i-- > 0 && ++address[i] == 0;)
		;
	look_up(fib, routes, route->version, address);
}

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	const struct routes_complaint complaint = {.say = ignore};
	const struct l3fwd_tables *tables;
	struct routes routes;
	char path[FUZZ_PATH_LEN];
	int file = file_of(octets, size, path);

	if (l3fwd_tables_check(section, path, OUTPUTS) == 0) {
		require(routes_read(&routes, path, &complaint) == 0);
		tables = l3fwd_tables_get(path, SOCKET_ID_ANY, OUTPUTS);
		require(tables != NULL && tables->nb_routes == routes.nb_routes);
		for (uint32_t i = 0; i < routes.nb_hops; i++)
			require(tables->hops[1 + i].port < OUTPUTS);
		for (uint32_t i = 0; i < routes.nb_routes; i++)
			look_up_edges(&tables->fib, &routes, &routes.list[i]);
		l3fwd_tables_put(tables);
		routes_free(&routes);
	}
	close(file);
	return 0;
}
