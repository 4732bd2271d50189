/* SPDX-License-Identifier: Apache-2.0 */
/* Building a telemetry reply: nested objects, errors, and a check that it fits. */
#ifndef WSDP_TELEMETRY_REPLY_H
#define WSDP_TELEMETRY_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rte_common.h>
#include <rte_telemetry.h>

#include "telemetry.h"

#define TELEMETRY_MAX_NESTED 256

struct telemetry_reply {
	size_t text_length; /* of the JSON so far, about */
	bool overflow;
	unsigned int nb_nested;
	struct rte_tel_data *nested[TELEMETRY_MAX_NESTED];
};

struct telemetry_out {
	struct telemetry_reply *reply;
	struct rte_tel_data *data;
};

/* Begin an object inside another. Returns false when the reply is full; then leave it. */
bool telemetry_open(struct telemetry_out *parent, struct telemetry_out *child);
void telemetry_close(struct telemetry_out *parent, const char *key, struct telemetry_out *child);

/* Empty the outermost object, so that it can be filled anew. */
void telemetry_restart(struct telemetry_out *out);
/* Make the whole reply {"error": text}, unless nobody asked (NULL). Returns 0, for handlers to return. */
int telemetry_error(struct telemetry_out *out, const char *format, ...) __rte_format_printf(2, 3);

#endif
