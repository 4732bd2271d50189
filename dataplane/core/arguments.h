/* SPDX-License-Identifier: Apache-2.0 */
/* The "key=value,key=value" of a control request, taken apart on an lcore: no allocation. */
#ifndef WSDP_ARGUMENTS_H
#define WSDP_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct argument {
	char key[32];
	char value[64];
};

/* The next argument; *rest moves on behind it. 1: there is one, 0: none is left, -EINVAL: what
 * comes is no key=value or too long. */
int arguments_next(const char **rest, struct argument *argument);
/* A request that is one argument, of this key, and its value: a whole number from min to max. 0, -EINVAL
 * or -ERANGE. */
int
arguments_only_u64(const char *text, const char *key, uint64_t *value, uint64_t min, uint64_t max);

#endif
