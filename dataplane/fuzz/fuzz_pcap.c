/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a pcap file: it is rejected with a reason, or its frames can be sent. Written
 * again, they are read as the same frames. */
#include <string.h>

#include "frame_size.h"
#include "fuzz_file.h"
#include "pcap_file.h"

static void
write_again(const struct pcap_frames *pcap)
{
	struct pcap_frames again;
	struct fault why;
	char path[FUZZ_PATH_LEN];
	int written = file_of(NULL, 0, path);
	FILE *file = fopen(path, "wb");

	require(file != NULL);
	pcap_write_header(file);
	for (uint32_t i = 0; i < pcap->nb_frames; i++)
		pcap_write_frame(file, i, pcap->octets + pcap->frames[i].at, pcap->frames[i].len,
				 pcap->frames[i].len);
	require(fclose(file) == 0 && pcap_load(&again, path, &why) == 0);
	require(again.nb_frames == pcap->nb_frames);
	for (uint32_t i = 0; i < pcap->nb_frames; i++)
		require(again.frames[i].len == pcap->frames[i].len &&
			memcmp(again.octets + again.frames[i].at, pcap->octets + pcap->frames[i].at,
			       again.frames[i].len) == 0);
	pcap_unload(&again);
	close(written);
}

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	struct pcap_frames pcap;
	struct fault why = {.text = ""};
	char path[FUZZ_PATH_LEN];
	int file = file_of(octets, size, path);
	uint32_t end = 0;

	if (pcap_load(&pcap, path, &why) < 0) {
		require(why.text[0] != '\0' && pcap.frames == NULL && pcap.octets == NULL);
	} else {
		require(pcap.nb_frames > 0 && pcap.nb_frames <= PCAP_FRAMES_MAX);
		for (uint32_t i = 0; i < pcap.nb_frames; i++) {
			require(pcap.frames[i].at == end && pcap.frames[i].len >= FRAME_LEN_MIN &&
				pcap.frames[i].len <= FRAME_LEN_MAX);
			end += pcap.frames[i].len;
		}
		write_again(&pcap);
		pcap_unload(&pcap);
	}
	close(file);
	return 0;
}
