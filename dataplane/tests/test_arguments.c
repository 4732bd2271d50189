/* SPDX-License-Identifier: Apache-2.0 */
/* Check the parsing of a request, and of the numbers in it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/arguments.h"
#include "core/number.h"
#include "pktlib/check.h"

static void
test_arguments(void)
{
	const char *rest = "a=1,bcd=x y,e=";
	struct argument argument;

	CHECK_EQ(arguments_next(&rest, &argument), 1);
	CHECK(strcmp(argument.key, "a") == 0 && strcmp(argument.value, "1") == 0);
	CHECK_EQ(arguments_next(&rest, &argument), 1);
	CHECK(strcmp(argument.key, "bcd") == 0 && strcmp(argument.value, "x y") == 0);
	CHECK_EQ(-arguments_next(&rest, &argument), EINVAL);
	rest = "";
	CHECK_EQ(arguments_next(&rest, &argument), 0);
}

static void
test_only_argument(void)
{
	uint64_t value = 7;

	CHECK_EQ(arguments_only_u64("ns=5", "ns", &value, 0, 10), 0);
	CHECK_EQ(value, 5);
	CHECK_EQ(-arguments_only_u64("", "ns", &value, 0, 10), EINVAL);
	CHECK_EQ(-arguments_only_u64("ns", "ns", &value, 0, 10), EINVAL);
	CHECK_EQ(-arguments_only_u64("ns=", "ns", &value, 0, 10), EINVAL);
	CHECK_EQ(-arguments_only_u64("s=5", "ns", &value, 0, 10), EINVAL);
	CHECK_EQ(-arguments_only_u64("ns=5,ns=6", "ns", &value, 0, 10), EINVAL);
	CHECK_EQ(-arguments_only_u64("ns=11", "ns", &value, 0, 10), ERANGE);
	CHECK_EQ(value, 5);
}

static void
test_whole_numbers(void)
{
	static const char *const none[] = {"",   "-1",  "+1", " 1",  "1 ",    "1x",   "x",
					   "0x", "0xg", "1.", "1e3", "0x0x5", "0x-1", "--1"};
	uint64_t value = 7;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		if (number_u64(none[i], &value, 0, UINT64_MAX) != -EINVAL)
			fprintf(stderr, "\"%s\":\n", none[i]);
		CHECK_EQ(-number_u64(none[i], &value, 0, UINT64_MAX), EINVAL);
	}
	CHECK_EQ(-number_u64("18446744073709551616", &value, 0, UINT64_MAX), ERANGE);
	CHECK_EQ(-number_u64("0x10000000000000000", &value, 0, UINT64_MAX), ERANGE);
	CHECK_EQ(-number_u64("4", &value, 5, 6), ERANGE);
	CHECK_EQ(-number_u64("7", &value, 5, 6), ERANGE);
	CHECK_EQ(value, 7);
	CHECK_EQ(number_u64("18446744073709551615", &value, 0, UINT64_MAX), 0);
	CHECK_EQ(value, UINT64_MAX);
	CHECK_EQ(number_u64("010", &value, 0, 10), 0);
	CHECK_EQ(value, 10);
	CHECK_EQ(number_u64("0x1F", &value, 31, 31), 0);
	CHECK_EQ(value, 31);
}

static void
test_decimal_numbers(void)
{
	static const char *const none[] = {"",   "-1",  "+1", " 1", "1x", "nan", "inf",  "0x1",
					   "1e", "1,5", "e5", ".",  "1 ", "-.5", "1.2.3"};
	double value = 7;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		if (number_double(none[i], &value, 0, 1e300) != -EINVAL)
			fprintf(stderr, "\"%s\":\n", none[i]);
		CHECK_EQ(-number_double(none[i], &value, 0, 1e300), EINVAL);
	}
	CHECK_EQ(-number_double("1e999", &value, 0, 1e300), ERANGE);
	CHECK_EQ(-number_double("18446744073709551616", &value, 0, 1e9), ERANGE);
	CHECK(value == 7);
	CHECK_EQ(number_double("1234567.5", &value, 0, 1e9), 0);
	CHECK(value == 1234567.5);
	CHECK_EQ(number_double(".5", &value, 0, 1e9), 0);
	CHECK(value == 0.5);
	CHECK_EQ(number_double("1e6", &value, 0, 1e9), 0);
	CHECK(value == 1e6);
}

int
main(void)
{
	test_arguments();
	test_only_argument();
	test_whole_numbers();
	test_decimal_numbers();
	return 0;
}
