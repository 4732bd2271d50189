/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of what lcores read, in place: all lcores stand still meanwhile. */
#ifndef WSDP_HOLD_H
#define WSDP_HOLD_H

struct app;

/* Have every lcore wait between two rounds, run change(context) on the calling thread, and let them go on. With
 * the control lock. Returns 0 or a negative errno, with nothing changed: -ENOMEM, -EBUSY, or -ETIMEDOUT where an
 * lcore has not stood still in time. */
int hold_lcores(struct app *app, void (*change)(void *context), void *context);

#endif
