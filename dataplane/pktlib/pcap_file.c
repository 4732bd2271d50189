/* SPDX-License-Identifier: Apache-2.0 */
#include "pcap_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "frame_size.h"
#include "tsc_clock.h"

#define MAGIC_US 0xa1b2c3d4u
#define MAGIC_NS 0xa1b23c4du
#define LINKTYPE_ETHERNET 1

struct file_header {
	uint32_t magic;
	uint16_t version_major;
	uint16_t version_minor;
	uint32_t zone;
	uint32_t accuracy;
	uint32_t snap_length;
	uint32_t link_type;
};

struct frame_header {
	uint32_t seconds;
	uint32_t fraction;
	uint32_t kept; /* octets in the file */
	uint32_t len;  /* octets the frame had */
};

/* A file read in, and how far it has been understood. */
struct reader {
	uint8_t *octets;
	size_t size;
	size_t at;
	bool swapped;
};

static uint32_t
number(const struct reader *reader, uint32_t raw)
{
	return reader->swapped ? __builtin_bswap32(raw) : raw;
}

static int
read_whole(struct reader *reader, const char *path, struct fault *why)
{
	FILE *file = fopen(path, "rb");
	long size = -1;

	if (file == NULL)
		return fault_say(why, "%.120s: %s", path, strerror(errno));
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0 || (uint64_t)size > PCAP_BYTES_MAX) {
		fclose(file);
		return fault_say(why, "%.120s: cannot be read whole, or is above 1 GiB", path);
	}
	rewind(file);
	reader->size = (size_t)size;
	reader->octets = malloc(reader->size + 1);
	if (reader->octets == NULL ||
	    fread(reader->octets, 1, reader->size, file) != reader->size) {
		free(reader->octets);
		fclose(file);
		return fault_say(why, "%.120s: cannot be read whole into memory", path);
	}
	fclose(file);
	return 0;
}

static int
read_file_header(struct reader *reader, struct fault *why)
{
	struct file_header header;
	uint32_t magic;

	if (reader->size < sizeof(header))
		return fault_say(why, "not a pcap file: %zu octets", reader->size);
	memcpy(&header, reader->octets, sizeof(header));
	magic = __builtin_bswap32(header.magic);
	reader->swapped = magic == MAGIC_US || magic == MAGIC_NS;
	magic = number(reader, header.magic);
	if (magic != MAGIC_US && magic != MAGIC_NS)
		return fault_say(why,
				 "not a classic pcap file: it begins 0x%08x. Convert pcapng with "
				 "editcap -F pcap",
				 header.magic);
	if ((number(reader, header.link_type) & 0xffff) != LINKTYPE_ETHERNET)
		return fault_say(why, "link type %u; only Ethernet (1) can be replayed",
				 number(reader, header.link_type) & 0xffff);
	reader->at = sizeof(header);
	return 0;
}

/* The next frame's place in the file. Returns 1, 0 at the end, or -1 with the reason. */
static int
next_frame(struct reader *reader, uint32_t index, struct pcap_frame *frame, struct fault *why)
{
	struct frame_header header;
	size_t left = reader->size - reader->at;
	uint32_t kept;

	if (left == 0)
		return 0;
	if (left < sizeof(header))
		return fault_say(why, "frame %u: the file ends within its header", index);
	memcpy(&header, reader->octets + reader->at, sizeof(header));
	kept = number(reader, header.kept);
	if (kept != number(reader, header.len))
		return fault_say(why, "frame %u was cut to %u of %u octets when captured", index,
				 kept, number(reader, header.len));
	if (kept < 14 || kept > FRAME_LEN_MAX)
		return fault_say(why, "frame %u has %u octets; 14 to %d can be sent", index, kept,
				 FRAME_LEN_MAX);
	if (kept > left - sizeof(header))
		return fault_say(why, "frame %u: the file ends within it", index);
	frame->at = (uint32_t)(reader->at + sizeof(header));
	frame->len = (uint16_t)kept;
	reader->at += sizeof(header) + kept;
	return 1;
}

/* Count the frames and, in a second pass, collect them. */
static int
walk(struct reader reader, struct pcap_frames *pcap, struct fault *why)
{
	struct pcap_frame frame = {.at = 0};
	uint32_t index = 0;
	uint32_t filled = 0;
	int more;

	while ((more = next_frame(&reader, index, &frame, why)) > 0) {
		uint16_t len = frame.len < FRAME_LEN_MIN ? FRAME_LEN_MIN : frame.len;

		if (index++ == PCAP_FRAMES_MAX)
			return fault_say(why, "more than %d frames", PCAP_FRAMES_MAX);
		if (pcap->frames == NULL)
			continue;
		pcap->frames[index - 1] = (struct pcap_frame){.at = filled, .len = len};
		memcpy(pcap->octets + filled, reader.octets + frame.at, frame.len);
		filled += len;
	}
	pcap->nb_frames = index;
	if (more == 0 && index == 0)
		return fault_say(why, "no frames in it");
	return more;
}

int
pcap_load(struct pcap_frames *pcap, const char *path, struct fault *why)
{
	struct reader reader = {.octets = NULL};
	int result;

	memset(pcap, 0, sizeof(*pcap));
	if (read_whole(&reader, path, why) < 0)
		return -1;
	result = read_file_header(&reader, why);
	if (result == 0)
		result = walk(reader, pcap, why);
	if (result == 0) {
		pcap->frames = calloc(pcap->nb_frames, sizeof(*pcap->frames));
		pcap->octets = calloc(1, reader.size + (size_t)pcap->nb_frames * FRAME_LEN_MIN);
		result = pcap->frames != NULL && pcap->octets != NULL
				 ? walk(reader, pcap, why)
				 : fault_say(why, "no memory for %u frames", pcap->nb_frames);
	}
	free(reader.octets);
	if (result < 0)
		pcap_unload(pcap);
	return result;
}

void
pcap_unload(struct pcap_frames *pcap)
{
	free(pcap->frames);
	free(pcap->octets);
	memset(pcap, 0, sizeof(*pcap));
}

void
pcap_write_header(FILE *file)
{
	const struct file_header header = {
		.magic = MAGIC_NS,
		.version_major = 2,
		.version_minor = 4,
		.snap_length = FRAME_LEN_MAX,
		.link_type = LINKTYPE_ETHERNET,
	};

	fwrite(&header, sizeof(header), 1, file);
}

void
pcap_write_frame(FILE *file, uint64_t time_ns, const uint8_t *octets, uint32_t kept, uint32_t len)
{
	const struct frame_header header = {
		.seconds = (uint32_t)(time_ns / NANOS_PER_S),
		.fraction = (uint32_t)(time_ns % NANOS_PER_S),
		.kept = kept,
		.len = len,
	};

	fwrite(&header, sizeof(header), 1, file);
	fwrite(octets, 1, kept, file);
}
