/* SPDX-License-Identifier: Apache-2.0 */
/* [eal]: how DPDK itself is started. */
#ifndef WSDP_EAL_H
#define WSDP_EAL_H

#include <stdint.h>

struct app;
struct config;

struct eal_settings {
	const struct config_section *section; /* NULL: there is none */
	uint32_t main_lcore;
	const char *lcores; /* NULL: lcore N on CPU N, main on any CPU */
	const char *file_prefix;
	const char *options; /* NULL: none */
};

/* Read [eal]; the tasks are known. Lcores without a CPU are faults. `argv` are the EAL options of
 * the command line, which win over the file's. */
void eal_parse(struct app *app, const struct config *config, int argc, char **argv);
/* rte_eal_init with what the file and the command line say. On failure: message, negative errno. */
int eal_start(const struct app *app, const char *program, int argc, char **argv);

#endif
