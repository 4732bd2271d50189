/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

static const char *const names[BNG_VERDICTS] = {
	[BNG_FORWARD] = "forwarded", [BNG_TRUNCATED] = "truncated",
	[BNG_TYPE] = "type",         [BNG_IP_HEADER] = "ip_header",
	[BNG_CHECKSUM] = "checksum", [BNG_GRE] = "gre",
	[BNG_PPPOE] = "pppoe",       [BNG_FOREIGN] = "foreign",
	[BNG_BUFFER] = "buffer",     [BNG_NO_USER] = "no_user",
	[BNG_NO_HOST] = "no_host",   [BNG_NO_SESSION] = "no_session",
	[BNG_NO_ROUTE] = "no_route", [BNG_FRAGMENT] = "fragment",
	[BNG_OPTIONS] = "options",   [BNG_TTL] = "ttl",
	[BNG_CONTROL] = "control",   [BNG_LOCAL] = "local",
	[BNG_ARP] = "arp",
};

const char *
bng_verdict_name(enum bng_verdict verdict)
{
	return names[verdict];
}
