/* SPDX-License-Identifier: Apache-2.0 */
/* Every fault a configuration can have is refused, in the words the user reads. Each case has one
 * fault and must give exactly one message. */
#include <string.h>

#include "harness.h"

#define PORT "[port.p]\ndevice = net_ring0\n"
#define TASK "[task.t]\ntype = io\nlcore = 1\nrx = p:0\ntx = p:0\n"
#define LONG_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LONG_43 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *ini;
	const char *fault; /* after the file's name */
} cases[] = {
	/* Sections and keys as such. */
	{PORT TASK "[prot.q]\n", "[prot.q]: unknown section; allowed: eal, lcore, pool, port.NAME, "
				 "ring.NAME, task.NAME"},
	{PORT TASK PORT, "[port.p]: this section appears twice"},
	{PORT "mtu = 1500\nmtu = 1500\n" TASK, "[port.p] mtu = 1500: this key appears twice"},
	{PORT "mtv = 1500\n" TASK, "[port.p] mtv = 1500: unknown key"},
	{PORT TASK "bucket_frames = 3\n", "[task.t] bucket_frames = 3: unknown key"},
	{"[port.east-1]\ndevice = net_ring0\n",
	 "[port.east-1]: the name after the dot must be 1 to 24 letters, digits or _"},
	{"[port.]\ndevice = net_ring0\n",
	 "[port.]: the name after the dot must be 1 to 24 letters, digits or _"},
	{"[eal]\noptions = " LONG_64 LONG_64 LONG_64 LONG_64 "\n", "the value is too long; at most "
								   "254 characters"},

	/* Values. */
	{PORT "mtu = 9217\n", "[port.p] mtu = 9217: must be a whole number from 68 to 9216"},
	{PORT "mtu = -1\n", "[port.p] mtu = -1: must be a whole number from 68 to 9216"},
	{PORT "mtu = 1500b\n", "[port.p] mtu = 1500b: must be a whole number from 68 to 9216"},
	{PORT "mtu = 0x\n", "[port.p] mtu = 0x: must be a whole number from 68 to 9216"},
	{PORT "mtu = 99999999999999999999\n",
	 "[port.p] mtu = 99999999999999999999: must be a whole number from 68 to 9216"},
	{PORT "rx_queues = 65\n", "[port.p] rx_queues = 65: must be a whole number from 1 to 64"},
	{PORT "promiscuous = true\n", "[port.p] promiscuous = true: must be one of: no, yes"},
	{PORT "[task.t]\ntype = mac\nlcore = 1\nrx = p:0\ntx = p:0\ndst_mac = 02:00:00:00:00\n",
	 "[task.t] dst_mac = 02:00:00:00:00: must be a MAC address such as 02:00:00:00:00:01"},

	/* Tasks. */
	{PORT "[task.t]\nlcore = 1\n", "[task.t] type: this key is required"},
	{PORT "[task.t]\ntype = io\n", "[task.t] lcore: this key is required"},
	{PORT "[task.t]\ntype = io\nlcore = 1\ntx = p:0\n", "[task.t] rx: this key is required"},
	{PORT "[task.t]\ntype = io\nlcore = 1\nrx = p:0\n", "[task.t] tx: this key is required"},
	{PORT "[task.t]\ntype = io\nlcore = 128\n", "[task.t] lcore = 128: must be a whole number "
						    "from 0 to 127"},
	{PORT "[task.t]\ntype = mac\nlcore = 1\nrx = p:0\ntx = p:0\n",
	 "[task.t] dst_mac: this key is required"},
	{PORT TASK "[eal]\nmain_lcore = 1\n", "[eal] main_lcore = 1: the main lcore runs no task; "
					      "name one that no task names"},

	/* Wiring. */
	{PORT "[task.t]\ntype = io\nlcore = 1\nrx = q:0\ntx = p:0\n",
	 "[task.t] rx = q:0: there is no section [port.q]"},
	{PORT "[task.t]\ntype = io\nlcore = 1\nrx = p:1\ntx = p:0\n",
	 "[task.t] rx = p:1: port p has rx queues 0 to 0 (rx_queues = 1)"},
	{PORT "[task.t]\ntype = io\nlcore = 1\nrx = p:0\ntx = p:0, p:0\n",
	 "[task.t] tx = p:0, p:0: at most 1 for this type of task"},
	{PORT "[task.t]\ntype = io\nlcore = 1\nrx = p\ntx = p:0\n",
	 "[task.t] rx = p: must be PORT:QUEUE or ring:NAME, several separated by commas"},
	{PORT "[task.t]\ntype = io\nlcore = 1\nrx = p:x\ntx = p:0\n",
	 "[task.t] rx = p:x: \"x\" is no queue number of port p"},
	{PORT "[task.t]\ntype = io\nlcore = 1\nrx = ring:a\ntx = p:0\n",
	 "[task.t] rx = ring:a: there is no section [ring.a]"},
	{PORT TASK "[task.u]\ntype = io\nlcore = 1\nrx = p:0\ntx = p:0\n",
	 "[task.u] rx = p:0: rx queue 0 of port p is already read by a task"},
	{PORT "rx_queues = 2\n" TASK "[task.u]\ntype = io\nlcore = 2\nrx = p:1\ntx = p:0\n",
	 "[task.u] tx = p:0: tx queue 0 of port p is already written from lcore 1; give each lcore its "
	 "own queue"},
	{PORT TASK "[ring.a]\n[task.u]\ntype = io\nlcore = 1\nrx = ring:a\ntx = p:0\n",
	 "[ring.a]: no task writes to this ring: one must have tx = ring:a"},
	{PORT "[ring.a]\n[task.u]\ntype = io\nlcore = 1\nrx = p:0\ntx = ring:a\n",
	 "[ring.a]: no task reads from this ring: one must have rx = ring:a"},
	{"[port.ring]\ndevice = net_ring0\n",
	 "[port.ring]: a port cannot be called ring: that names a ring"},
	{"[port.p]\n", "[port.p] device: this key is required"},
	{"[port.p]\ndevice = net_vhost0,iface=/" LONG_64 LONG_43 ",queues=1\n",
	 "must name a socket of at most 107 octets, not 108; use a shorter directory"},
	{"[port.p]\ndevice = net_virtio_user0,mac=02:00:00:00:00:01,path=/" LONG_64 LONG_43 "\n",
	 "must name a socket of at most 107 octets, not 108; use a shorter directory"},
	{"[port.p]\ndevice = net_memif0,socket=/" LONG_64 LONG_43 "\n",
	 "must name a socket of at most 107 octets, not 108; use a shorter directory"},

	/* Pool. */
	{PORT TASK "[pool]\nmbufs = 600\n",
	 "[pool] cache: must be at most two thirds of mbufs = 600"},
	{PORT TASK "[pool]\nmbufs = 63\n", "[pool] mbufs = 63: must be a whole number from 64 to "
					   "67108864"},
};

