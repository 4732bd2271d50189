/* SPDX-License-Identifier: Apache-2.0 */
/* Check which pairs of addresses a router forwards. */
#include <arpa/inet.h>
#include <string.h>

#include "check.h"
#include "ip_scope.h"

static enum ip_scope
scope(const char *source, const char *target)
{
	uint8_t ip[40] = {0};

	if (strchr(source, ':') == NULL) {
		CHECK_EQ(inet_pton(AF_INET, source, ip + 12), 1);
		CHECK_EQ(inet_pton(AF_INET, target, ip + 16), 1);
		return ip_scope_v4(ip);
	}
	CHECK_EQ(inet_pton(AF_INET6, source, ip + 8), 1);
	CHECK_EQ(inet_pton(AF_INET6, target, ip + 24), 1);
	return ip_scope_v6(ip);
}

static const struct {
	const char *source, *target;
	enum ip_scope scope;
} cases[] = {
	{"1.0.0.0", "223.255.255.255", IP_UNICAST},
	{"10.0.0.1", "192.168.0.1", IP_UNICAST},
	{"126.0.0.1", "128.0.0.1", IP_UNICAST},
	{"0.0.0.1", "10.0.0.1", IP_MARTIAN},
	{"10.0.0.1", "0.0.0.0", IP_MARTIAN},
	{"127.0.0.1", "10.0.0.1", IP_MARTIAN},
	{"10.0.0.1", "127.1.2.3", IP_MARTIAN},
	{"224.0.0.1", "10.0.0.1", IP_MARTIAN},
	{"255.255.255.255", "10.0.0.1", IP_MARTIAN},
	{"10.0.0.1", "240.0.0.1", IP_MARTIAN},
	{"10.0.0.1", "224.0.0.5", IP_MULTICAST},
	{"0.0.0.0", "224.0.0.1", IP_MULTICAST},
	{"127.0.0.1", "224.0.0.1", IP_MARTIAN},
	{"10.0.0.1", "255.255.255.255", IP_LINK},
	{"0.0.0.0", "255.255.255.255", IP_LINK},
	{"127.0.0.1", "255.255.255.255", IP_MARTIAN},
	{"2001:db8::1", "2400::1", IP_UNICAST},
	{"fc00::1", "fdff::1", IP_UNICAST},
	{"64:ff9b::1", "2400::1", IP_UNICAST},
	{"fe80::1", "fe80::2", IP_LINK},
	{"fe80::1", "2400::1", IP_LINK},
	{"2400::1", "febf::1", IP_LINK},
	{"2400::1", "fec0::1", IP_UNICAST},
	{"::", "2400::1", IP_LINK},
	{"::", "ff02::1", IP_MULTICAST},
	{"fe80::1", "ff02::5", IP_MULTICAST},
	{"ff02::1", "2400::1", IP_MARTIAN},
	{"ff02::1", "ff02::2", IP_MARTIAN},
	{"::1", "2400::1", IP_MARTIAN},
	{"2400::1", "::1", IP_MARTIAN},
	{"2400::1", "::", IP_MARTIAN},
};

int
main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (scope(cases[i].source, cases[i].target) != cases[i].scope) {
			fprintf(stderr, "%s to %s: not %d\n", cases[i].source, cases[i].target,
				cases[i].scope);
			return 1;
		}
	return 0;
}
