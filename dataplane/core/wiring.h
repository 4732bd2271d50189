/* SPDX-License-Identifier: Apache-2.0 */
/* Connect a task: "rx = east:0, ring:a" and "tx = west:0" of a [task.NAME] section. */
#ifndef WSDP_WIRING_H
#define WSDP_WIRING_H

#include <stdint.h>

struct app;
struct app_task;
struct port;
struct ring;

/* One end of a wire: a queue of a port, or a ring. */
struct endpoint {
	struct port *port; /* NULL: a ring */
	uint16_t queue;
	struct ring *ring;
};

/* Read rx and tx of a task, with a fault for whatever does not exist or is in use by another. */
void wiring_parse(struct app *app, struct app_task *slot);
/* Give the task its inputs and outputs; ports and rings have been started. */
void wiring_connect(struct app_task *slot);

#endif
