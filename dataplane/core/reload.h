/* SPDX-License-Identifier: Apache-2.0 */
/* The command that replaces a task's tables by those of a file while its lcore goes on. */
#ifndef WSDP_RELOAD_H
#define WSDP_RELOAD_H

#include <stdbool.h>

struct app;
struct task;
struct telemetry_out;

/* Reloads act on `app` until reload_close, which ends one that is under way. */
void reload_open(struct app *app);
void reload_close(void);

/* "TASK,FILE". Without the control lock: it may take seconds, for which only its caller waits. */
void watch_reload(const char *params, struct telemetry_out *out);
/* "TASK,FILE": compare a task's tables with what they follow. Without the control lock, too. */
void watch_check(const char *params, struct telemetry_out *out);

/* For a task whose tables follow something else than files: exchange them and free the former ones, as a
 * reload does. From a thread of the task's own, without the control lock. Returns false with `built` not
 * in force: wsdp is stopping. */
bool reload_swap(struct task *task, void *built);
/* For tables that lcores read and that change in place: run change(context) while all lcores stand still. Returns 0,
 * -ECANCELED: wsdp is stopping, or as hold_lcores does. */
int reload_in_place(void (*change)(void *context), void *context);
/* For a check, or for who takes tables out of those that a reload frees: none are exchanged or freed until
 * reload_release. */
void reload_hold(void);
void reload_release(void);

#endif
