/* SPDX-License-Identifier: Apache-2.0 */
#include "ip_forward.h"

const char *const ip_verdict_names[IP_VERDICTS] = {
	[IP_NO_ROUTE] = "no_route",     [IP_TTL_EXPIRED] = "ttl_expired",
	[IP_BAD_HEADER] = "bad_header", [IP_WITH_OPTIONS] = "options",
	[IP_NOT_IP] = "not_ip",
};
