/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "destinations.h"
#include "flow_step.h"

static char path[] = "/tmp/test_destinations.XXXXXX";

static void
write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	CHECK(fputs(text, file) >= 0);
	CHECK_EQ(fclose(file), 0);
}

static void
test_addresses_are_read_in_order(void)
{
	struct destinations found;
	struct fault why;

	write_file("203.0.113.9\n1.2.3.4");
	CHECK_EQ(destinations_load(&found, path, 4, &why), 0);
	CHECK_EQ(found.nb, 2);
	CHECK_EQ(found.list[0].low, 0xcb007109);
	CHECK_EQ(found.list[1].low, 0x01020304);
	CHECK_EQ(found.list[0].high, 0);
	destinations_unload(&found);
	write_file("2001:db8:1234:5678::9abc\n");
	CHECK_EQ(destinations_load(&found, path, 6, &why), 0);
	CHECK_EQ(found.list[0].high, UINT64_C(0x20010db812345678));
	CHECK_EQ(found.list[0].low, 0x9abc);
	destinations_unload(&found);
}

static void
check_refused(const char *text, uint8_t version, const char *says)
{
	struct destinations found;
	struct fault why;

	write_file(text);
	CHECK(destinations_load(&found, path, version, &why) < 0);
	CHECK(strstr(why.text, says) != NULL);
	CHECK(found.list == NULL && found.nb == 0);
}

static void
test_faults_are_reported_with_their_line(void)
{
	struct destinations found;
	struct fault why;

	check_refused("", 4, "has no address");
	check_refused("1.2.3.4\n\n", 4, "line 2: \"\" is no IPv4 address");
	check_refused("1.2.3.4\n1.2.3.4.5\n", 4, "line 2");
	check_refused("1.2.3.4\n", 6, "line 1: \"1.2.3.4\" is no IPv6 address");
	check_refused("224.0.0.1\n", 4, "of one host");
	check_refused("ff02::1\n", 6, "of one host");
	CHECK(destinations_load(&found, "/nonexistent", 4, &why) < 0);
	CHECK(strstr(why.text, "cannot be opened: No such file") != NULL);
}

static void
test_more_lines_than_flows_are_refused(void)
{
	struct destinations found;
	struct fault why;
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	for (unsigned int i = 0; i < FLOWS_MAX; i++)
		fputs("1.2.3.4\n", file);
	fflush(file);
	CHECK_EQ(destinations_load(&found, path, 4, &why), 0);
	CHECK_EQ(found.nb, FLOWS_MAX);
	destinations_unload(&found);
	fputs("1.2.3.4\n", file);
	fclose(file);
	CHECK(destinations_load(&found, path, 4, &why) < 0);
	CHECK(strstr(why.text, "more than 1000000") != NULL);
}

int
main(void)
{
	close(mkstemp(path));
	test_addresses_are_read_in_order();
	test_faults_are_reported_with_their_line();
	test_more_lines_than_flows_are_refused();
	unlink(path);
	return 0;
}