/* Parse a text as wsdp would; the caller frees both. */
static struct config *
parse(const char *ini, struct app **app)
{
	char *lcores = (char *)"--lcores=(0-3)@0";
	struct config *config = harness_config(ini);

	CHECK(config != NULL);
	*app = app_parse(config, 1, &lcores);
	return config;
}

static void
test_each_fault(void)
{
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct app *app;
		struct config *config = parse(cases[i].ini, &app);
		const char *text;

		fprintf(stderr, "expecting: %s\n", cases[i].fault);
		CHECK_EQ(config_report(config), 1);
		text = config_fault_text(config, 0);
		CHECK(strlen(text) >= strlen(cases[i].fault));
		CHECK(strcmp(text + strlen(text) - strlen(cases[i].fault), cases[i].fault) == 0);
		app_free(app);
		config_free(config);
	}
}

static void
test_type_names_all(void)
{
	struct app *app;
	struct config *config = parse(PORT "[task.t]\ntype = i\nlcore = 1\nrx = p:0\n", &app);
	const char *text;

	/* One fault only: the keys of an unknown type cannot be judged. */
	CHECK_EQ(config_report(config), 1);
	text = config_fault_text(config, 0);
	CHECK(strstr(text, "[task.t] type = i: must be one of: ") != NULL);
	for (const char *const *type =
		     (const char *const[]){"gen", "impair", "io", "mac", "macswap", "sink", NULL};
	     *type != NULL; type++)
		CHECK(strstr(text, *type) != NULL);
	app_free(app);
	config_free(config);
}

static void
test_all_at_once(void)
{
	struct app *app;
	struct config *config = parse("[port.p]\nmtu = 1\n[ring.a]\n[wrong]\n", &app);

	CHECK_EQ(config_report(config), 5);
	app_free(app);
	config_free(config);
}

