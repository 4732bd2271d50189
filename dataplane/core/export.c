/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "export.h"

FILE *
export_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && file == NULL)
		close(fd);
	return file;
}

int
export_close(FILE *file)
{
	int failed = ferror(file);

	return fclose(file) != 0 || failed ? -EIO : 0;
}
