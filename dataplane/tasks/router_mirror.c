/* SPDX-License-Identifier: Apache-2.0 */
#include "router_mirror.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/control.h"
#include "core/export.h"
#include "core/reload.h"
#include "core/telemetry_reply.h"
#include "mirror/compile.h"
#include "mirror/feed.h"
#include "router_check.h"

#define SECOND_NS UINT64_C(1000000000)
/* A change that ends routes without a message is followed by others. */
#define UNSURE_WAIT_NS 20000000
#define BACKOFF_NS 10000000
#define BACKOFF_MAX_NS (5 * SECOND_NS)
#define REFRESH_NS SECOND_NS
#define REFRESH_MAX 256
#define IFF_UP_FLAG 1u /* IFF_UP, whose header does not go with others */

/* The builder's work. While it compiles, it has the state of the kernel to itself. */
enum stage { IDLE, COMPILING, BUILDING, DONE, ENDING };

struct router_mirror {
	struct task *task;
	struct router_space *space;
	unsigned int nb;
	uint32_t indexes[TASK_MAX_OUT];
	const char *names[TASK_MAX_OUT];
	struct router_mirror *next;

	/* The main thread's. */
	struct feed feed;
	struct kernel *kernel; /* NULL before the first dump has ended */
	struct kernel *fresh;  /* of the dump that is under way */
	bool is_listening;     /* notifications are served */
	bool is_dirty;         /* the state has changed since it was compiled */
	bool is_unsure;        /* a dump is wanted, from dump_ns on */
	uint64_t dump_ns, build_ns, backoff_ns, refresh_ns;
	bool is_said[KERNEL_REFUSALS];
	struct compile_report report;
	uint64_t dumps, interrupted, overruns, notifications, builds, failures;

	/* The thread that builds; what it shares is protected by the lock. */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum stage stage;
	bool is_built;
	uint64_t took_ns;
	struct compile_report compiled;
	char error[256];
	atomic_bool cancel;
	int event;
	struct compile_ids ids;

	struct feed checks; /* by one client at a time */
};

static struct router_mirror *mirrors;

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static struct router_mirror *
mirror_of(int fd)
{
	struct router_mirror *mirror = mirrors;

	while (mirror != NULL && fd != mirror->event && fd != feed_notified_fd(&mirror->feed) &&
	       fd != feed_dumped_fd(&mirror->feed))
		mirror = mirror->next;
	return mirror;
}

static struct kernel *
new_kernel(const struct router_mirror *mirror)
{
	struct kernel *kernel = malloc(sizeof(*kernel));

	if (kernel != NULL)
		kernel_open(kernel, mirror->indexes, mirror->nb);
	return kernel;
}

static void
free_kernel(struct kernel *kernel)
{
	if (kernel != NULL)
		kernel_close(kernel);
	free(kernel);
}

static void
set_stage(struct router_mirror *mirror, enum stage stage)
{
	pthread_mutex_lock(&mirror->lock);
	mirror->stage = stage;
	pthread_cond_signal(&mirror->changed);
	pthread_mutex_unlock(&mirror->lock);
}

static enum stage
stage_of(struct router_mirror *mirror)
{
	enum stage stage;

	pthread_mutex_lock(&mirror->lock);
	stage = mirror->stage;
	pthread_mutex_unlock(&mirror->lock);
	return stage;
}

/* The builder's: what is next on the main thread. */
static void
report_stage(struct router_mirror *mirror, enum stage stage)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&mirror->lock);
	if (mirror->stage != ENDING)
		mirror->stage = stage;
	pthread_mutex_unlock(&mirror->lock);
	(void)!write(mirror->event, &one, sizeof(one));
}

/* Addresses that frames to the router have, by interface. */
static void
read_macs(const struct kernel *kernel, uint64_t *macs)
{
	for (unsigned int i = 0; i < TASK_MAX_OUT; i++) {
		bool is_up = i < kernel->nb_links && (kernel->links[i].flags & IFF_UP_FLAG) != 0;

		macs[i] = is_up ? router_mac(kernel->links[i].mac) : ROUTER_DOWN;
	}
}

/* Build tables of the state, and put them in force. */
static void
build(struct router_mirror *mirror)
{
	struct router_tables *tables = NULL;
	uint64_t macs[TASK_MAX_OUT];
	struct routes routes;
	bool is_compiled;

	mirror->error[0] = '\0';
	is_compiled = compile(mirror->kernel, &mirror->ids, &routes, &mirror->compiled);
	read_macs(mirror->kernel, macs);
	report_stage(mirror, BUILDING);
	if (!is_compiled) {
		snprintf(mirror->error, sizeof(mirror->error), "out of memory");
		return;
	}
	tables = router_tables_make(mirror->space, &routes, &mirror->cancel, mirror->error,
				    sizeof(mirror->error));
	routes_free(&routes);
	if (tables == NULL)
		return;
	memcpy(tables->macs, macs, sizeof(macs));
	mirror->is_built = reload_swap(mirror->task, tables);
	if (!mirror->is_built)
		router_tables_free(tables);
}

