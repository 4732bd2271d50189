/* SPDX-License-Identifier: Apache-2.0 */
/* When a mirror changes tables: its own code with a clock, a kernel and a builder of the test's. Nothing here
 * takes real time. The linker calls __wrap_*: see meson.build. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tasks/router_mirror_steps.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define NEVER UINT64_MAX

/* Costs like those of real routes: a notification, a route in a turn of the builder and in each copy, what a turn
 * costs whatever its routes, and the answers of lcores between the copies. */
#define READ_NS (1 * US)
#define COMPILE_NS 150
#define CHANGE_NS 700
#define TURN_NS (50 * US)
#define SETTLE_NS (100 * US)
#define NEW_NS (100 * MS)
#define TICK_NS (8 * MS) /* of a router without frames for its kernel */
#define READ_MOST 32

#define CHANGES_MOST 10000

enum fd { NOTIFIED = 100, DUMPED, EVENT };

/* The clock of all, and the changes of the kernel's routes: when they come, and when tables have them. */
static uint64_t now_ns;
static uint64_t came_ns[CHANGES_MOST], visible_ns[CHANGES_MOST];
static unsigned int nb_changes, nb_read;
static enum kernel_effect next_effect; /* of the next one */
static bool is_next_all;               /* it is no route */
static uint64_t dumped_ns;             /* the last time */

/* The builder's turn: of these changes, and the times of its steps. */
static struct {
	struct builder *builder;
	struct kernel *kernel;
	enum build_stage stage;
	unsigned int first, end;
	uint64_t began_ns, compiled_ns, visible_ns, done_ns;
} turn;
static unsigned int nb_turns;

static void (*notified)(struct task *task, int fd); /* NULL: nobody listens */
static void (*dumped)(struct task *task, int fd);
static void (*progressed)(struct task *task, int fd);

int __wrap_control_fd_add(struct task *task, int fd, void (*ready)(struct task *task, int fd));
void __wrap_control_fd_remove(int fd);
int __wrap_feed_open(struct feed *feed, uint32_t buffer_bytes);
void __wrap_feed_close(struct feed *feed);
int __wrap_feed_notified_fd(const struct feed *feed);
int __wrap_feed_dumped_fd(const struct feed *feed);
void __wrap_feed_drop_notified(struct feed *feed);
int __wrap_feed_dump(struct feed *feed);
enum feed_state __wrap_feed_read_dump(struct feed *feed, struct kernel *kernel);
int __wrap_feed_read_notified(struct feed *feed, struct kernel *kernel, enum kernel_effect *effect,
			      uint64_t *count);
uint64_t __wrap_builder_now_ns(void);
int __wrap_builder_open(struct builder *builder, struct task *task, struct router_space *space);
void __wrap_builder_close(struct builder *builder);
void __wrap_builder_begin(struct builder *builder, struct kernel *kernel);
enum build_stage __wrap_builder_stage(struct builder *builder);
enum build_stage __wrap_builder_progress(struct builder *builder);
void __wrap_builder_rest(struct builder *builder);
void __wrap_neighbours_refresh(struct feed *feed, const struct kernel *kernel);
void __wrap_sampler_run(struct sampler *sampler, const struct kernel *kernel);

int
__wrap_control_fd_add(struct task *task __rte_unused, int fd,
		      void (*ready)(struct task *task, int fd))
{
	*(fd == NOTIFIED ? &notified : fd == DUMPED ? &dumped : &progressed) = ready;
	return 0;
}

void
__wrap_control_fd_remove(int fd)
{
	*(fd == NOTIFIED ? &notified : fd == DUMPED ? &dumped : &progressed) = NULL;
}

int
__wrap_feed_open(struct feed *feed, uint32_t buffer_bytes __rte_unused)
{
	memset(feed, 0, sizeof(*feed));
	return 0;
}

void
__wrap_feed_close(struct feed *feed __rte_unused)
{
}

int
__wrap_feed_notified_fd(const struct feed *feed __rte_unused)
{
	return NOTIFIED;
}

int
__wrap_feed_dumped_fd(const struct feed *feed __rte_unused)
{
	return DUMPED;
}

void
__wrap_feed_drop_notified(struct feed *feed __rte_unused)
{
}

int
__wrap_feed_dump(struct feed *feed __rte_unused)
{
	dumped_ns = now_ns;
	return 0;
}

enum feed_state
__wrap_feed_read_dump(struct feed *feed __rte_unused, struct kernel *kernel __rte_unused)
{
	return FEED_ENDED;
}

