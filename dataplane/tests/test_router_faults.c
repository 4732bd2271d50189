/* SPDX-License-Identifier: Apache-2.0 */
/* router: each argument that is wrong has a fault that names it. */
#include <string.h>
#include <unistd.h>

#include "harness.h"

static const char routes[] = "wirespeed-routes 1\n"
			     "hop 2 1 02:00:00:00:00:0b 02:00:00:00:00:1b\n"
			     "route 10.1.0.0/16 2\n";

#define INI_FAULTY                                                     \
	"[port.a]\ndevice = net_ring1\n[port.b]\ndevice = net_ring2\n" \
	"[task.r]\ntype = router\nlcore = 1\nrx = a:0\n"

static void
check_fault(const char *keys, const char *says)
{
	char ini[512], path[] = "/tmp/wsdp-router-XXXXXX";

	harness_file(path, routes);
	snprintf(ini, sizeof(ini), INI_FAULTY "routes = %s\n%s", path, keys);
	CHECK_EQ(harness_faults(ini, says), 1);
	unlink(path);
}

static void
check_kernel_fault(const char *keys, const char *says)
{
	char ini[512];

	snprintf(ini, sizeof(ini), INI_FAULTY "%s", keys);
	CHECK_EQ(harness_faults(ini, says), 1);
}

int
main(void)
{
	harness_start();
	check_fault("tx = a:0\n", "hop 2 of the routes leaves by port 1; there are 1");
	check_fault("tx = a:0, b:0\npunt_tx = 2\n", "0 to 1");
	check_fault("tx = a:0, b:0\nprotocol_tx = 1\n", "needs punt_tx");
	check_fault("tx = a:0, b:0\nmac = 02:00\n", "mac");
	check_fault("tx = a:0, b:0\nkernel_netns = /run/x\n", "needs kernel");
	check_fault("tx = a:0, b:0\nkernel = east, west\n", "the kernel has it: see kernel");
	check_kernel_fault("tx = a:0, b:0\nkernel = east\n", "one name for each of the 2 tx");
	check_kernel_fault("tx = a:0, b:0\nkernel = east, east\n", "names east twice");
	check_kernel_fault("tx = a:0\nkernel = a/b\n", "1 to 15 letters");
	check_kernel_fault("tx = a:0\nkernel = east%d\n", "1 to 15 letters");
	check_kernel_fault("tx = a:0\nkernel = ..\n", "1 to 15 letters");
	check_kernel_fault("tx = a:0\nkernel = east,\n", "1 to 15 letters");
	check_kernel_fault("tx = a:0\nkernel = a b\n", "1 to 15 letters");
	check_kernel_fault("tx = a:0\nkernel = a\nkernel_buffer_bytes = 1\n", "4096");
	return 0;
}
