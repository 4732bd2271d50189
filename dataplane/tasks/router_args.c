/* SPDX-License-Identifier: Apache-2.0 */
#include "router.h"

#include <errno.h>
#include <string.h>

#include "core/config.h"

#define PUNT_FPS 10000
#define ROOM_MAX 10000000

/* Read punt_tx and protocol_tx: numbers of outputs. */
static int
read_outs(struct task *task, struct router *router, const struct config_section *section)
{
	const uint16_t last = task->nb_out > 0 ? (uint16_t)(task->nb_out - 1) : 0;
	uint16_t rest = 0, protocol;
	int ret = config_u16(section, "punt_tx", &rest, 0, last);

	router->punts = config_has(section, "punt_tx");
	protocol = rest;
	ret |= config_u16(section, "protocol_tx", &protocol, 0, last);
	if (!router->punts && config_has(section, "protocol_tx")) {
		config_fault(section, "protocol_tx", "needs punt_tx");
		ret = -EINVAL;
	}
	router->outs[PUNT_PROTOCOL] = protocol;
	router->outs[PUNT_NEIGHBOUR] = router->outs[PUNT_LOCAL] = router->outs[PUNT_REST] = rest;
	return ret;
}

/* Arguments of a router whose routes are a file's. */
static int
init_file(struct task *task, struct router *router, const struct config_section *section)
{
	static const char *const kernels[] = {"kernel_netns", "kernel_buffer_bytes", "room_ipv4",
					      "room_ipv6"};
	struct rte_ether_addr mac;
	int ret = read_outs(task, router, section);

	ret |= config_refuse(section, kernels, RTE_DIM(kernels), "needs kernel");
	if (config_has(section, "mac")) {
		ret |= config_mac(section, "mac", &mac);
		if (ret == 0)
			router->mac = router_mac(mac.addr_bytes);
	}
	if (!config_require(section, "routes"))
		return -EINVAL;
	router->path = config_string(section, "routes");
	return ret | router_check(section, router->path, task->nb_out);
}

/* The kernel takes most other characters, too, but expands "%d" in a name. */
static bool
is_name(const char *text, size_t length)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";

	if (text[0] == '.' && (length == 1 || (length == 2 && text[1] == '.')))
		return false;
	return length > 0 && length < IFNAMSIZ && strspn(text, allowed) >= length;
}

/* A comma-separated list of names of interfaces. */
static int
read_names(struct host_config *config, const struct config_section *section)
{
	const char *text = config->text;

	for (;;) {
		char *name = config->names[RTE_MIN(config->nb, TASK_MAX_OUT - 1u)];
		size_t length, left;

		text += strspn(text, " \t");
		length = left = strcspn(text, ",");
		while (left > 0 && (text[left - 1] == ' ' || text[left - 1] == '\t'))
			left--;
		if (config->nb == TASK_MAX_OUT)
			return config_fault(section, "kernel", "at most %d names", TASK_MAX_OUT),
			       -1;
		if (!is_name(text, left))
			return config_fault(section, "kernel",
					    "must be names of interfaces of 1 to %d letters, "
					    "digits, \".\", \"_\" or \"-\", separated by commas",
					    IFNAMSIZ - 1),
			       -1;
		memcpy(name, text, left);
		name[left] = '\0';
		for (unsigned int i = 0; i < config->nb; i++)
			if (strcmp(config->names[i], name) == 0)
				return config_fault(section, "kernel", "names %s twice", name), -1;
		config->nb++;
		text += length;
		if (*text == '\0')
			return 0;
		text++; /* a name must follow */
	}
}

/* Read "kernel" and the keys that go with it. */
static int
read_kernel(struct host_config *config, const struct config_section *section, unsigned int nb_out)
{
	int ret;

	config->text = config_string(section, "kernel");
	config->netns = config_string(section, "kernel_netns");
	config->buffer_bytes = 128u << 20;
	ret = config_u32(section, "kernel_buffer_bytes", &config->buffer_bytes, 4096, 1u << 30);
	ret |= config_u32(section, "room_ipv4", &config->least[0], 0, ROOM_MAX);
	ret |= config_u32(section, "room_ipv6", &config->least[1], 0, ROOM_MAX);
	ret |= read_names(config, section);
	if (ret == 0 && config->nb != nb_out) {
		config_fault(section, "kernel", "needs one name for each of the %u tx", nb_out);
		ret = -1;
	}
	return ret;
}

/* Arguments of a router whose routes are the kernel's. */
static int
init_kernel(struct task *task, struct router *router, const struct config_section *section)
{
	static const char *const files[] = {"routes", "mac", "punt_tx", "protocol_tx"};
	int ret = config_refuse(section, files, RTE_DIM(files), "the kernel has it: see kernel");

	ret |= read_kernel(&router->kernel, section, task->nb_out);
	router->punts = true;
	task->wants_idle = true; /* the kernel sends, too */
	return ret;
}

int
router_init(struct task *task, const struct config_section *section)
{
	struct router *router = task->priv;
	int ret;

	router->punt_fps = PUNT_FPS;
	ret = config_u32(section, "punt_fps", &router->punt_fps, 0, UINT32_MAX);
	if (config_has(section, "kernel"))
		ret |= init_kernel(task, router, section);
	else
		ret |= init_file(task, router, section);
	return ret == 0 ? 0 : -EINVAL;
}
