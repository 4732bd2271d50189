/* SPDX-License-Identifier: Apache-2.0 */
/* wsdp: read a file, start what it declares, wait for a signal, stop it. */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_version.h>

#include "app.h"
#include "config.h"
#include "control.h"
#include "telemetry.h"

#define EXIT_USAGE 2 /* a fault in the command line or the file: nothing was started */

struct command_line {
	const char *config;
	bool check;
	int eal_argc;
	char **eal_argv;
};

static void
print_help(FILE *out)
{
	fprintf(out,
		"Usage: wsdp --config FILE [--check] [-- EAL OPTIONS]\n"
		"\n"
		"Run the packet tasks that an INI file declares, on DPDK.\n"
		"\n"
		"  --config FILE   ports, rings, tasks and their lcores (docs/reference/wsdp.md)\n"
		"  --check         report every fault in FILE and exit\n"
		"  --help          this text\n"
		"  --version       versions of wsdp and DPDK\n"
		"  -- ...          options for DPDK's EAL; they win over the file's\n"
		"\n"
		"Types of task: %s.\n"
		"Prints \"wsdp ready\" once ports are up and telemetry is served. SIGINT and SIGTERM\n"
		"stop it. Exit status: 0, 1 (DPDK or a device failed) or 2 (a fault in the options\n"
		"or in FILE; nothing was started).\n",
		task_ops_names());
}

/* Fill `line`; does not return for --help, --version and mistakes. */
static void
parse_command_line(int argc, char **argv, struct command_line *line)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'f'},
		{"check", no_argument, NULL, 'k'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			line->config = optarg;
			break;
		case 'k':
			line->check = true;
			break;
		case 'h':
			print_help(stdout);
			exit(EXIT_SUCCESS);
		case 'v':
			printf("wsdp %s, %s\n", WSDP_VERSION, rte_version());
			exit(EXIT_SUCCESS);
		default:
			print_help(stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0) {
		fprintf(stderr, "wsdp: unexpected argument \"%s\"; EAL options come after --\n",
			argv[optind]);
		exit(EXIT_USAGE);
	}
	line->eal_argc = argc - optind;
	line->eal_argv = argv + optind;
	if (line->config == NULL) {
		fputs("wsdp: --config FILE is missing\n", stderr);
		print_help(stderr);
		exit(EXIT_USAGE);
	}
}

static void
on_signal(int number __rte_unused)
{
	control_end();
}

/* Until here a signal ends the process at once, which is right: a device may block for long. */
static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int
run(struct app *app, const char *program, const struct command_line *line)
{
	int ret;

	/* A vhost-user peer that is gone shows as an error of the write to it. */
	signal(SIGPIPE, SIG_IGN);
	ret = control_open();
	if (ret == 0)
		ret = eal_start(app, program, line->eal_argc, line->eal_argv);
	if (ret != 0)
		return ret;
	ret = app_start(app);
	if (ret == 0)
		ret = app_launch(app);
	if (ret == 0)
		ret = telemetry_start(app);
	if (ret == 0) {
		catch_signals();
		puts("wsdp ready");
		fflush(stdout);
		ret = control_run();
	}
	telemetry_stop();
	if (app_stop(app))
		rte_eal_cleanup();
	return ret;
}

int
main(int argc, char **argv)
{
	struct command_line line = {0};
	struct config *config;
	struct app *app;
	unsigned int faults;
	int status;

	parse_command_line(argc, argv, &line);
	config = config_load(line.config);
	if (config == NULL)
		return EXIT_USAGE;
	app = app_parse(config, line.eal_argc, line.eal_argv);
	faults = config_report(config);
	if (app == NULL || faults > 0) {
		fprintf(stderr, "wsdp: %s: %u fault%s; nothing was started\n", line.config, faults,
			faults == 1 ? "" : "s");
		status = EXIT_USAGE;
	} else if (line.check) {
		printf("%s: no faults\n", line.config);
		status = EXIT_SUCCESS;
	} else {
		status = run(app, argv[0], &line) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	app_free(app);
	config_free(config);
	return status;
}
