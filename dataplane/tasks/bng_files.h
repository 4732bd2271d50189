/* SPDX-License-Identifier: Apache-2.0 */
/* Table files, each read once however many tasks name it. For the main thread only. */
#ifndef TASKS_BNG_FILES_H
#define TASKS_BNG_FILES_H

#include "pktlib/bng/table_file.h"

struct config_section;

/* The tables in the file that a section's key "tables" names, to be given back with bng_file_put.
 * NULL when it is faulty: the first section that names it has a fault for everything wrong. */
const struct bng_table_file *bng_file_get(const struct config_section *section, const char *path);
/* The tables of a file that has been got and not put. */
const struct bng_table_file *bng_file_find(const char *path);
void bng_file_put(const char *path);

#endif
