/* SPDX-License-Identifier: Apache-2.0 */
/* The /wirespeed commands of docs/reference/wsdp.md, served by rte_telemetry off the lcores. */
#ifndef WSDP_TELEMETRY_H
#define WSDP_TELEMETRY_H

#include <stdint.h>

struct app;
struct telemetry_out;

/* Add a member to a JSON object under construction. Keys are made of letters, digits and '_'. A
 * reply holds at most 256 members and 16 KiB of text; a string at most 127 characters. */
void telemetry_u64(struct telemetry_out *out, const char *key, uint64_t value);
void telemetry_string(struct telemetry_out *out, const char *key, const char *value);

/* Register the commands; they act on `app` until telemetry_stop. */
int telemetry_start(struct app *app);
/* From here on every command about the app answers with an error; none is under way any more. */
void telemetry_stop(void);

#endif
