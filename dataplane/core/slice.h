/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSDP_SLICE_H
#define WSDP_SLICE_H

#include <stdbool.h>

/* Have the calling thread run soon after it wakes, before threads that compute for long: with a short slice, at the
 * same share of the CPU. false: the usual slice again. Linux takes slices from 6.12 on (sched_setattr, EEVDF);
 * earlier ones ignore this, and run a thread that has slept soon in any case. Real-time threads stay as they are.
 * Return 0 or a negative errno. */
int slice_shorten(bool is_short);

#endif
