/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bng_files.h"
#include "core/config.h"

struct loaded {
	char *path;
	struct timespec modified; /* to tell a file that was replaced since */
	off_t size;
	unsigned int users;
	bool faulty;
	struct bng_table_file file;
	struct loaded *next;
};

static struct loaded *files;

static void
complain(const struct bng_complaint *complaint, const char *text)
{
	config_fault(complaint->context, "tables", "%s", text);
}

static struct loaded *
find(const char *path)
{
	struct loaded *loaded = files;

	while (loaded != NULL && strcmp(loaded->path, path) != 0)
		loaded = loaded->next;
	return loaded;
}

static void
forget(struct loaded *loaded)
{
	struct loaded **link = &files;

	while (*link != loaded)
		link = &(*link)->next;
	*link = loaded->next;
	bng_table_file_free(&loaded->file);
	free(loaded->path);
	free(loaded);
}

static struct loaded *
load(const struct config_section *section, const char *path, const struct stat *status)
{
	const struct bng_complaint complaint = {complain, (void *)(uintptr_t)section};
	struct loaded *loaded = calloc(1, sizeof(*loaded));

	if (loaded != NULL)
		loaded->path = strdup(path);
	if (loaded == NULL || loaded->path == NULL) {
		free(loaded);
		config_fault(section, "tables", "out of memory");
		return NULL;
	}
	loaded->modified = status->st_mtim;
	loaded->size = status->st_size;
	loaded->faulty = bng_table_file_read(&loaded->file, path, &complaint) > 0;
	loaded->next = files;
	files = loaded;
	return loaded;
}

const struct bng_table_file *
bng_file_get(const struct config_section *section, const char *path)
{
	struct stat status = {0};
	struct loaded *loaded = find(path);

	/* A failure shows when the file is read. */
	(void)stat(path, &status);
	if (loaded != NULL &&
	    (loaded->users == 0 || loaded->size != status.st_size ||
	     memcmp(&loaded->modified, &status.st_mtim, sizeof(status.st_mtim)) != 0)) {
		forget(loaded);
		loaded = NULL;
	}
	if (loaded == NULL)
		loaded = load(section, path, &status);
	if (loaded == NULL)
		return NULL;
	loaded->users++;
	return loaded->faulty ? NULL : &loaded->file;
}

const struct bng_table_file *
bng_file_find(const char *path)
{
	const struct loaded *loaded = find(path);

	return loaded == NULL || loaded->faulty ? NULL : &loaded->file;
}

void
bng_file_put(const char *path)
{
	struct loaded *loaded = find(path);

	if (loaded != NULL && --loaded->users == 0)
		forget(loaded);
}
