/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a unit test: the first that fails says where and with which values, and ends it. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

#define CHECK_EQ(actual, expected)                                                               \
	do {                                                                                     \
		uint64_t actual_ = (uint64_t)(actual);                                           \
		uint64_t expected_ = (uint64_t)(expected);                                       \
		if (actual_ != expected_) {                                                      \
			fprintf(stderr, "%s:%d: %s is %" PRIu64 ", not %" PRIu64 "\n", __FILE__, \
				__LINE__, #actual, actual_, expected_);                          \
			exit(1);                                                                 \
		}                                                                                \
	} while (0)

#endif
