/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "thread_stat.h"

#define STAT_FIELD_CPU 39 /* proc(5), counted from 1 */

static FILE *
open_file(pid_t tid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, file);
	return fopen(path, "r");
}

static int
read_switches(pid_t tid, uint64_t *switches)
{
	FILE *file = open_file(tid, "status");
	int ret = -ENOTSUP;
	char line[256];

	if (file == NULL)
		return -errno;
	while (ret != 0 && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, switches) == 1)
			ret = 0;
	fclose(file);
	return ret;
}

static int
read_wait(pid_t tid, uint64_t *wait_ns)
{
	FILE *file = open_file(tid, "schedstat");
	int ret = 0;

	if (file == NULL)
		return -errno;
	if (fscanf(file, "%*u %" SCNu64, wait_ns) != 1)
		ret = -ENOTSUP;
	fclose(file);
	return ret;
}

static int
read_cpu(pid_t tid, uint32_t *cpu)
{
	FILE *file = open_file(tid, "stat");
	char line[1024], *field;
	int ret = -ENOTSUP;

	if (file == NULL)
		return -errno;
	if (fgets(line, sizeof(line), file) != NULL) {
		/* Field 2, the thread's name, may hold blanks: count from its closing bracket. */
		field = strrchr(line, ')');
		for (int i = 2; field != NULL && i < STAT_FIELD_CPU; i++)
			field = strchr(field + 1, ' ');
		if (field != NULL && sscanf(field, "%" SCNu32, cpu) == 1)
			ret = 0;
	}
	fclose(file);
	return ret;
}

int
thread_stat_read(pid_t tid, struct thread_stat *stat)
{
	int ret = read_switches(tid, &stat->involuntary_switches);

	if (ret == 0)
		ret = read_wait(tid, &stat->wait_ns);
	return ret == 0 ? read_cpu(tid, &stat->cpu) : ret;
}