static void *
run_builder(void *arg)
{
	struct router_mirror *mirror = arg;

	for (;;) {
		enum stage stage;
		uint64_t began;

		pthread_mutex_lock(&mirror->lock);
		while (mirror->stage != COMPILING && mirror->stage != ENDING)
			pthread_cond_wait(&mirror->changed, &mirror->lock);
		stage = mirror->stage;
		pthread_mutex_unlock(&mirror->lock);
		if (stage == ENDING)
			return NULL;
		began = now_ns();
		mirror->is_built = false;
		build(mirror);
		mirror->took_ns = now_ns() - began;
		report_stage(mirror, DONE);
	}
}

/* Say once by name what is not mirrored. */
static void
say_refusals(struct router_mirror *mirror)
{
	for (unsigned int i = 0; i < KERNEL_REFUSALS; i++)
		if (mirror->kernel->refused[i] > 0 && !mirror->is_said[i]) {
			mirror->is_said[i] = true;
			fprintf(stderr, "wsdp: [task.%s] kernel: %s (%s)\n", mirror->task->name,
				kernel_refusal_texts[i], kernel_refusal_names[i]);
		}
}

static void
want_dump(struct router_mirror *mirror, uint64_t wait_ns)
{
	uint64_t due = now_ns() + wait_ns;

	if (!mirror->is_unsure || due < mirror->dump_ns)
		mirror->dump_ns = due;
	mirror->is_unsure = true;
}

static void
notified(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum kernel_effect effect;
	int ret =
		feed_read_notified(&mirror->feed, mirror->kernel, &effect, &mirror->notifications);

	if (effect != KERNEL_SAME)
		mirror->is_dirty = true;
	if (effect == KERNEL_UNSURE)
		want_dump(mirror, UNSURE_WAIT_NS);
	if (effect == KERNEL_NO_MEMORY)
		want_dump(mirror, SECOND_NS);
	if (ret != 0) {
		mirror->overruns++;
		want_dump(mirror, 0);
	}
}

static void
listen_again(struct router_mirror *mirror)
{
	if (!mirror->is_listening)
		control_fd_add(mirror->task, feed_notified_fd(&mirror->feed), notified);
	mirror->is_listening = true;
}

/* Notifications wait in their socket meanwhile. */
static void
stop_listening(struct router_mirror *mirror)
{
	if (mirror->is_listening)
		control_fd_remove(feed_notified_fd(&mirror->feed));
	mirror->is_listening = false;
}

static void
begin_dump(struct router_mirror *mirror)
{
	mirror->is_unsure = false;
	stop_listening(mirror);
	feed_drop_notified(&mirror->feed);
	mirror->fresh = new_kernel(mirror);
	if (mirror->fresh != NULL && feed_dump(&mirror->feed) == 0)
		return;
	free_kernel(mirror->fresh);
	mirror->fresh = NULL;
	want_dump(mirror, SECOND_NS);
}

static void
give_up_dump(struct router_mirror *mirror, enum feed_state state)
{
	mirror->interrupted++;
	if (state == FEED_FAILED)
		fprintf(stderr, "wsdp: [task.%s] kernel: its state cannot be read; trying again\n",
			mirror->task->name);
	free_kernel(mirror->fresh);
	mirror->fresh = NULL;
	mirror->backoff_ns = mirror->backoff_ns == 0
				     ? BACKOFF_NS
				     : RTE_MIN(2 * mirror->backoff_ns, BACKOFF_MAX_NS);
	want_dump(mirror, state == FEED_FAILED ? BACKOFF_MAX_NS : mirror->backoff_ns);
}

static void
dumped(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum feed_state state;

	if (mirror->fresh == NULL) {
		feed_drop_dumped(&mirror->feed);
		return;
	}
	state = feed_read_dump(&mirror->feed, mirror->fresh);
	if (state == FEED_WAITS)
		return;
	if (state != FEED_ENDED) {
		give_up_dump(mirror, state);
		return;
	}
	free_kernel(mirror->kernel);
	mirror->kernel = mirror->fresh;
	mirror->fresh = NULL;
	mirror->backoff_ns = 0;
	mirror->dumps++;
	mirror->is_dirty = true;
	listen_again(mirror);
}

