/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cfgfile.h>
#include <rte_string_fns.h>

#include "config.h"

struct config_entry {
	char name[CFG_NAME_LEN];
	char value[CFG_VALUE_LEN];
	bool known;
};

struct config_section {
	struct config *config;
	char name[CFG_NAME_LEN];
	bool known;
	unsigned int nb_entries;
	struct config_entry *entries;
};

struct config {
	char *path;
	unsigned int nb_sections;
	struct config_section *sections;
	unsigned int nb_faults;
	char **faults;
};

/* Out of memory while reading a few kilobytes of text: nothing sensible is left to do. */
static void *
must(void *memory)
{
	if (memory == NULL) {
		fputs("wsdp: out of memory while reading the configuration\n", stderr);
		abort();
	}
	return memory;
}

static struct config_entry *
entry_find(const struct config_section *section, const char *key)
{
	for (unsigned int i = 0; i < section->nb_entries; i++)
		if (strcmp(section->entries[i].name, key) == 0)
			return &section->entries[i];
	return NULL;
}

void
config_fault(const struct config_section *section, const char *key, const char *format, ...)
{
	struct config *config = section->config;
	const struct config_entry *entry = key == NULL ? NULL : entry_find(section, key);
	char *reason, *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&reason, format, args) < 0)
		reason = NULL;
	va_end(args);
	must(reason);
	if (asprintf(&text, "%s: [%s]%s%s%s%s: %s", config->path, section->name,
		     key == NULL ? "" : " ", key == NULL ? "" : key, entry == NULL ? "" : " = ",
		     entry == NULL ? "" : entry->value, reason) < 0)
		text = NULL;
	free(reason);
	config->faults =
		must(realloc(config->faults, (config->nb_faults + 1) * sizeof(*config->faults)));
	config->faults[config->nb_faults++] = must(text);
}

/* rte_cfgfile keeps duplicates and cuts what is too long, without a word: say it here. */
static void
section_check(struct config *config, const struct config_section *section)
{
	if (strlen(section->name) >= CFG_NAME_LEN - 1)
		config_fault(section, NULL, "the name is too long; at most %d characters",
			     CFG_NAME_LEN - 2);
	for (const struct config_section *other = config->sections; other < section; other++)
		if (strcmp(other->name, section->name) == 0)
			config_fault(section, NULL, "this section appears twice");
	for (unsigned int i = 0; i < section->nb_entries; i++) {
		const struct config_entry *entry = &section->entries[i];

		if (strlen(entry->name) >= CFG_NAME_LEN - 1)
			config_fault(section, entry->name,
				     "the key is too long; at most %d characters",
				     CFG_NAME_LEN - 2);
		if (strlen(entry->value) >= CFG_VALUE_LEN - 1)
			config_fault(section, entry->name,
				     "the value is too long; at most %d characters",
				     CFG_VALUE_LEN - 2);
		if (entry_find(section, entry->name) != entry)
			config_fault(section, entry->name, "this key appears twice");
	}
}

static void
section_load(struct config *config, struct config_section *section, struct rte_cfgfile *file,
	     int index)
{
	int nb = rte_cfgfile_section_num_entries_by_index(file, section->name, index);
	struct rte_cfgfile_entry *raw = must(calloc(nb + 1, sizeof(*raw)));

	section->config = config;
	section->nb_entries = nb;
	section->entries = must(calloc(nb + 1, sizeof(*section->entries)));
	rte_cfgfile_section_entries_by_index(file, index, section->name, raw, nb);
	for (int i = 0; i < nb; i++) {
		rte_strscpy(section->entries[i].name, raw[i].name, CFG_NAME_LEN);
		rte_strscpy(section->entries[i].value, raw[i].value, CFG_VALUE_LEN);
	}
	free(raw);
}

/* rte_cfgfile passes over lines that are neither [section] nor key = value, and does not survive a
 * key before the first section. Returns how many lines are wrong, each reported on stderr. */
static unsigned int
check_lines(const char *path, FILE *file)
{
	unsigned int number = 0, faults = 0;
	bool in_section = false;
	size_t size = 0;
	char *line = NULL;
	ssize_t read;

	while ((read = getline(&line, &size, file)) >= 0) {
		const char *text = line + strspn(line, " \t\r\n");
		size_t length = strcspn(text, ";\r\n");
		bool section = text[0] == '[' && memchr(text, ']', length) != NULL;
		bool pair = text[0] != '[' && memchr(text, '=', length) != NULL;

		number++;
		if (strlen(line) < (size_t)read) {
			faults++;
			fprintf(stderr, "%s: line %u: a NUL octet is in it\n", path, number);
			continue;
		}
		in_section |= section;
		if (length == 0 || section || (pair && in_section))
			continue;
		faults++;
		fprintf(stderr, "%s: line %u: \"%.*s\" must be %s\n", path, number, (int)length,
			text,
			pair ? "in a section; none has begun yet"
			     : "[section] or key = value (a comment starts with ;)");
	}
	free(line);
	return faults;
}

