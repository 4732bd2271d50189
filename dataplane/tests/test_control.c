/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tasks, served on the control side. The tasks are of a type of the test's own: each has
 * a pipe, and counts what is written into it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/control.h"
#include "core/reload.h"
#include "core/telemetry_reply.h"
#include "harness.h"

#define ROUNDS 1000

struct listener {
	int pipe[2];
	atomic_uint heard;
	pthread_t thread; /* that `ready` ran on */
};

static atomic_bool inside; /* a `ready` is running */
static pthread_t stopper;

static void
listener_ready(struct task *task, int fd)
{
	struct listener *listener = task->priv;
	char letter;

	atomic_store(&inside, true);
	CHECK_EQ(fd, listener->pipe[0]);
	listener->thread = pthread_self();
	/* One letter a call: what is left brings the next one. */
	CHECK_EQ(read(fd, &letter, 1), 1);
	if (letter == 'q')
		control_fd_remove(fd);
	sched_yield();
	atomic_fetch_add(&listener->heard, 1);
	atomic_store(&inside, false);
}

static int
listener_prepare(struct task *task)
{
	struct listener *listener = task->priv;

	CHECK_EQ(pipe2(listener->pipe, O_NONBLOCK), 0);
	return control_fd_add(task, listener->pipe[0], listener_ready);
}

static void
listener_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	task_consume(task, mbufs, n);
}

static void
listener_close(struct task *task)
{
	struct listener *listener = task->priv;

	control_fd_remove(listener->pipe[0]);
	close(listener->pipe[0]);
	close(listener->pipe[1]);
}

/* Stop wsdp. */
static void *
stop(void *unused)
{
	reload_close();
	return unused;
}

/* A comparison that ends only when wsdp stops. */
static int
listener_check(struct task *task, const char *path, const atomic_bool *cancel,
	       struct telemetry_out *out)
{
	(void)task;
	(void)path;
	(void)out;
	CHECK(!atomic_load(cancel));
	/* Tables can be exchanged meanwhile. */
	reload_hold();
	reload_release();
	CHECK_EQ(pthread_create(&stopper, NULL, stop, NULL), 0);
	while (!atomic_load(cancel))
		sched_yield();
	atomic_store(&inside, true);
	return 0;
}

static const struct task_ops listener = {
	.name = "listener",
	.private_size = sizeof(struct listener),
	.takes_input = true,
	.prepare = listener_prepare,
	.handle = listener_handle,
	.check = listener_check,
	.close = listener_close,
};

TASK_REGISTER(listener)

static struct bench
listeners(void)
{
	return bench_up("[pool]\nmbufs = 256\ncache = 0\n"
			"[port.a]\ndevice = net_ring0\n[port.b]\ndevice = net_ring1\n"
			"[task.one]\ntype = listener\nlcore = 1\nrx = a:0\n"
			"[task.other]\ntype = listener\nlcore = 1\nrx = b:0\n");
}

static struct listener *
listener_of(struct bench *bench, const char *name)
{
	return bench_task(bench, name)->priv;
}

static void
say(struct listener *to, const char *text)
{
	CHECK_EQ(write(to->pipe[1], text, strlen(text)), strlen(text));
}

static void
await(struct listener *by, unsigned int letters)
{
	while (atomic_load(&by->heard) < letters)
		sched_yield();
}

static void *
talk(void *arg)
{
	struct bench *bench = arg;
	struct listener *one = listener_of(bench, "one"), *other = listener_of(bench, "other");

	say(one, "abc");
	await(one, 3);
	CHECK_EQ(atomic_load(&other->heard), 0);
	say(other, "de");
	await(other, 2);
	/* It wants to hear no more, and the other still does. */
	say(one, "qxyz");
	say(other, "f");
	await(one, 4);
	await(other, 3);
	control_end();
	return NULL;
}

static void
test_descriptors_are_served_until_the_end(void)
{
	struct bench bench = listeners();
	struct listener *one = listener_of(&bench, "one"), *other = listener_of(&bench, "other");
	pthread_t talker;
	char rest[8];

	CHECK_EQ(control_open(), 0);
	CHECK_EQ(pthread_create(&talker, NULL, talk, &bench), 0);
	CHECK_EQ(control_run(), 0);
	pthread_join(talker, NULL);
	CHECK(pthread_equal(one->thread, pthread_self()));
	CHECK(pthread_equal(other->thread, pthread_self()));
	CHECK_EQ(atomic_load(&one->heard), 4);
	CHECK_EQ(atomic_load(&other->heard), 3);
	CHECK_EQ(read(one->pipe[0], rest, sizeof(rest)), 3);
	bench_down(&bench);
}

/* Nothing that holds the lock, as commands do, ever sees a `ready` running. */
static void *
command(void *arg)
{
	struct listener *one = listener_of(arg, "one");

	for (unsigned int i = 0; i < ROUNDS; i++) {
		say(one, "a");
		control_lock();
		CHECK(!atomic_load(&inside));
		sched_yield();
		CHECK(!atomic_load(&inside));
		control_unlock();
		await(one, i + 1);
	}
	control_end();
	return NULL;
}

static void
test_commands_and_descriptors_take_turns(void)
{
	struct bench bench = listeners();
	pthread_t commander;

	CHECK_EQ(control_open(), 0);
	CHECK_EQ(pthread_create(&commander, NULL, command, &bench), 0);
	CHECK_EQ(control_run(), 0);
	pthread_join(commander, NULL);
	bench_down(&bench);
}

static void
not_called(struct task *task __rte_unused, int fd __rte_unused)
{
	CHECK(!"nothing is served here");
}

/* Descriptors 1000, 1001, ...: never opened, never polled. */
static unsigned int
free_places(void)
{
	unsigned int nb = 0;

	while (control_fd_add(NULL, 1000 + (int)nb, not_called) == 0)
		nb++;
	CHECK_EQ(control_fd_add(NULL, 1000 + (int)nb, not_called), -ENOSPC);
	CHECK_EQ(control_fd_add(NULL, 1000, not_called), -EEXIST);
	for (unsigned int i = 0; i < nb; i++)
		control_fd_remove(1000 + (int)i);
	return nb;
}

static void
test_a_closed_task_leaves_nothing(void)
{
	struct bench bench;

	CHECK_EQ(free_places(), CONTROL_FDS_MAX);
	bench = listeners();
	CHECK_EQ(free_places(), CONTROL_FDS_MAX - 2);
	bench_down(&bench);
	CHECK_EQ(free_places(), CONTROL_FDS_MAX);
}

/* A comparison holds up neither changes of tables nor the end of wsdp. */
static void
test_check_is_ended(void)
{
	static struct telemetry_reply reply;
	struct telemetry_out out = {.reply = &reply, .data = rte_tel_data_alloc()};
	struct bench bench = listeners();

	rte_tel_data_start_dict(out.data);
	reload_open(bench.app);
	atomic_store(&inside, false);
	watch_check("one,/dev/null", &out);
	CHECK(atomic_exchange(&inside, false));
	CHECK_EQ(pthread_join(stopper, NULL), 0);
	/* wsdp has stopped: there is nothing to compare any more. */
	watch_check("one,/dev/null", &out);
	CHECK(!atomic_load(&inside));
	telemetry_restart(&out);
	rte_tel_data_free(out.data);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_descriptors_are_served_until_the_end();
	test_commands_and_descriptors_take_turns();
	test_a_closed_task_leaves_nothing();
	test_check_is_ended();
	return 0;
}
