/* SPDX-License-Identifier: Apache-2.0 */
/* Have the kernel ask for the neighbours that a router which follows it needs. */
#ifndef WSDP_ROUTER_NEIGHBOURS_H
#define WSDP_ROUTER_NEIGHBOURS_H

#include "mirror/feed.h"

struct telemetry_out;

void neighbours_stats(const struct compile_report *report, struct telemetry_out *out);
/* Ask for gateways whose address is not known: of one that is, the kernel would forget that it is permanent. */
void
neighbours_ask(struct feed *feed, const struct kernel *kernel, const struct compile_report *report);
/* Ask for those that the kernel would forget: one that only the fast path uses is not used, as far as it
 * sees. */
void neighbours_refresh(struct feed *feed, const struct kernel *kernel);

#endif
