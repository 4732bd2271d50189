/* SPDX-License-Identifier: Apache-2.0 */
/* Record when a thread of this host was taken off its CPU, for how long, and whether voluntarily.
 *
 * The kernel's own records of context switches (perf events), of any thread that this process may
 * watch. Their clock is mapped to the TSC by reading both at start and at stop.
 */
#ifndef WSDP_SWITCH_LOG_H
#define WSDP_SWITCH_LOG_H

#include <stdint.h>
#include <sys/types.h>

#define SWITCH_LOG_THREADS_MAX 64

/* Watch these threads. Returns 0 or a negative errno; *failed is the thread that it is about, 0 if
 * it is about none. -EBUSY: it runs already; -EINVAL: none, too many, or one twice; -ESRCH: there is
 * no such thread; -EACCES and -EPERM: not for this process; -ENOSYS, -ENOENT and -EOPNOTSUPP: not
 * by this kernel. */
int switch_log_start(const pid_t *tids, unsigned int count, pid_t *failed);

/* Watch no longer, write what was seen to a file and forget it: the format of
 * docs/reference/wsdp.md. Returns 0 or a negative errno, -ENODATA where none was started. */
int switch_log_stop(const char *path);

/* Watch no longer, forget what was seen. */
void switch_log_abandon(void);

#endif