static void
begin_build(struct router_mirror *mirror)
{
	mirror->is_dirty = false;
	stop_listening(mirror);
	say_refusals(mirror);
	set_stage(mirror, COMPILING);
}

static void
ask_neighbours(struct router_mirror *mirror)
{
	for (uint32_t i = 0; i < mirror->report.nb_wishes; i++)
		feed_ask_neighbour(&mirror->feed, &mirror->report.wishes[i]);
}

static void
end_build(struct router_mirror *mirror)
{
	if (mirror->is_built) {
		mirror->builds++;
	} else if (mirror->error[0] != '\0') {
		if (mirror->failures++ == 0)
			fprintf(stderr,
				"wsdp: [task.%s] kernel: %s; the former tables stay in force\n",
				mirror->task->name, mirror->error);
		mirror->is_dirty = true;
	}
	/* Who changes routes without end leaves the CPU to others for half of the time. */
	mirror->build_ns = now_ns() + (mirror->is_built ? mirror->took_ns : SECOND_NS);
}

static void
progressed(struct task *task __rte_unused, int fd)
{
	struct router_mirror *mirror = mirror_of(fd);
	enum stage stage;
	uint64_t times;

	/* First: a stage that follows is another event. */
	(void)!read(fd, &times, sizeof(times));
	stage = stage_of(mirror);
	if (stage != BUILDING && stage != DONE)
		return;
	if (!mirror->is_listening && mirror->fresh == NULL) {
		mirror->report = mirror->compiled;
		ask_neighbours(mirror);
		listen_again(mirror);
	}
	if (stage == DONE) {
		end_build(mirror);
		set_stage(mirror, IDLE);
	}
}

/* A neighbour that only the fast path uses is not used, as far as the kernel sees. */
static void
refresh_neighbours(struct router_mirror *mirror)
{
	const struct kernel_neighbour *neighbour = NULL;
	unsigned int asked = 0;

	while (asked < REFRESH_MAX &&
	       (neighbour = table_next(&mirror->kernel->neighbours, neighbour)) != NULL) {
		struct compile_wish wish = {.link = neighbour->key.link,
					    .version = (uint8_t)neighbour->key.version};

		if (neighbour->is_stale == 0)
			continue;
		memcpy(wish.address, neighbour->key.address, sizeof(wish.address));
		feed_ask_neighbour(&mirror->feed, &wish);
		asked++;
	}
	ask_neighbours(mirror);
}

void
mirror_tick(struct router_mirror *mirror)
{
	enum stage stage = stage_of(mirror);
	uint64_t now = now_ns();

	if (stage == COMPILING || mirror->fresh != NULL)
		return;
	if (mirror->is_unsure && now >= mirror->dump_ns) {
		begin_dump(mirror);
		return;
	}
	if (mirror->kernel == NULL)
		return;
	if (now >= mirror->refresh_ns) {
		mirror->refresh_ns = now + REFRESH_NS;
		refresh_neighbours(mirror);
	}
	if (mirror->is_dirty && stage == IDLE && now >= mirror->build_ns)
		begin_build(mirror);
}

/* Undo what mirror_open has done so far. */
static void
release(struct router_mirror *mirror)
{
	struct router_mirror **link = &mirrors;

	while (*link != NULL && *link != mirror)
		link = &(*link)->next;
	if (*link == mirror) {
		stop_listening(mirror);
		control_fd_remove(feed_dumped_fd(&mirror->feed));
		control_fd_remove(mirror->event);
		*link = mirror->next;
	}
	feed_close(&mirror->feed);
	feed_close(&mirror->checks);
	if (mirror->event >= 0)
		close(mirror->event);
	free_kernel(mirror->kernel);
	free_kernel(mirror->fresh);
	compile_close(&mirror->ids);
	pthread_mutex_destroy(&mirror->lock);
	pthread_cond_destroy(&mirror->changed);
	free(mirror);
}

static int
start(struct router_mirror *mirror, uint32_t buffer_bytes)
{
	int ret = feed_open(&mirror->feed, buffer_bytes);

	if (ret == 0)
		ret = feed_open(&mirror->checks, 0);
	mirror->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (ret == 0 && mirror->event < 0)
		ret = -errno;
	if (ret != 0)
		return ret;
	mirror->next = mirrors;
	mirrors = mirror;
	ret = control_fd_add(mirror->task, feed_dumped_fd(&mirror->feed), dumped);
	if (ret == 0)
		ret = control_fd_add(mirror->task, mirror->event, progressed);
	if (ret == 0)
		ret = -pthread_create(&mirror->thread, NULL, run_builder, mirror);
	if (ret == 0)
		begin_dump(mirror);
	return ret;
}

