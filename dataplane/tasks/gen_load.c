/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <rte_common.h>

#include "core/arguments.h"
#include "core/config.h"
#include "core/number.h"
#include "core/task.h"
#include "gen_config.h"
#include "gen_load.h"

#define RATE_MAX_FPS 1e9
#define CATCHUP_MAX_NS (60 * NANOS_PER_S)
#define L1_OVERHEAD_BYTES 20 /* preamble, start delimiter, inter-frame gap */

/* To the nearest millionth of a frame/s. */
static uint64_t
to_ufps(double rate_fps)
{
	return (uint64_t)llround(rate_fps * (double)RATE_SCALE);
}

/* The rate that fills a percentage of a link with frames of the genome's mean size. */
static int
read_rate_percent(struct gen_config *config, const struct config_section *section)
{
	double percent = 100, link_bps = 0, octets = 0;

	if (!config_require(section, "rate_percent") || !config_require(section, "link_bps"))
		return -EINVAL;
	if (config_has(section, "rate_fps") || config->pcap != NULL) {
		config_fault(section, "rate_percent", "excludes rate_fps and pcap");
		return -EINVAL;
	}
	if (config_double(section, "rate_percent", &percent, 1e-6, 100) != 0 ||
	    config_double(section, "link_bps", &link_bps, 1, 1e13) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < config->sizes.nb_positions; i++)
		octets += config->sizes.sizes[config->sizes.position[i]] + L1_OVERHEAD_BYTES;
	octets /= config->sizes.nb_positions;
	config->load.rate_ufps =
		to_ufps(RTE_MIN(percent / 100 * link_bps / (octets * 8), RATE_MAX_FPS));
	return 0;
}

int
gen_load_config(struct gen_config *config, const struct config_section *section)
{
	struct load *load = &config->load;
	double rate_fps = 0;
	int ret = 0;

	ret |= config_double(section, "rate_fps", &rate_fps, 0, RATE_MAX_FPS);
	load->rate_ufps = to_ufps(rate_fps);
	ret |= config_u64(section, "duration_ns", &load->duration_ns, 0, LOAD_DURATION_MAX_NS);
	ret |= config_u16(section, "burst", &load->burst, 1, TASK_BURST);
	ret |= config_u64(section, "burst_span_ns", &load->span_ns, 0, NANOS_PER_S);
	ret |= config_u64(section, "catchup_ns", &load->catchup_ns, 0, CATCHUP_MAX_NS);
	if (config_has(section, "rate_percent") || config_has(section, "link_bps"))
		ret |= read_rate_percent(config, section);
	return ret;
}

int
gen_load_request(const char *args, struct load *load, struct gen_start *start)
{
	struct argument argument;
	uint64_t burst = load->burst;
	double rate_fps;
	int ret;

	while ((ret = arguments_next(&args, &argument)) > 0) {
		const char *key = argument.key, *value = argument.value;

		if (strcmp(key, "rate_fps") == 0) {
			ret = number_double(value, &rate_fps, 0, RATE_MAX_FPS);
			if (ret == 0)
				load->rate_ufps = to_ufps(rate_fps);
		} else if (strcmp(key, "duration_ns") == 0) {
			ret = number_u64(value, &load->duration_ns, 0, LOAD_DURATION_MAX_NS);
			if (start != NULL)
				start->duration_ns = load->duration_ns;
		} else if (strcmp(key, "burst") == 0) {
			ret = number_u64(value, &burst, 1, TASK_BURST);
		} else if (strcmp(key, "burst_span_ns") == 0) {
			ret = number_u64(value, &load->span_ns, 0, NANOS_PER_S);
		} else if (strcmp(key, "catchup_ns") == 0) {
			ret = number_u64(value, &load->catchup_ns, 0, CATCHUP_MAX_NS);
		} else if (strcmp(key, "trial") == 0 && start != NULL) {
			ret = number_u64(value, &start->trial, 0, UINT8_MAX);
		} else if (strcmp(key, "after_ns") == 0 && start != NULL) {
			ret = number_u64(value, &start->after_ns, 0, LOAD_AFTER_MAX_NS);
		} else {
			ret = -EINVAL;
		}
		if (ret < 0)
			return ret;
	}
	load->burst = (uint16_t)burst;
	return ret;
}

struct load
gen_load_share(struct load load, uint16_t senders, uint32_t own, uint32_t flows)
{
	uint128 rate = (uint128)load.rate_ufps * senders * own;

	/* 0 would mean as fast as possible. */
	if (load.rate_ufps != 0)
		load.rate_ufps = RTE_MAX((uint64_t)((rate + flows / 2) / flows), UINT64_C(1));
	return load;
}
