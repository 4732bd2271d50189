/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "control.h"

struct served {
	struct task *task;
	void (*ready)(struct task *task, int fd);
	int fd;
};

static struct served served[CONTROL_FDS_MAX];
static unsigned int nb_served;
static int end_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void
control_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
control_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static struct served *
find(int fd)
{
	for (unsigned int i = 0; i < nb_served; i++)
		if (served[i].fd == fd)
			return &served[i];
	return NULL;
}

int
control_fd_add(struct task *task, int fd, void (*ready)(struct task *task, int fd))
{
	if (find(fd) != NULL)
		return -EEXIST;
	if (nb_served == CONTROL_FDS_MAX)
		return -ENOSPC;
	served[nb_served++] = (struct served){task, ready, fd};
	return 0;
}

void
control_fd_remove(int fd)
{
	struct served *gone = find(fd);

	if (gone != NULL)
		*gone = served[--nb_served];
}

int
control_open(void)
{
	end_fd = eventfd(0, EFD_CLOEXEC);
	return end_fd < 0 ? -errno : 0;
}

void
control_end(void)
{
	const uint64_t one = 1;
	int kept = errno;

	/* It cannot fail: nobody writes as often as to fill the counter. */
	(void)!write(end_fd, &one, sizeof(one));
	errno = kept;
}

/* The descriptors that poll found ready. Each call may add and remove others. */
static void
serve(const struct pollfd *polled, unsigned int nb)
{
	control_lock();
	for (unsigned int i = 0; i < nb; i++) {
		struct served *ready = polled[i].revents == 0 ? NULL : find(polled[i].fd);

		if (ready != NULL)
			ready->ready(ready->task, ready->fd);
	}
	control_unlock();
}

int
control_run(void)
{
	struct pollfd polled[1 + CONTROL_FDS_MAX];

	for (;;) {
		unsigned int nb = nb_served;
		int found;

		polled[0] = (struct pollfd){.fd = end_fd, .events = POLLIN};
		for (unsigned int i = 0; i < nb; i++)
			polled[1 + i] = (struct pollfd){.fd = served[i].fd, .events = POLLIN};
		found = poll(polled, 1 + nb, -1);
		if (found < 0 && errno != EINTR)
			return -errno;
		if (found > 0 && polled[0].revents != 0)
			return 0;
		if (found > 0)
			serve(polled + 1, nb);
	}
}
