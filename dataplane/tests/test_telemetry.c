/* SPDX-License-Identifier: Apache-2.0 */
/* A reply that would not fit is an error as a whole: rte_telemetry would drop parts of it silently.
 * What the replies say is tested through the socket, in tests/dataplane/test_control.py. */
#include <string.h>

#include "core/telemetry_reply.h"
#include "pktlib/check.h"

static struct telemetry_reply reply;

static struct telemetry_out
start(void)
{
	struct telemetry_out out = {.reply = &reply, .data = rte_tel_data_alloc()};

	CHECK(out.data != NULL);
	memset(&reply, 0, sizeof(reply));
	rte_tel_data_start_dict(out.data);
	return out;
}

static void
finish(struct telemetry_out *out)
{
	telemetry_restart(out);
	rte_tel_data_free(out->data);
}

static void
test_text_is_counted(void)
{
	struct telemetry_out out = start(), child;

	telemetry_u64(&out, "rx", 12345);
	telemetry_string(&out, "type", "io");
	CHECK(telemetry_open(&out, &child));
	telemetry_u64(&child, "y", 0);
	telemetry_close(&out, "x", &child);
	/* At least as long as the JSON: rx 12345, type "io", x {y 0}. */
	CHECK(reply.text_length >= strlen("{\"rx\":12345,\"type\":\"io\",\"x\":{\"y\":0}}"));
	CHECK(!reply.overflow);
	finish(&out);
}

static void
test_too_much_text(void)
{
	struct telemetry_out out = start(), child;
	unsigned int objects = 0;
	char key[16];

	while (!reply.overflow && telemetry_open(&out, &child)) {
		for (unsigned int i = 0; i < 10; i++) {
			snprintf(key, sizeof(key), "key_%u", i);
			telemetry_u64(&child, key, UINT64_MAX);
		}
		snprintf(key, sizeof(key), "object_%u", objects++);
		telemetry_close(&out, key, &child);
	}
	/* 10 members of "key_0":18446744073709551615, are 290 octets. */
	CHECK(objects > 40 && objects < 16384 / 290);
	telemetry_error(&out, "too long");
	CHECK(!reply.overflow);
	CHECK_EQ(reply.nb_nested, 0);
	finish(&out);
}

static void
test_too_many_members(void)
{
	struct telemetry_out out = start();
	char key[16];

	for (unsigned int i = 0; i < RTE_TEL_MAX_DICT_ENTRIES; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		telemetry_u64(&out, key, i);
		CHECK(!reply.overflow);
	}
	telemetry_u64(&out, "one_more", 0);
	CHECK(reply.overflow);
	finish(&out);
}

static void
test_bad_keys_do_not_vanish(void)
{
	struct telemetry_out out = start();

	telemetry_u64(&out, "no blanks", 1);
	CHECK(reply.overflow);
	finish(&out);
}

int
main(void)
{
	test_text_is_counted();
	test_too_much_text();
	test_too_many_members();
	test_bad_keys_do_not_vanish();
	return 0;
}
