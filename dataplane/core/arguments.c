/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "arguments.h"
#include "number.h"

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
arguments_only_u64(const char *text, const char *key, uint64_t *value, uint64_t min, uint64_t max)
{
	struct argument argument;

	if (arguments_next(&text, &argument) != 1 || *text != '\0' ||
	    strcmp(argument.key, key) != 0)
		return -EINVAL;
	return number_u64(argument.value, value, min, max);
}
