/* SPDX-License-Identifier: Apache-2.0 */
/* The table file: what a good one holds, and every fault of a bad one, with line and field. */
#include <string.h>

#include "bng/table_file.h"
#include "../check.h"

struct log {
	char text[1 << 16];
	size_t length;
};

static void
say(const struct bng_complaint *complaint, const char *text)
{
	struct log *log = complaint->context;

	log->length += (size_t)snprintf(log->text + log->length, sizeof(log->text) - log->length,
					"%s\n", text);
	CHECK(log->length < sizeof(log->text));
}

static uint32_t
parse(struct bng_table_file *file, const char *text, struct log *log)
{
	const struct bng_complaint complaint = {say, log};

	log->length = 0;
	log->text[0] = '\0';
	return bng_table_file_parse(file, "t", text, strlen(text), &complaint);
}

static void
test_good(struct log *log)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0xaB, 1};
	struct bng_table_file file;

	CHECK_EQ(parse(&file,
		       "wirespeed-bng-tables 1\r\n"
		       "# the order does not matter\n"
		       "route 0.0.0.0/0 3\r\n"
		       "user 4095 0 268435455 15\n"
		       "\n"
		       "  hop\t3 198.51.100.7 100 02:00:00:00:aB:01 1  # a comment\n"
		       "route 10.0.0.0/8 3\n"
		       "hop 509 198.51.100.8 - 02:00:00:00:ab:02 0\n"
		       "user 7 42 0 0 10.0.0.7 02:00:00:00:ab:01",
		       log),
		 0);
	CHECK_EQ(log->length, 0);
	CHECK_EQ(file.nb_hops, 2);
	CHECK_EQ(file.hops[0].id, 3);
	CHECK_EQ(file.hops[0].spec.tunnel, 0xc6336407);
	CHECK_EQ(file.hops[0].spec.label, 100);
	CHECK_EQ(file.hops[0].spec.port, 1);
	CHECK(memcmp(file.hops[0].spec.mac, mac, 6) == 0);
	CHECK_EQ(file.hops[1].spec.label, BNG_NO_LABEL);
	CHECK_EQ(file.nb_routes, 2);
	CHECK_EQ(file.routes[1].prefix, 0x0a000000);
	CHECK_EQ(file.routes[1].length, 8);
	CHECK_EQ(file.nb_users, 2);
	CHECK_EQ(file.users[0].line, bng_line(4095, 0));
	CHECK_EQ(file.users[0].key, BNG_KEY_MAX);
	CHECK_EQ(file.users[0].port, 15);
	CHECK(!file.users[0].has_host);
	CHECK(file.users[1].has_host);
	CHECK_EQ(file.users[1].ip, 0x0a000007);
	CHECK(memcmp(file.users[1].mac, mac, 6) == 0);
	bng_table_file_free(&file);
}

static void
test_faults(struct log *log)
{
	struct bng_table_file file;

	CHECK_EQ(parse(&file,
		       "wirespeed-bng-tables 1\n"
		       "hop 510 1.2.3 15 01:00:00:00:00:01 16\n"
		       "route 10.0.0.1/8 0\n"
		       "route 10.0.0.0/33 0\n"
		       "user 1 4096 x -1\n"
		       "user 1 2 3\n"
		       "user 1 2 3 0 10.0.0.1\n"
		       "usr 1 2 3 0\n"
		       "hop 1 1.2.3.4 - 02:00:00:00:00:01 0\n"
		       "hop 1 1.2.3.4 - 02:00:00:00:00:01 0\n"
		       "route 10.0.0.0/8 1\n"
		       "route 10.0.0.0/9 2\n"
		       "route 10.0.0.0/8 1\n"
		       "user 5 5 9 0\n"
		       "user 5 6 8 0\n"
		       "user 5 5 7 0\n"
		       "user 5 7 9 0\n"
		       "user 05 8 10 0\n",
		       log),
		 19);
	CHECK(strcmp(log->text,
		     "t:2: field 1, id = \"510\": must be a whole number from 0 to 509\n"
		     "t:2: field 2, tunnel = \"1.2.3\": must be an IPv4 address as in 10.0.0.1\n"
		     "t:2: field 3, label = \"15\": must be an MPLS label from 16 to 1048575, or - for "
		     "none\n"
		     "t:2: field 4, mac = \"01:00:00:00:00:01\": must be the MAC address of one station "
		     "as in 02:00:00:00:00:01\n"
		     "t:2: field 5, port = \"16\": must be a whole number from 0 to 15\n"
		     "t:3: field 1, prefix = \"10.0.0.1/8\": must be an IPv4 prefix as in 10.0.0.0/8, "
		     "all bits behind its length 0\n"
		     "t:4: field 1, prefix = \"10.0.0.0/33\": must be an IPv4 prefix as in 10.0.0.0/8, "
		     "all bits behind its length 0\n"
		     "t:5: field 2, cvid = \"4096\": must be a whole number from 0 to 4095\n"
		     "t:5: field 3, key = \"x\": must be a whole number from 0 to 268435455\n"
		     "t:5: field 4, port = \"-1\": must be a whole number from 0 to 15\n"
		     "t:6: user: 3 fields, must be 4, 6 or 7\n"
		     "t:7: user: 5 fields, must be 4, 6 or 7\n"
		     "t:8: \"usr\": a line begins with hop, route or user\n"
		     "t:18: field 1, svid = \"05\": must be a whole number from 0 to 4095\n"
		     "t:16: these S-VID and C-VID stood in line 14 already\n"
		     "t:17: this key stood in line 14 already\n"
		     "t:13: this prefix stood in line 11 already\n"
		     "t:10: this hop id stood in line 9 already\n"
		     "t:12: field 2, hop = \"2\": there is no such hop\n") == 0);
	CHECK(file.users == NULL);
}

static void
test_no_table_file(struct log *log)
{
	const struct bng_complaint complaint = {say, log};
	struct bng_table_file file;

	CHECK_EQ(parse(&file, "user 1 2 3 0\n", log), 1);
	CHECK(strcmp(log->text, "t:1: the first line must be \"wirespeed-bng-tables 1\"\n") == 0);
	CHECK_EQ(parse(&file, "", log), 1);
	CHECK_EQ(parse(&file, "wirespeed-bng-tables 12\n", log), 1);
	CHECK_EQ(parse(&file, "wirespeed-bng-tables 1", log), 0);
	log->length = 0;
	CHECK_EQ(bng_table_file_read(&file, "/no/such/tables", &complaint), 1);
	CHECK(strcmp(log->text, "/no/such/tables: cannot be read: No such file or directory\n") ==
	      0);
	log->length = 0;
	CHECK_EQ(bng_table_file_read(&file, "/", &complaint), 1);
	CHECK(strcmp(log->text, "/: cannot be read: Is a directory\n") == 0);
}

/* Only the first ones are printed, but all are counted. */
static void
test_many_faults(struct log *log)
{
	static char text[1 << 16] = BNG_TABLE_FORMAT "\n";
	struct bng_table_file file;

	for (unsigned int i = 0; i < BNG_COMPLAINTS_MAX + 7; i++)
		strcat(text, "bogus\n");
	CHECK_EQ(parse(&file, text, log), BNG_COMPLAINTS_MAX + 7);
	CHECK(strstr(log->text, "t: and 7 more faults\n") != NULL);
	CHECK(strstr(log->text, "t:101: ") != NULL);
	CHECK(strstr(log->text, "t:102: ") == NULL);
}

int
main(void)
{
	static struct log log;

	test_good(&log);
	test_faults(&log);
	test_no_table_file(&log);
	test_many_faults(&log);
	return 0;
}
