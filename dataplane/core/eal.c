/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "app.h"
#include "config.h"
#include "eal.h"

#define EAL_MAX_ARGS 128

struct arguments {
	int argc;
	char *argv[EAL_MAX_ARGS + 1];
};

/* Return whether one of these NULL-terminated words is among the EAL options of the command line or
 * the file. "--lcores" also matches "--lcores=...", "-l" also "-l0". */
static bool
names_option(const char *text, const char *const *words)
{
	for (unsigned int i = 0; words[i] != NULL; i++) {
		size_t length = strlen(words[i]);
		bool is_long = words[i][1] == '-';

		if (strncmp(text, words[i], length) == 0 &&
		    (!is_long || text[length] == '\0' || text[length] == '='))
			return true;
	}
	return false;
}

static bool
has_option(const struct eal_settings *eal, int argc, char **argv, const char *const *words)
{
	char *copy, *word, *rest = NULL;
	bool found = false;

	for (int i = 0; i < argc; i++)
		if (names_option(argv[i], words))
			return true;
	if (eal->options == NULL)
		return false;
	copy = strdup(eal->options);
	for (word = copy; copy != NULL && (word = strtok_r(word, " \t", &rest)) != NULL;
	     word = NULL)
		found |= names_option(word, words);
	free(copy);
	return found;
}

static const char *const lcore_options[] = {"--lcores", "-l", "-c", NULL};
static const char *const pci_options[] = {"--no-pci", "--allow", "-a", "--block", "-b", NULL};

static bool
lcore_in_use(const struct app *app, uint32_t lcore_id)
{
	for (unsigned int i = 0; i < app->nb_tasks; i++)
		if (app->tasks[i].task.lcore_id == lcore_id)
			return true;
	return false;
}

/* "0-3,8": the CPUs this process may run on. */
static void
describe_cpus(const cpu_set_t *cpus, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++) {
		int first = cpu;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, cpus))
			cpu++;
		used += snprintf(text + used, size - used, "%s%d", used == 0 ? "" : ",", first);
		if (cpu > first && used < size)
			used += snprintf(text + used, size - used, "-%d", cpu);
	}
}

static void
check_cpus(const struct app *app)
{
	char text[256];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return;
	describe_cpus(&cpus, text, sizeof(text));
	for (unsigned int i = 0; i < app->nb_tasks; i++)
		if (!CPU_ISSET(app->tasks[i].task.lcore_id, &cpus))
			config_fault(app->tasks[i].section, "lcore",
				     "there is no such CPU for this "
				     "process: it may run on %s ([eal] lcores can map the lcore to "
				     "one of them)",
				     text);
}

void
eal_parse(struct app *app, const struct config *config, int argc, char **argv)
{
	struct eal_settings *eal = &app->eal;

	eal->section = config_find(config, "eal");
	while (lcore_in_use(app, eal->main_lcore))
		eal->main_lcore++;
	eal->file_prefix = "wsdp";
	if (eal->section != NULL) {
		eal->lcores = config_string(eal->section, "lcores");
		eal->options = config_string(eal->section, "options");
		if (config_has(eal->section, "file_prefix"))
			eal->file_prefix = config_string(eal->section, "file_prefix");
		config_u32(eal->section, "main_lcore", &eal->main_lcore, 0, RTE_MAX_LCORE - 1);
		if (config_has(eal->section, "main_lcore") && lcore_in_use(app, eal->main_lcore))
			config_fault(eal->section, "main_lcore",
				     "the main lcore runs no task; name one that no task names");
	}
	if (eal->lcores == NULL && !has_option(eal, argc, argv, lcore_options))
		check_cpus(app);
}

static int
add_argument(struct arguments *arguments, const char *format, ...) __rte_format_printf(2, 3);

static int
add_argument(struct arguments *arguments, const char *format, ...)
{
	va_list args;
	int ret;

	if (arguments->argc == EAL_MAX_ARGS) {
		fprintf(stderr, "wsdp: more than %d EAL options\n", EAL_MAX_ARGS);
		return -E2BIG;
	}
	va_start(args, format);
	ret = vasprintf(&arguments->argv[arguments->argc], format, args);
	va_end(args);
	if (ret < 0)
		return -ENOMEM;
	arguments->argc++;
	return 0;
}

/* Every lcore with a task on the CPU of its number; the main lcore, which sleeps, on any CPU. */
static int
add_default_lcores(struct arguments *arguments, const struct app *app)
{
	char cpus_text[256], list[4096];
	size_t used;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return -errno;
	describe_cpus(&cpus, cpus_text, sizeof(cpus_text));
	used = snprintf(list, sizeof(list), "%u@(%s)", app->eal.main_lcore, cpus_text);
	for (uint32_t id = 0; id < RTE_MAX_LCORE && used < sizeof(list); id++)
		if (lcore_in_use(app, id))
			used += snprintf(list + used, sizeof(list) - used, ",%u@%u", id, id);
	return add_argument(arguments, "--lcores=%s", list);
}

static int
add_all(struct arguments *arguments, const struct app *app, const char *program, int argc,
	char **argv)
{
	const struct eal_settings *eal = &app->eal;
	bool lcores_elsewhere = has_option(eal, argc, argv, lcore_options);
	bool any_pci = false;
	char *word, *rest = NULL, *options = eal->options == NULL ? NULL : strdup(eal->options);
	int ret = add_argument(arguments, "%s", program);

	if (eal->lcores != NULL && !lcores_elsewhere)
		ret |= add_argument(arguments, "--lcores=%s", eal->lcores);
	else if (!lcores_elsewhere)
		ret |= add_default_lcores(arguments, app);
	if ((eal->lcores == NULL && !lcores_elsewhere) ||
	    (eal->section != NULL && config_has(eal->section, "main_lcore")))
		ret |= add_argument(arguments, "--main-lcore=%u", eal->main_lcore);
	ret |= add_argument(arguments, "--file-prefix=%s", eal->file_prefix);
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		if (!app->ports[i].is_pci)
			continue;
		any_pci = true;
		ret |= add_argument(arguments, "--allow=%s", app->ports[i].device);
	}
	/* Never touch a PCI device that was not named. */
	if (!any_pci && !has_option(eal, argc, argv, pci_options))
		ret |= add_argument(arguments, "--no-pci");
	for (word = options; options != NULL && (word = strtok_r(word, " \t", &rest)) != NULL;
	     word = NULL)
		ret |= add_argument(arguments, "%s", word);
	for (int i = 0; i < argc; i++)
		ret |= add_argument(arguments, "%s", argv[i]);
	free(options);
	return ret;
}

int
eal_start(const struct app *app, const char *program, int argc, char **argv)
{
	struct arguments arguments = {0}, given;
	int ret = add_all(&arguments, app, program, argc, argv);

	given = arguments; /* EAL reorders what it is given */
	if (ret == 0 && rte_eal_init(arguments.argc, arguments.argv) < 0) {
		fprintf(stderr,
			"wsdp: DPDK does not start: %s; it was given:", rte_strerror(rte_errno));
		for (int i = 1; i < given.argc; i++)
			fprintf(stderr, " %s", given.argv[i]);
		fputc('\n', stderr);
		ret = -rte_errno;
	}
	for (int i = 0; i < given.argc; i++)
		free(given.argv[i]);
	return ret;
}
