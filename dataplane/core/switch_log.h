/* SPDX-License-Identifier: Apache-2.0 */
/* Record when a thread of this host was taken off its CPU, for how long, and whether voluntarily; and
 * which threads ran on a CPU, and when.
 *
 * The kernel's own records of context switches (perf events), of any thread or CPU that this process
 * may watch. Their clock is mapped to the TSC by reading both at start and at stop.
 */
#ifndef WSDP_SWITCH_LOG_H
#define WSDP_SWITCH_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_LOG_WATCHED_MAX 64

/* A thread by its id, or a CPU. */
struct switch_log_target {
	bool is_cpu;
	uint32_t number;
};

/* Watch these. Returns 0 or a negative errno; *failed is the one that it is about, NULL if it is
 * about none. -EBUSY: it runs already; -EINVAL: none, too many, or one twice; -ESRCH: there is no
 * such thread; -ENODEV or -EINVAL: no such CPU; -EACCES and -EPERM: not for this process; -ENOSYS,
 * -ENOENT and -EOPNOTSUPP: not by this kernel. */
int switch_log_start(const struct switch_log_target *targets, unsigned int count,
		     const struct switch_log_target **failed);

/* Watch no longer, write what was seen to a file and forget it: the format of
 * docs/reference/wsdp.md. Returns 0 or a negative errno, -ENODATA where none was started. */
int switch_log_stop(const char *path);

/* Watch no longer, forget what was seen. */
void switch_log_abandon(void);

#endif
