/* SPDX-License-Identifier: Apache-2.0 */
/* The command that replaces a task's tables by those of a file while its lcore goes on. */
#ifndef WSDP_RELOAD_H
#define WSDP_RELOAD_H

struct app;
struct telemetry_out;

/* Reloads act on `app` until reload_close, which ends one that is under way. */
void reload_open(struct app *app);
void reload_close(void);

/* "TASK,FILE". Without the control lock: it may take seconds, for which only its caller waits. */
void watch_reload(const char *params, struct telemetry_out *out);

#endif
