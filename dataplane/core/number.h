/* SPDX-License-Identifier: Apache-2.0 */
/* Read numbers from the INI file and from commands. A number has no sign and nothing follows it;
 * one that does not fit is rejected, not truncated. */
#ifndef WSDP_NUMBER_H
#define WSDP_NUMBER_H

#include <stdint.h>

/* A whole number, decimal, or hexadecimal after 0x; a leading zero does not mean octal. Returns 0,
 * -EINVAL: it is none, or -ERANGE: it is not from min to max. */
int number_u64(const char *text, uint64_t *value, uint64_t min, uint64_t max);
/* A decimal number, such as 0.5 or 1e6. */
int number_double(const char *text, double *value, double min, double max);

#endif
