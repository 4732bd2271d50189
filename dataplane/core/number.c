/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

int
number_u64(const char *text, uint64_t *value, uint64_t min, uint64_t max)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	uint64_t parsed;

	/* strtoull would take blanks, signs and a second 0x. */
	if (digits[0] == '\0' ||
	    digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")] != '\0')
		return -EINVAL;
	errno = 0;
	parsed = strtoull(digits, NULL, hex ? 16 : 10);
	if (errno != 0 || parsed < min || parsed > max)
		return -ERANGE;
	*value = parsed;
	return 0;
}

int
number_double(const char *text, double *value, double min, double max)
{
	double parsed;
	char *end;

	/* Neither blanks nor signs, nan, inf or 0x. */
	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	parsed = strtod(text, &end);
	if (end == text || *end != '\0')
		return -EINVAL;
	if (!(parsed >= min && parsed <= max))
		return -ERANGE;
	*value = parsed;
	return 0;
}
