/* SPDX-License-Identifier: Apache-2.0 */
/* Reason why a value was rejected: one sentence with the value and what is allowed. */
#ifndef PKTLIB_FAULT_H
#define PKTLIB_FAULT_H

#include <stdarg.h>
#include <stdio.h>

struct fault {
	char text[200];
};

/* Returns -1 so that a check can end with `return fault_say(...)`. */
__attribute__((format(printf, 2, 3))) static inline int
fault_say(struct fault *fault, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(fault->text, sizeof(fault->text), format, args);
	va_end(args);
	return -1;
}

#endif
