/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>

#include "core/task.h"
#include "gen_fill.h"
#include "gen_rss.h"
#include "gen_source.h"
#include "pktlib/pcap_file.h"

static int
fail(const char *task_name, const char *why)
{
	fprintf(stderr, "wsdp: [task.%s] %s\n", task_name, why);
	return -ENOMEM;
}

/* Room for templates, the octets of all of them and the order they are sent in. */
static int
allocate(struct gen_source *source, const char *task_name, int socket_id, uint32_t nb_templates,
	 uint32_t nb_order, size_t nb_octets)
{
	source->templates = rte_calloc_socket(task_name, nb_templates, sizeof(*source->templates),
					      RTE_CACHE_LINE_SIZE, socket_id);
	source->order = rte_calloc_socket(task_name, nb_order, sizeof(*source->order),
					  RTE_CACHE_LINE_SIZE, socket_id);
	source->octets = rte_zmalloc_socket(task_name, nb_octets, RTE_CACHE_LINE_SIZE, socket_id);
	source->nb_templates = nb_templates;
	source->nb_order = nb_order;
	if (source->templates != NULL && source->order != NULL && source->octets != NULL)
		return 0;
	gen_source_close(source);
	return fail(task_name, "its frames do not fit into DPDK's memory; give it more (-m, "
			       "--socket-mem)");
}

/* Keep those flows that RSS would give to this sender's queue; there may be none. */
static int
keep_own_flows(struct gen_source *source, const struct gen_config *config, const char *task_name,
	       int socket_id)
{
	uint32_t *found = calloc(config->flows, sizeof(*found)), *own = NULL, nb = 0;

	for (uint32_t flow = 0; found != NULL && flow < config->flows; flow++)
		if (gen_rss_queue(source->templates, &config->frame, flow, config->rss_queues) ==
		    config->rss_queue)
			found[nb++] = flow;
	if (found != NULL)
		own = rte_malloc_socket(task_name, (nb + 1) * sizeof(*own), RTE_CACHE_LINE_SIZE,
					socket_id);
	if (own != NULL)
		memcpy(own, found, nb * sizeof(*own));
	free(found);
	source->own = own;
	source->flows = nb;
	return own != NULL ? 0 : fail(task_name, "no memory for its own flows");
}

/* Copy the addresses of the flows into DPDK's memory: they are read for every frame. */
static int
keep_destinations(struct gen_source *source, const struct gen_config *config, const char *task_name,
		  int socket_id)
{
	struct destinations found;
	struct destination *kept;
	struct fault why;

	if (destinations_load(&found, config->destinations, config->frame.ip_version, &why) != 0)
		return fail(task_name, why.text);
	kept = rte_malloc_socket(task_name, found.nb * sizeof(*kept), RTE_CACHE_LINE_SIZE,
				 socket_id);
	if (kept != NULL)
		memcpy(kept, found.list, found.nb * sizeof(*kept));
	source->destinations = kept;
	source->flows = found.nb;
	destinations_unload(&found);
	return kept != NULL ? 0 : fail(task_name, "no memory for its destinations");
}

static int
open_made(struct gen_source *source, const struct gen_config *config, const char *task_name,
	  int socket_id)
{
	const struct frame_sizes *sizes = &config->sizes;
	size_t nb_octets = 0, at = 0;
	struct fault why;

	for (unsigned int i = 0; i < sizes->nb_sizes; i++)
		nb_octets += FRAME_ROOM(sizes->sizes[i]);
	if (allocate(source, task_name, socket_id, sizes->nb_sizes, sizes->nb_positions,
		     nb_octets) != 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < sizes->nb_sizes; i++) {
		if (frame_template_build(&source->templates[i], &config->frame, config->field,
					 sizes->sizes[i], source->octets + at, &why) != 0) {
			gen_source_close(source);
			return fail(task_name, why.text);
		}
		at += FRAME_ROOM(sizes->sizes[i]);
	}
	for (unsigned int i = 0; i < sizes->nb_positions; i++)
		source->order[i] = &source->templates[sizes->position[i]];
	source->flows = config->flows;
	if (config->destinations != NULL)
		return keep_destinations(source, config, task_name, socket_id);
	return config->rss_queues == 0 ? 0 : keep_own_flows(source, config, task_name, socket_id);
}

static int
open_replay(struct gen_source *source, const struct gen_config *config, const char *task_name,
	    int socket_id)
{
	struct pcap_frames pcap;
	struct fault why;
	size_t nb_octets = 0, at = 0;
	int ret;

	if (pcap_load(&pcap, config->pcap, &why) != 0)
		return fail(task_name, why.text);
	for (uint32_t i = 0; i < pcap.nb_frames; i++)
		nb_octets += FRAME_ROOM(pcap.frames[i].len);
	ret = allocate(source, task_name, socket_id, pcap.nb_frames, pcap.nb_frames, nb_octets);
	for (uint32_t i = 0; ret == 0 && i < pcap.nb_frames; i++) {
		const struct pcap_frame *frame = &pcap.frames[i];

		memcpy(source->octets + at, pcap.octets + frame->at, frame->len);
		frame_template_of(&source->templates[i], source->octets + at, frame->len,
				  config->frame.stamped);
		source->order[i] = &source->templates[i];
		at += FRAME_ROOM(frame->len);
	}
	pcap_unload(&pcap);
	source->flows = 1;
	return ret;
}

int
gen_source_open(struct gen_source *source, const struct gen_config *config, const struct task *task)
{
	int ret;

	source->stream = config->frame.stream;
	if (config->content != NULL) {
		ret = config->content->gen.open(source, config, task);
		source->content = ret == 0 ? config->content : NULL;
	} else {
		ret = config->pcap != NULL
			      ? open_replay(source, config, task->name, task->socket_id)
			      : open_made(source, config, task->name, task->socket_id);
		if (ret == 0)
			source->fill = gen_fill_for(source);
	}
	if (ret == 0)
		gen_source_rewind(source);
	return ret;
}

void
gen_source_close(struct gen_source *source)
{
	if (source->content != NULL)
		source->content->gen.close(source);
	rte_free(source->templates);
	rte_free(source->order);
	rte_free(source->octets);
	rte_free((void *)(uintptr_t)source->own);
	rte_free((void *)(uintptr_t)source->destinations);
	memset(source, 0, sizeof(*source));
}

void
gen_source_rewind(struct gen_source *source)
{
	source->position = 0;
	source->stamped = (struct gen_turn){0};
	source->plain = (struct gen_turn){0};
	if (source->content != NULL)
		source->content->gen.rewind(source);
}
