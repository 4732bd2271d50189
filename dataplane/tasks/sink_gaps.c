/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "core/arguments.h"
#include "core/config.h"
#include "core/pages.h"
#include "sink.h"

int
sink_gaps_read(struct sink *sink, const struct config_section *section)
{
	static const char *const needs[] = {"paths"};
	int ret = config_u32(section, "track_flows", &sink->tracked_flows, 1, FLOW_GAPS_FLOWS_MAX);

	if (sink->tracked_flows == 0)
		return ret | config_refuse(section, needs, RTE_DIM(needs), "needs track_flows");
	if (!config_require(section, "paths"))
		return -EINVAL;
	if (!flow_gaps_paths(&sink->gaps, config_string(section, "paths"))) {
		config_fault(section, "paths", "must be 1 to %u MAC addresses, separated by commas",
			     FLOW_GAPS_PATHS_MAX);
		return -EINVAL;
	}
	return ret;
}

int
sink_gaps_open(struct sink *sink, const struct task *task)
{
	size_t bytes = flow_gaps_bytes(sink->tracked_flows);
	void *memory;

	if (sink->tracked_flows == 0)
		return 0;
	memory = pages_map(bytes);
	if (memory == NULL) {
		fprintf(stderr, "wsdp: [task.%s] no memory to track %u flows (%zu octets)\n",
			task->name, sink->tracked_flows, bytes);
		return -ENOMEM;
	}
	flow_gaps_init(&sink->gaps, sink->tracked_flows, memory);
	return 0;
}

void
sink_gaps_close(struct sink *sink)
{
	pages_unmap(sink->gaps.records, flow_gaps_bytes(sink->tracked_flows));
}

int
sink_gaps_set(struct sink *sink, const char *args)
{
	uint64_t path = 0;
	int ret;

	if (sink->gaps.flows == 0)
		return -ENOTSUP;
	ret = arguments_only_u64(args, "only_path", &path, 0, sink->gaps.nb_paths - 1u);
	if (ret == 0)
		sink->gaps.only_path = (uint8_t)path;
	return ret;
}
