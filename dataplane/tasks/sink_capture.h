/* SPDX-License-Identifier: Apache-2.0 */
/* The first frames that failed, kept in memory until somebody asks for the pcap file. */
#ifndef WSDP_SINK_CAPTURE_H
#define WSDP_SINK_CAPTURE_H

#include <stdatomic.h>
#include <stdint.h>
#include <rte_mbuf.h>

#include "pktlib/frame_size.h"
#include "pktlib/tsc_clock.h"

#define SINK_CAPTURE_MAX 10000

struct sink_captured {
	uint64_t tsc;
	uint32_t kept;
	uint32_t len;
	uint8_t octets[FRAME_LEN_MAX];
};

struct sink_capture {
	struct sink_captured *frames;
	uint32_t room;
	_Atomic uint32_t count; /* frames below it are complete */
	uint64_t epoch_tsc;     /* a TSC reading and ... */
	uint64_t epoch_ns;      /* ... the time of day that it was */
};

/* Returns 0 or a negative errno. With room 0 nothing is ever captured. */
int sink_capture_open(struct sink_capture *capture, uint32_t room);
void sink_capture_close(struct sink_capture *capture);
void sink_capture_reset(struct sink_capture *capture);

/* Copy the frame, if there is room left. */
void sink_capture_add(struct sink_capture *capture, const struct rte_mbuf *mbuf, uint64_t tsc);

/* Write the file; safe to run in parallel with sink_capture_add. Returns 0 or a negative errno. */
int sink_capture_write(const struct sink_capture *capture, const struct tsc_clock *clock,
		       const char *path);

#endif
