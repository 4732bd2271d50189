/* SPDX-License-Identifier: Apache-2.0 */
/* The control side of a running wsdp, off the lcores: one action at a time.
 *
 * rte_telemetry runs each client's commands in a thread of its own; the main thread waits for the end
 * and serves the descriptors that tasks own (a netlink socket, a port of exceptions). Whoever looks at
 * the app or writes to a mailbox holds the control lock. lcores never see it.
 */
#ifndef WSDP_CONTROL_H
#define WSDP_CONTROL_H

#define CONTROL_FDS_MAX 128

struct task;

/* For tasks. Have a descriptor served until control_fd_remove: whenever it can be read, or has failed,
 * `ready` is called on the main thread, holding the control lock. It must not block: the descriptor
 * is O_NONBLOCK, and what was not read brings the next call. On the main thread only: in prepare,
 * close and `ready` itself. Returns 0, -ENOSPC, or -EEXIST: it is served already. */
int control_fd_add(struct task *task, int fd, void (*ready)(struct task *task, int fd));
/* Before the descriptor is closed. */
void control_fd_remove(int fd);

void control_lock(void);
void control_unlock(void);

/* For main. Returns 0 or a negative errno. */
int control_open(void);
/* Serve descriptors until control_end. Returns 0 or a negative errno. */
int control_run(void);
/* From any thread or signal handler. */
void control_end(void);

#endif
