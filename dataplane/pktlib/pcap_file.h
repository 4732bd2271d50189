/* SPDX-License-Identifier: Apache-2.0 */
/* Classic pcap files of Ethernet frames (the format of tcpdump -w): read whole, write whole.
 *
 * Frames in a pcap file have no FCS. Frames below 60 octets are padded with zeros, as a network
 * card would. Files with cut frames (snap length) or another link type are refused.
 */
#ifndef PKTLIB_PCAP_FILE_H
#define PKTLIB_PCAP_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fault.h"

#define PCAP_FRAMES_MAX 1000000
#define PCAP_BYTES_MAX (UINT64_C(1) << 30)

struct pcap_frame {
	uint32_t at;  /* offset into the octets */
	uint16_t len; /* without FCS, 60..9212 */
};

struct pcap_frames {
	uint32_t nb_frames;
	struct pcap_frame *frames;
	uint8_t *octets;
};

/* Read a file into memory. Returns 0, or -1 with the reason; then nothing is left to free. */
int pcap_load(struct pcap_frames *pcap, const char *path, struct fault *why);
void pcap_unload(struct pcap_frames *pcap);

/* Write the file header, then frames one after the other. The first error sticks to the file. */
void pcap_write_header(FILE *file);
void
pcap_write_frame(FILE *file, uint64_t time_ns, const uint8_t *octets, uint32_t kept, uint32_t len);

#endif