struct router_mirror *
mirror_open(struct task *task, struct router_space *space, const uint32_t *indexes,
	    const char *const *names, unsigned int nb, uint32_t buffer_bytes)
{
	struct router_mirror *mirror = calloc(1, sizeof(*mirror));
	int ret;

	if (mirror == NULL)
		return NULL;
	mirror->task = task;
	mirror->space = space;
	mirror->nb = nb;
	memcpy(mirror->indexes, indexes, nb * sizeof(*indexes));
	memcpy(mirror->names, names, nb * sizeof(*names));
	mirror->event = -1;
	pthread_mutex_init(&mirror->lock, NULL);
	pthread_cond_init(&mirror->changed, NULL);
	compile_open(&mirror->ids);
	ret = start(mirror, buffer_bytes);
	if (ret == 0)
		return mirror;
	fprintf(stderr, "wsdp: [task.%s] kernel: its routes cannot be followed: %s\n", task->name,
		strerror(-ret));
	release(mirror);
	return NULL;
}

void
mirror_close(struct router_mirror *mirror)
{
	atomic_store(&mirror->cancel, true);
	set_stage(mirror, ENDING);
	pthread_join(mirror->thread, NULL);
	release(mirror);
}

/* Return whether the tables in force are those of what the kernel has reported. */
static bool
is_in_step(struct router_mirror *mirror)
{
	return mirror->builds > 0 && mirror->fresh == NULL && !mirror->is_unsure &&
	       !mirror->is_dirty && stage_of(mirror) == IDLE;
}

void
mirror_stats(const struct router_mirror *mirror, struct telemetry_out *out)
{
	telemetry_u64(out, "in_step", is_in_step((struct router_mirror *)(uintptr_t)mirror));
	telemetry_u64(out, "dumps", mirror->dumps);
	telemetry_u64(out, "dumps_interrupted", mirror->interrupted);
	telemetry_u64(out, "notifications", mirror->notifications);
	telemetry_u64(out, "notifications_lost", mirror->overruns);
	telemetry_u64(out, "builds", mirror->builds);
	telemetry_u64(out, "build_failures", mirror->failures);
	telemetry_u64(out, "neighbours", mirror->report.neighbours);
	telemetry_u64(out, "neighbours_unknown", mirror->report.nb_wishes);
	telemetry_u64(out, "routes_by_kernel", mirror->report.by_kernel);
	telemetry_u64(out, "routes_over_hops", mirror->report.over_hops);
	if (mirror->kernel == NULL)
		return;
	telemetry_u64(out, "malformed", mirror->kernel->malformed);
	for (unsigned int i = 0; i < KERNEL_REFUSALS; i++)
		telemetry_u64(out, kernel_refusal_names[i], mirror->kernel->refused[i]);
}

static int
compare(struct router_mirror *mirror, const struct routes *routes, const char *path,
	struct telemetry_out *out)
{
	struct router_difference_counts counts;
	FILE *file = export_open(path);

	if (file == NULL)
		return telemetry_error(out, "%s: %s", path, strerror(errno)), -errno;
	router_compare(atomic_load(&mirror->space->current), routes, mirror->names, file, &counts);
	if (export_close(file) != 0)
		return telemetry_error(out, "%s: cannot be written", path), -EIO;
	telemetry_u64(out, "prefixes", counts.compared);
	telemetry_u64(out, "missing", counts.missing);
	telemetry_u64(out, "different", counts.different);
	telemetry_u64(out, "extra", counts.extra);
	telemetry_u64(out, "lookups", counts.lookups);
	telemetry_u64(out, "wrong_lookups", counts.wrong_lookups);
	return 0;
}

int
mirror_check(struct router_mirror *mirror, const char *path, struct telemetry_out *out)
{
	struct kernel *kernel = new_kernel(mirror);
	struct compile_report report;
	struct compile_ids ids;
	struct routes routes;
	int ret = kernel == NULL ? -ENOMEM : feed_wait_dump(&mirror->checks, kernel);

	compile_open(&ids);
	if (ret == 0 && !compile(kernel, &ids, &routes, &report))
		ret = -ENOMEM;
	free_kernel(kernel);
	compile_close(&ids);
	if (ret != 0) {
		telemetry_error(out, "%s: the kernel's routes cannot be read: %s",
				mirror->task->name, strerror(-ret));
		return ret;
	}
	ret = compare(mirror, &routes, path, out);
	routes_free(&routes);
	return ret;
}