int
__wrap_feed_read_notified(struct feed *feed __rte_unused, struct kernel *kernel,
			  enum kernel_effect *effect, uint64_t *count)
{
	/* While the builder compiles, the state of the kernel is its own. */
	CHECK(turn.stage != BUILD_COMPILING);
	*effect = KERNEL_SAME;
	for (unsigned int i = 0; i < READ_MOST; i++) {
		if (nb_read == nb_changes || came_ns[nb_read] > now_ns)
			return 0;
		nb_read++;
		++*count;
		now_ns += READ_NS;
		*effect = RTE_MAX(*effect, next_effect);
		kernel->changes.is_all |= is_next_all;
		next_effect = KERNEL_CHANGED;
		is_next_all = false;
	}
	return 0;
}

uint64_t
__wrap_builder_now_ns(void)
{
	return now_ns;
}

int
__wrap_builder_open(struct builder *builder, struct task *task __rte_unused,
		    struct router_space *space __rte_unused)
{
	memset(builder, 0, sizeof(*builder));
	builder->event = EVENT;
	turn.builder = builder;
	turn.stage = BUILD_IDLE;
	return 0;
}

void
__wrap_builder_close(struct builder *builder __rte_unused)
{
}

void
__wrap_builder_begin(struct builder *builder, struct kernel *kernel)
{
	bool is_new = kernel == NULL || kernel->changes.is_all || !builder->can_change;
	uint64_t nb;

	CHECK_EQ(turn.stage, BUILD_IDLE);
	turn.kernel = kernel;
	turn.first = turn.end;
	turn.end = kernel == NULL ? turn.first : nb_read;
	nb = turn.end - turn.first;
	turn.stage = kernel == NULL ? BUILD_SPARING : BUILD_COMPILING;
	turn.began_ns = now_ns;
	turn.compiled_ns = kernel == NULL ? NEVER : now_ns + TURN_NS + nb * COMPILE_NS;
	turn.visible_ns = now_ns + TURN_NS + nb * (COMPILE_NS + CHANGE_NS);
	turn.done_ns = turn.visible_ns + SETTLE_NS + nb * CHANGE_NS;
	builder->result = kernel == NULL ? BUILD_SPARED : is_new ? BUILD_NEW : BUILD_CHANGED;
	if (is_new)
		turn.visible_ns = turn.done_ns = now_ns + NEW_NS;
	nb_turns++;
}

enum build_stage
__wrap_builder_stage(struct builder *builder __rte_unused)
{
	return turn.stage;
}

enum build_stage
__wrap_builder_progress(struct builder *builder __rte_unused)
{
	return turn.stage;
}

void
__wrap_builder_rest(struct builder *builder __rte_unused)
{
	turn.stage = BUILD_IDLE;
}

void
__wrap_neighbours_refresh(struct feed *feed __rte_unused, const struct kernel *kernel __rte_unused)
{
}

void
__wrap_sampler_run(struct sampler *sampler __rte_unused, const struct kernel *kernel __rte_unused)
{
}

/* The builder's thread: what it has reached by now. */
static void
progress(void)
{
	if (turn.stage == BUILD_COMPILING && now_ns >= turn.compiled_ns) {
		turn.stage = BUILD_BUILDING;
		kernel_forget_changes(turn.kernel);
		return progressed(NULL, EVENT);
	}
	if (turn.stage == BUILD_IDLE || turn.stage == BUILD_COMPILING || now_ns < turn.done_ns)
		return;
	for (unsigned int i = turn.first; i < turn.end; i++)
		visible_ns[i] = turn.visible_ns;
	turn.stage = BUILD_DONE;
	turn.builder->took_ns = turn.done_ns - turn.began_ns;
	turn.builder->can_change = true;
	turn.builder->wants_spare = turn.builder->result == BUILD_NEW;
	progressed(NULL, EVENT);
}

static uint64_t
next_ns(uint64_t tick_ns)
{
	uint64_t next = tick_ns;

	if (notified != NULL && nb_read < nb_changes)
		next = RTE_MIN(next, came_ns[nb_read]);
	if (turn.stage == BUILD_COMPILING)
		next = RTE_MIN(next, turn.compiled_ns);
	else if (turn.stage != BUILD_IDLE)
		next = RTE_MIN(next, turn.done_ns);
	return RTE_MAX(next, now_ns);
}

/* Let the main thread serve what comes, until the tables have all changes and a spare copy. */
static void
run(struct router_mirror *mirror)
{
	uint64_t tick_ns = now_ns + TICK_NS;

	while (!atomic_load(&mirror->in_step) || turn.builder->wants_spare ||
	       nb_read < nb_changes) {
		now_ns = next_ns(tick_ns);
		CHECK(now_ns < UINT64_C(60000) * MS);
		progress();
		if (dumped != NULL && mirror->fresh != NULL)
			dumped(NULL, DUMPED);
		if (notified != NULL && nb_read < nb_changes && came_ns[nb_read] <= now_ns)
			notified(NULL, NOTIFIED);
		if (now_ns >= tick_ns) {
			mirror_tick(mirror);
			tick_ns = now_ns + TICK_NS;
		}
	}
}

