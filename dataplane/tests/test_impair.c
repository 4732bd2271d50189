/* SPDX-License-Identifier: Apache-2.0 */
/* impair as a task: what it drops, holds and says, with the real clock. The arithmetic of rate and
 * delay is checked to the cycle in test_impair_line.c. */
#include <errno.h>
#include <string.h>
#include <rte_cycles.h>

#include "core/tsc.h"
#include "harness.h"

static struct bench
impaired(const char *keys)
{
	char ini[1024];

	snprintf(ini, sizeof(ini),
		 "[pool]\nmbufs = 4096\ncache = 0\n"
		 "[port.in]\ndevice = net_ring0\n[port.out]\ndevice = net_ring1\n"
		 "[task.sut]\ntype = impair\nlcore = 1\nrx = in:0\ntx = out:0\n%s",
		 keys);
	return bench_up(ini);
}

/* Send numbered frames and let them be taken. */
static void
offer(struct bench *bench, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		uint8_t frame[60] = {0};

		memcpy(frame, &i, sizeof(i));
		CHECK(bench_send(bench, "in", frame, sizeof(frame)));
	}
	bench_poll(bench, count / TASK_BURST + 1);
}

static uint32_t
next_number(struct bench *bench)
{
	uint8_t frame[60];
	uint32_t number;

	CHECK_EQ(bench_receive(bench, "out", frame, sizeof(frame)), sizeof(frame));
	memcpy(&number, frame, sizeof(number));
	return number;
}

static void
test_without_impairment(void)
{
	struct bench bench = impaired("");

	offer(&bench, 0, 500);
	for (uint32_t i = 0; i < 500; i++)
		CHECK_EQ(next_number(&bench), i);
	CHECK_EQ(bench_task(&bench, "sut")->stats.tx, 500);
	CHECK_EQ(bench_task(&bench, "sut")->stats.held, 0);
	bench_down(&bench);
}

static void
test_loss_every(void)
{
	struct bench bench = impaired("loss_every = 10\n");
	struct task *task = bench_task(&bench, "sut");
	struct mail mail = {0};

	for (unsigned int trial = 0; trial < 2; trial++) {
		/* 95 frames: the last five begin a count that the reset ends. */
		offer(&bench, 1, 95);
		for (uint32_t i = 1; i <= 95; i++)
			if (i % 10 != 0)
				CHECK_EQ(next_number(&bench), i);
		CHECK_EQ(task->stats.discard, 9);
		CHECK_EQ(task->stats.tx, 86);
		check_closes(&task->stats);
		lcore_reset(bench.app->lcores[0], &mail);
	}
	bench_down(&bench);
}

/* One frame a second: what the bucket and the queue hold is all that passes. */
static void
test_overload_closes(void)
{
	struct bench bench = impaired("rate_fps = 1\nbucket_frames = 3\nqueue_frames = 100\n");
	struct task *task = bench_task(&bench, "sut");
	struct mail mail = {0};

	offer(&bench, 0, 300);
	CHECK_EQ(task->stats.rx, 300);
	CHECK(task->stats.tx >= 3);
	CHECK(task->stats.held <= 100);
	CHECK_EQ(task->stats.tx + task->stats.held, 300 - task->stats.discard);
	check_closes(&task->stats);
	/* After a reset the frames held back are still accounted for. */
	lcore_reset(bench.app->lcores[0], &mail);
	CHECK(task->stats.held > 90);
	CHECK_EQ(task->stats.rx, task->stats.held);
	check_closes(&task->stats);
	bench_down(&bench);
}

/* No frame leaves before its delay is over, all leave after it. */
static void
test_delay(void)
{
	struct bench bench = impaired("delay_ns = 20000000\n");
	struct task *task = bench_task(&bench, "sut");
	uint64_t start, end, delay = tsc_hz() / 50;

	start = rte_rdtsc();
	offer(&bench, 0, 64);
	CHECK_EQ(task->stats.held + task->stats.tx, 64);
	while (task->stats.tx == 0)
		bench_poll(&bench, 1);
	end = rte_rdtsc();
	CHECK(end - start >= delay);
	while (task->stats.tx < 64)
		bench_poll(&bench, 1);
	for (uint32_t i = 0; i < 64; i++)
		CHECK_EQ(next_number(&bench), i);
	CHECK_EQ(task->stats.held, 0);
	check_closes(&task->stats);
	bench_down(&bench);
}

/* More frames under delay than there is room for are dropped, and said to be. */
static void
test_delay_room(void)
{
	struct bench bench =
		impaired("delay_ns = 1000000000\ndelay_frames = 1\nqueue_frames = 0\n");
	struct task *task = bench_task(&bench, "sut");

	/* Slots for queues that may be set later are there for the delay meanwhile. */
	for (unsigned int i = 0; i < 3; i++)
		offer(&bench, i, 1000);
	CHECK_EQ(task->stats.held, 3000);
	CHECK_EQ(task->stats.discard, 0);
	bench_down(&bench);
}

static void
test_set(void)
{
	struct bench bench = impaired("");
	struct task *task = bench_task(&bench, "sut");

	CHECK_EQ(task->ops->control(task, "set", "loss_every=2,delay_ns=0"), 0);
	offer(&bench, 0, 10);
	CHECK_EQ(task->stats.discard, 5);
	/* A fault anywhere: nothing is changed. */
	CHECK_EQ(-task->ops->control(task, "set", "loss_every=0,rate=5"), EINVAL);
	CHECK_EQ(-task->ops->control(task, "set", "loss_every=0,rate_fps"), EINVAL);
	CHECK_EQ(-task->ops->control(task, "set", "loss_every=0,rate_fps=x"), EINVAL);
	CHECK_EQ(-task->ops->control(task, "set", "loss_every=0,bucket_frames=0"), ERANGE);
	CHECK_EQ(-task->ops->control(task, "set", "loss_every=0,queue_frames=65537"), ERANGE);
	CHECK_EQ(-task->ops->control(task, "set", "stall_every_ns=5,stall_ns=5,loss_every=0"),
		 ERANGE);
	offer(&bench, 0, 10);
	CHECK_EQ(task->stats.discard, 10);
	CHECK_EQ(task->ops->control(task, "set", "loss_every=0"), 0);
	offer(&bench, 0, 10);
	CHECK_EQ(task->stats.discard, 10);
	/* Other verbs are for generators. */
	CHECK_EQ(task->ops->control(task, "start", "rate_fps=5,trial=1"), 0);
	bench_down(&bench);
}

/* Stalled almost always: what is offered at once waits for the end of the stall, and all of it passes. */
static void
test_stall(void)
{
	struct bench bench = impaired("stall_every_ns = 20000000\nstall_ns = 19999999\n"
				      "queue_frames = 100\n");
	struct task *task = bench_task(&bench, "sut");

	offer(&bench, 0, 60);
	CHECK_EQ(task->stats.discard, 0);
	while (task->stats.tx < 60)
		bench_poll(&bench, 1);
	for (uint32_t i = 0; i < 60; i++)
		CHECK_EQ(next_number(&bench), i);
	check_closes(&task->stats);
	bench_down(&bench);
}

int
main(void)
{
	harness_start();
	test_without_impairment();
	test_loss_every();
	test_overload_closes();
	test_delay();
	test_delay_room();
	test_set();
	test_stall();
	return 0;
}
