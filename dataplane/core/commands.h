/* SPDX-License-Identifier: Apache-2.0 */
/* The /wirespeed commands. Each fills the reply; what is wrong makes it {"error": ...}. */
#ifndef WSDP_COMMANDS_H
#define WSDP_COMMANDS_H

struct app;
struct app_task;
struct telemetry_out;

/* Commands that report: reports.c. `params` is what follows the command's first comma, or NULL. */
void report_info(struct app *app, const char *params, struct telemetry_out *out);
void report_stats(struct app *app, const char *params, struct telemetry_out *out);
void report_task(struct app *app, const char *params, struct telemetry_out *out);
void report_lcores(struct app *app, const char *params, struct telemetry_out *out);
void report_gaps(struct app *app, const char *params, struct telemetry_out *out);
void report_ports(struct app *app, const char *params, struct telemetry_out *out);
void report_rings(struct app *app, const char *params, struct telemetry_out *out);

/* Commands on CPUs and threads: cpu_commands.c. They run in parallel with all others, do not use
 * the app and get "" for no parameters. */
void watch_placement(const char *params, struct telemetry_out *out);
void watch_contention(const char *params, struct telemetry_out *out);
void watch_contention_samples(const char *params, struct telemetry_out *out);
void watch_switches(const char *params, struct telemetry_out *out);
void watch_switches_stop(const char *params, struct telemetry_out *out);

/* The task a request names, with what follows its name in *rest ("" if nothing). NULL: the reply is
 * an error already. */
struct app_task *
command_task(struct app *app, struct telemetry_out *out, const char *params, const char **rest);

#endif
