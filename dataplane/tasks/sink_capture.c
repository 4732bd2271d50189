/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_cycles.h>

#include "core/export.h"
#include "pktlib/pcap_file.h"
#include "sink_capture.h"

int
sink_capture_open(struct sink_capture *capture, uint32_t room)
{
	struct timespec now;

	capture->room = room;
	if (room == 0)
		return 0;
	/* Zeroed pages appear at the first write only; ordinary memory will do for failures. */
	capture->frames = calloc(room, sizeof(*capture->frames));
	if (capture->frames == NULL)
		return -ENOMEM;
	clock_gettime(CLOCK_REALTIME, &now);
	capture->epoch_tsc = rte_rdtsc();
	capture->epoch_ns = (uint64_t)now.tv_sec * NANOS_PER_S + (uint64_t)now.tv_nsec;
	return 0;
}

void
sink_capture_close(struct sink_capture *capture)
{
	free(capture->frames);
	capture->frames = NULL;
	capture->room = 0;
}

void
sink_capture_reset(struct sink_capture *capture)
{
	atomic_store_explicit(&capture->count, 0, memory_order_release);
}

void
sink_capture_add(struct sink_capture *capture, const struct rte_mbuf *mbuf, uint64_t tsc)
{
	uint32_t count = atomic_load_explicit(&capture->count, memory_order_relaxed);
	struct sink_captured *to;
	const void *octets;

	if (count >= capture->room)
		return;
	to = &capture->frames[count];
	to->tsc = tsc;
	to->len = mbuf->pkt_len;
	to->kept = RTE_MIN(mbuf->pkt_len, (uint32_t)sizeof(to->octets));
	octets = rte_pktmbuf_read(mbuf, 0, to->kept, to->octets);
	if (octets != to->octets)
		memcpy(to->octets, octets, to->kept);
	atomic_store_explicit(&capture->count, count + 1, memory_order_release);
}

int
sink_capture_write(const struct sink_capture *capture, const struct tsc_clock *clock,
		   const char *path)
{
	uint32_t count = atomic_load_explicit(&capture->count, memory_order_acquire);
	FILE *file = export_open(path);

	if (file == NULL)
		return -errno;
	pcap_write_header(file);
	for (uint32_t i = 0; i < count; i++) {
		const struct sink_captured *frame = &capture->frames[i];
		uint64_t since = tsc_clock_ns(clock, frame->tsc - capture->epoch_tsc);

		pcap_write_frame(file, capture->epoch_ns + since, frame->octets, frame->kept,
				 frame->len);
	}
	return export_close(file);
}