static struct rte_cfgfile *
load_file(const char *path)
{
	FILE *text = fopen(path, "r");
	struct rte_cfgfile *file;
	unsigned int faults;

	if (text == NULL) {
		fprintf(stderr, "wsdp: %s: cannot be read: %s\n", path, strerror(errno));
		return NULL;
	}
	faults = check_lines(path, text);
	fclose(text);
	if (faults > 0)
		return NULL;
	file = rte_cfgfile_load(path, 0);
	if (file == NULL)
		fprintf(stderr, "wsdp: %s: the line named above is longer than %d characters\n",
			path, CFG_NAME_LEN + CFG_VALUE_LEN);
	return file;
}

struct config *
config_load(const char *path)
{
	struct rte_cfgfile *file = load_file(path);
	struct config *config;
	int nb;

	if (file == NULL)
		return NULL;
	nb = rte_cfgfile_num_sections(file, NULL, 0);
	config = must(calloc(1, sizeof(*config)));
	config->path = must(strdup(path));
	config->sections = must(calloc(nb + 1, sizeof(*config->sections)));
	config->nb_sections = nb;
	for (int i = 0; i < nb; i++)
		section_load(config, &config->sections[i], file, i);
	rte_cfgfile_close(file);
	for (int i = 0; i < nb; i++)
		section_check(config, &config->sections[i]);
	return config;
}

void
config_free(struct config *config)
{
	if (config == NULL)
		return;
	for (unsigned int i = 0; i < config->nb_sections; i++)
		free(config->sections[i].entries);
	for (unsigned int i = 0; i < config->nb_faults; i++)
		free(config->faults[i]);
	free(config->sections);
	free(config->faults);
	free(config->path);
	free(config);
}

const struct config_section *
config_find(const struct config *config, const char *name)
{
	for (unsigned int i = 0; i < config->nb_sections; i++) {
		struct config_section *section = &config->sections[i];

		if (strcmp(section->name, name) == 0) {
			section->known = true;
			return section;
		}
	}
	return NULL;
}

const struct config_section *
config_next(const struct config *config, const char *prefix, const struct config_section *previous)
{
	struct config_section *end = config->sections + config->nb_sections;
	struct config_section *section =
		previous == NULL ? config->sections
				 : config->sections + (previous - config->sections) + 1;
	size_t length = strlen(prefix);

	for (; section < end; section++) {
		if (strncmp(section->name, prefix, length) == 0 && section->name[length] == '.') {
			section->known = true;
			return section;
		}
	}
	return NULL;
}

const char *
config_name(const struct config_section *section)
{
	const char *dot = strchr(section->name, '.');

	return dot == NULL ? section->name : dot + 1;
}

const char *
config_string(const struct config_section *section, const char *key)
{
	struct config_entry *entry = entry_find(section, key);

	if (entry == NULL)
		return NULL;
	entry->known = true;
	return entry->value;
}

void
config_skip(const struct config_section *section)
{
	for (unsigned int i = 0; i < section->nb_entries; i++)
		section->entries[i].known = true;
}

bool
config_has(const struct config_section *section, const char *key)
{
	return entry_find(section, key) != NULL;
}

bool
config_require(const struct config_section *section, const char *key)
{
	if (config_has(section, key))
		return true;
	config_fault(section, key, "this key is required");
	return false;
}

int
config_refuse(const struct config_section *section, const char *const *keys, size_t nb,
	      const char *why)
{
	int ret = 0;

	for (size_t i = 0; i < nb; i++) {
		if (!config_has(section, keys[i]))
			continue;
		config_fault(section, keys[i], "%s", why);
		ret = -EINVAL;
	}
	return ret;
}

unsigned int
config_fault_count(const struct config *config)
{
	return config->nb_faults;
}

const char *
config_fault_text(const struct config *config, unsigned int index)
{
	return index < config->nb_faults ? config->faults[index] : NULL;
}

unsigned int
config_report(struct config *config)
{
	for (unsigned int i = 0; i < config->nb_sections; i++) {
		struct config_section *section = &config->sections[i];

		if (!section->known) {
			config_fault(section, NULL,
				     "unknown section; allowed: eal, lcore, pool, "
				     "port.NAME, ring.NAME, task.NAME");
			continue;
		}
		for (unsigned int j = 0; j < section->nb_entries; j++)
			if (!section->entries[j].known &&
			    entry_find(section, section->entries[j].name) == &section->entries[j])
				config_fault(section, section->entries[j].name, "unknown key");
	}
	for (unsigned int i = 0; i < config->nb_faults; i++)
		fprintf(stderr, "%s\n", config->faults[i]);
	return config->nb_faults;
}
