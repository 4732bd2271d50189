/* SPDX-License-Identifier: Apache-2.0 */
/* The table file of a BNG: subscribers, routes, next hops. Everything that is wrong with it is
 * found in one reading, each with file, line and field. Format: docs/reference/bng.md. */
#ifndef PKTLIB_BNG_TABLE_FILE_H
#define PKTLIB_BNG_TABLE_FILE_H

#include <stdint.h>

#include "table_line.h"

#define BNG_TABLE_FORMAT "wirespeed-bng-tables 1"
#define BNG_COMPLAINTS_MAX 100 /* those beyond are only counted */

struct bng_table_file {
	struct bng_hop_entry *hops;
	struct bng_route_entry *routes;
	struct bng_user_entry *users;
	uint32_t nb_hops, nb_routes, nb_users;
};

/* Read a file. Complaints begin with "PATH:LINE: ". Returns how many faults there are; with none,
 * free the tables with bng_table_file_free. */
uint32_t bng_table_file_read(struct bng_table_file *tables, const char *path,
			     const struct bng_complaint *complaint);
/* The same from memory; `path` is for the messages. */
uint32_t bng_table_file_parse(struct bng_table_file *tables, const char *path, const char *text,
			      size_t octets, const struct bng_complaint *complaint);
void bng_table_file_free(struct bng_table_file *tables);

#endif