/* Open a mirror whose tables follow the kernel. */
static struct router_mirror *
open_mirror(void)
{
	static struct task task = {.name = "r"};
	static struct router_space space;
	const uint32_t indexes[] = {11};
	const char *const names[] = {"east"};
	struct router_mirror *mirror;

	memset(&turn, 0, sizeof(turn));
	now_ns = 1000 * MS;
	nb_changes = nb_read = 0;
	next_effect = KERNEL_CHANGED;
	mirror = mirror_open(&task, &space, indexes, names, 1, 4096);
	CHECK(mirror != NULL);
	run(mirror);
	nb_turns = 0;
	return mirror;
}

/* Let the kernel change n routes, one every `every_ns`, just after a tick. */
static void
change(struct router_mirror *mirror, unsigned int n, uint64_t every_ns)
{
	for (unsigned int i = 0; i < n; i++)
		came_ns[nb_changes++] = now_ns + i * every_ns;
	run(mirror);
}

static int
compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* The time that this share of the changes, in percent, took at most. */
static uint64_t
took_ns(unsigned int percent)
{
	static uint64_t took[CHANGES_MOST];

	for (unsigned int i = 0; i < nb_changes; i++)
		took[i] = visible_ns[i] - came_ns[i];
	qsort(took, nb_changes, sizeof(*took), compare);
	return took[(nb_changes - 1) * percent / 100];
}

static void
test_one_change_is_made_at_once(void)
{
	struct router_mirror *mirror = open_mirror();

	change(mirror, 1, 0);
	CHECK(took_ns(100) < 200 * US);
	CHECK_EQ(nb_turns, 1);
	mirror_close(mirror);
}

/* Those that come during a turn are made in the next, which waits for no tick. */
static void
test_ten_changes_take_two_turns(void)
{
	struct router_mirror *mirror = open_mirror();

	change(mirror, 10, 10 * US);
	CHECK(took_ns(100) < 500 * US);
	CHECK_EQ(nb_turns, 2);
	mirror_close(mirror);
}

/* As fast as a daemon changes the kernel's routes: turns grow until they keep pace. */
static void
test_many_changes_keep_pace(void)
{
	struct router_mirror *mirror = open_mirror();

	change(mirror, CHANGES_MOST, 10 * US);
	CHECK(took_ns(50) < 1 * MS);
	CHECK(took_ns(100) < 2 * MS);
	CHECK(nb_turns < CHANGES_MOST / 10);
	mirror_close(mirror);
}

/* All at once: most of the time is what they cost. */
static void
test_many_changes_at_once_take_what_they_cost(void)
{
	const uint64_t cost = CHANGES_MOST * (READ_NS + COMPILE_NS + 2 * CHANGE_NS);
	struct router_mirror *mirror = open_mirror();

	change(mirror, CHANGES_MOST, 0);
	CHECK(took_ns(100) < cost + 2 * MS);
	mirror_close(mirror);
}

/* New tables take as long for one change as for all: the next ones, and a spare copy, wait for as long. */
static void
test_new_tables_leave_half_of_the_time(void)
{
	struct router_mirror *mirror = open_mirror();
	uint64_t began_ns;

	is_next_all = true;
	change(mirror, 1, 0);
	CHECK_EQ(nb_turns, 2);
	CHECK(took_ns(100) <= NEW_NS + 2 * TICK_NS);
	CHECK(turn.began_ns >= visible_ns[0] + NEW_NS);
	began_ns = turn.began_ns;
	change(mirror, 1, 0);
	CHECK(visible_ns[1] - came_ns[1] < 200 * US);
	CHECK(turn.began_ns > began_ns);
	mirror_close(mirror);
}

/* An address that is gone may have taken routes with it: the state is read again, once routes change no more. */
static void
test_lost_address_delays_no_change(void)
{
	struct router_mirror *mirror = open_mirror();

	next_effect = KERNEL_DOUBTED;
	change(mirror, 1000, 100 * US);
	CHECK(took_ns(100) < 1 * MS);
	CHECK(dumped_ns > came_ns[999] + 200 * MS - READ_NS);
	CHECK(dumped_ns < came_ns[999] + 200 * MS + 2 * TICK_NS);
	mirror_close(mirror);
}

/* Routes that go on changing do not put that off for ever. */
static void
test_lost_address_leads_to_a_dump(void)
{
	struct router_mirror *mirror = open_mirror();

	next_effect = KERNEL_DOUBTED;
	change(mirror, CHANGES_MOST, 200 * US);
	CHECK(dumped_ns < came_ns[0] + 1000 * MS + 2 * TICK_NS);
	mirror_close(mirror);
}

int
main(void)
{
	test_one_change_is_made_at_once();
	test_ten_changes_take_two_turns();
	test_many_changes_keep_pace();
	test_many_changes_at_once_take_what_they_cost();
	test_new_tables_leave_half_of_the_time();
	test_lost_address_delays_no_change();
	test_lost_address_leads_to_a_dump();
	return 0;
}
