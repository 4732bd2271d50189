/* SPDX-License-Identifier: Apache-2.0 */
/* Measure time and memory of loading a gateway's tables. `bench_bng_load TABLES WORKERS -- EAL`
 * reads the file and builds the tables of each worker in turn, as bng_up does. It prints the time
 * from opening the file to the last table, and the octets of all tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "core/tsc.h"
#include "pktlib/bng/tables.h"
#include "tasks/bng_worker.h"

static void
say(const struct bng_complaint *complaint __rte_unused, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

static int
fail(const char *text)
{
	fprintf(stderr, "bench_bng_load: %s\n", text);
	return 1;
}

int
main(int argc, char **argv)
{
	static const struct bng_tables_room room = {.users = 1024, .routes = 1024};
	const struct bng_complaint complaint = {say, NULL};
	struct bng_tables tables[BNG_WORKERS_MAX];
	struct bng_table_file file;
	uint64_t start, octets = 0;
	uint32_t workers;

	if (argc < 4 || strcmp(argv[3], "--") != 0)
		return fail("usage: bench_bng_load TABLES WORKERS -- EAL");
	workers = (uint32_t)atoi(argv[2]);
	if (workers == 0 || workers > BNG_WORKERS_MAX)
		return fail("there are 1 to 64 workers");
	if (rte_eal_init(argc - 3, argv + 3) < 0)
		return fail(rte_strerror(rte_errno));
	start = rte_rdtsc_precise();
	if (bng_table_file_read(&file, argv[1], &complaint) != 0)
		return 1;
	for (uint32_t i = 0; i < workers; i++) {
		if (bng_tables_build(&tables[i], &file, i, workers, &room, bng_memory_of(0)) != 0)
			return fail("out of memory");
		octets += bng_tables_octets(&tables[i]);
	}
	printf("seconds %.3f octets %" PRIu64 " users %u routes %u\n",
	       (double)(rte_rdtsc_precise() - start) / (double)tsc_hz(), octets, file.nb_users,
	       file.nb_routes);
	for (uint32_t i = 0; i < workers; i++)
		bng_tables_free(&tables[i]);
	bng_table_file_free(&file);
	return 0;
}
