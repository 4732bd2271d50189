/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

static bool
copy(char *to, size_t size, const char *from, size_t length)
{
	if (length == 0 || length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

int
arguments_next(const char **rest, struct argument *argument)
{
	const char *text = *rest;
	size_t length = strcspn(text, ","), key = strcspn(text, "=,");

	if (*text == '\0')
		return 0;
	if (text[key] != '=' || !copy(argument->key, sizeof(argument->key), text, key) ||
	    !copy(argument->value, sizeof(argument->value), text + key + 1, length - key - 1))
		return -EINVAL;
	*rest = text + length + (text[length] == ',');
	return 1;
}

int
argument_u64(const struct argument *argument, uint64_t *value, uint64_t min, uint64_t max)
{
	const char *text = argument->value;
	uint64_t parsed;
	char *end;

	if (text[strspn(text, "0123456789")] != '\0')
		return -EINVAL;
	errno = 0;
	parsed = strtoull(text, &end, 10);
	if (errno != 0 || parsed < min || parsed > max)
		return -ERANGE;
	*value = parsed;
	return 0;
}