/* A CPU that the process may not use, when lcore N means CPU N. */
static void
test_missing_cpu(void)
{
	struct config *config = harness_config(PORT "[task.t]\ntype = io\nlcore = 127\nrx = p:0\n"
						    "tx = p:0\n");
	struct app *app = app_parse(config, 0, NULL);

	CHECK_EQ(config_report(config), 1);
	CHECK(strstr(config_fault_text(config, 0), "[task.t] lcore = 127: there is no such CPU for "
						   "this process: it may run on ") != NULL);
	app_free(app);
	config_free(config);
}

static void
test_not_an_ini(void)
{
	CHECK(harness_config("no section here\n") == NULL);
	CHECK(harness_config("[port.p]\ndevice net_ring0\n") == NULL);
	CHECK(harness_config("[port.p\ndevice = net_ring0\n") == NULL);
	CHECK(harness_config("key = 1\n[port.p]\ndevice = net_ring0\n") == NULL);
	CHECK(harness_config("[port.p]\n# a comment of another kind\n") == NULL);
	CHECK(harness_config("[port.p]\nkey = " LONG_64 LONG_64 LONG_64 LONG_64 LONG_64 "\n") ==
	      NULL);
	CHECK(config_load("/nonexistent/wsdp.ini") == NULL);
}

/* Text after a NUL in its line is not ignored. */
static void
test_nul(void)
{
	static const char ini[] = "[port.p]\ndevice = net_ring0\0 and more\n";
	FILE *file = tmpfile();
	char path[32];

	CHECK(file != NULL);
	CHECK_EQ(fwrite(ini, 1, sizeof(ini) - 1, file), sizeof(ini) - 1);
	CHECK_EQ(fflush(file), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	CHECK(config_load(path) == NULL);
	fclose(file);
}

static void
test_longest_socket_path(void)
{
	struct app *app;
	struct config *config = parse("[port.p]\ndevice = net_vhost0,iface=" LONG_64 LONG_43 "\n"
				      "[port.q]\ndevice = net_pcap0,tx_pcap=" LONG_64 LONG_64 "\n",
				      &app);

	CHECK_EQ(config_report(config), 0);
	app_free(app);
	config_free(config);
}

static void
test_good_values(void)
{
	struct app *app;
	struct config *config =
		parse("[eal]\nmain_lcore = 9 ; a comment\nfile_prefix = x\n"
		      "[pool]\nmbufs = 4096\ncache = 0\n"
		      "[lcore]\ngap_limit_ns = 5000\n"
		      "[port.p]\ndevice = net_vhost0,iface=/run/x\nrx_queues = 2\ntx_queues = 3\n"
		      "rx_descriptors = 512\nmtu = 0x5dc\npromiscuous = no\n"
		      "[port.pci]\ndevice = 3:00.1\n"
		      "[task.t]\ntype = io\nlcore = 1\nrx = p:0,ring:a , p:1\ntx = pci:0\n"
		      "[task.u]\ntype = io\nlcore = 1\nrx = pci:0\ntx = ring:a\n"
		      "[ring.a]\nsize = 77\n",
		      &app);
	const struct port *port = &app->ports[0];

	CHECK_EQ(config_report(config), 0);
	CHECK_EQ(app->eal.main_lcore, 9);
	CHECK_EQ(app->pools.mbufs, 4096);
	CHECK_EQ(app->gap_limit_ns, 5000);
	CHECK(strcmp(port->device_name, "net_vhost0") == 0 && !port->is_pci);
	CHECK(strcmp(app->ports[1].device_name, "0000:03:00.1") == 0 && app->ports[1].is_pci);
	CHECK_EQ(port->rx_queues, 2);
	CHECK_EQ(port->tx_queues, 3);
	CHECK_EQ(port->rx_descriptors, 512);
	CHECK_EQ(port->mtu, 1500);
	CHECK(!port->promiscuous);
	CHECK_EQ(app->tasks[0].task.nb_in, 3);
	CHECK(app->tasks[0].in[1].ring == &app->rings[0]);
	CHECK(app->tasks[0].in[2].port == port && app->tasks[0].in[2].queue == 1);
	CHECK_EQ(app->rings[0].size, 77);
	app_free(app);
	config_free(config);
}

int
main(void)
{
	test_each_fault();
	test_type_names_all();
	test_all_at_once();
	test_missing_cpu();
	test_not_an_ini();
	test_longest_socket_path();
	test_nul();
	test_good_values();
	return 0;
}
