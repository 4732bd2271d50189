/* SPDX-License-Identifier: Apache-2.0 */
#include "core/slice.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pktlib/check.h"

/* The slice of this thread, in ns. */
static uint64_t
slice_ns(void)
{
	uint64_t attributes[6] = {0};

	CHECK_EQ(syscall(SYS_sched_getattr, 0, attributes, sizeof(attributes), 0), 0);
	return attributes[3];
}

static void
test_slice_is_short_where_linux_takes_it(void)
{
	unsigned int major = 0, minor = 0;
	const uint64_t usual_ns = slice_ns();
	struct utsname name;

	CHECK_EQ(uname(&name), 0);
	CHECK_EQ(sscanf(name.release, "%u.%u", &major, &minor), 2);
	CHECK_EQ(slice_shorten(true), 0);
	if (major > 6 || (major == 6 && minor >= 12))
		CHECK_EQ(slice_ns(), 100000);
	CHECK_EQ(slice_shorten(false), 0);
	if (major > 6 || (major == 6 && minor >= 12))
		CHECK_EQ(slice_ns(), usual_ns);
}

static void
test_share_of_the_cpu_stays(void)
{
	CHECK_EQ(setpriority(PRIO_PROCESS, 0, 5), 0);
	CHECK_EQ(slice_shorten(true), 0);
	CHECK_EQ(getpriority(PRIO_PROCESS, 0), 5);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
}

int
main(void)
{
	test_slice_is_short_where_linux_takes_it();
	test_share_of_the_cpu_stays();
	return 0;
}
