/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pcap_file.h"

static char path[] = "/tmp/test_pcap_file.XXXXXX";
static uint8_t pattern[9212];

static void
write_file(const void *octets, size_t n)
{
	FILE *file = fopen(path, "wb");

	CHECK(file != NULL);
	CHECK_EQ(fwrite(octets, 1, n, file), n);
	fclose(file);
}

static void
test_written_frames_are_read(void)
{
	static const uint16_t lens[] = {60, 14, 1514, 9212};
	struct pcap_frames pcap;
	struct fault why;
	FILE *file = fopen(path, "wb");

	CHECK(file != NULL);
	pcap_write_header(file);
	for (unsigned int i = 0; i < 4; i++)
		pcap_write_frame(file, 1500000000, pattern, lens[i], lens[i]);
	fclose(file);
	CHECK_EQ(pcap_load(&pcap, path, &why), 0);
	CHECK_EQ(pcap.nb_frames, 4);
	for (unsigned int i = 0; i < 4; i++) {
		CHECK_EQ(pcap.frames[i].len, lens[i] < 60 ? 60 : lens[i]);
		CHECK_EQ(memcmp(pcap.octets + pcap.frames[i].at, pattern, lens[i]), 0);
	}
	/* The short one is padded with zeros. */
	for (unsigned int i = 14; i < 60; i++)
		CHECK_EQ(pcap.octets[pcap.frames[1].at + i], 0);
	pcap_unload(&pcap);
}

static void
test_the_other_byte_order(void)
{
	static const uint8_t swapped[] = {
		0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,
		0xff, 0xff, 0,    0,    0, 1, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  14,
		0,    0,    0,    14,   1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	};
	struct pcap_frames pcap;
	struct fault why;

	write_file(swapped, sizeof(swapped));
	CHECK_EQ(pcap_load(&pcap, path, &why), 0);
	CHECK_EQ(pcap.nb_frames, 1);
	CHECK_EQ(pcap.octets[13], 14);
	pcap_unload(&pcap);
}

static void
check_refused(const void *octets, size_t n, const char *reason)
{
	struct pcap_frames pcap;
	struct fault why;

	write_file(octets, n);
	CHECK(pcap_load(&pcap, path, &why) < 0);
	if (strstr(why.text, reason) == NULL)
		fprintf(stderr, "\"%s\" does not say \"%s\"\n", why.text, reason);
	CHECK(strstr(why.text, reason) != NULL);
}

static void
test_bad_files(void)
{
	uint8_t good[24 + 16 + 60] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0};
	uint8_t bad[sizeof(good)];

	good[20] = 1;
	good[24 + 8] = good[24 + 12] = 60;
	check_refused(good, 10, "not a pcap file");
	check_refused("\x0a\x0d\x0d\x0a....................", 24, "pcapng");
	check_refused(good, 24, "no frames");
	check_refused(good, 30, "ends within its header");
	check_refused(good, sizeof(good) - 1, "ends within it");
	memcpy(bad, good, sizeof(good));
	bad[20] = 113;
	check_refused(bad, sizeof(bad), "link type 113");
	memcpy(bad, good, sizeof(good));
	bad[24 + 12] = 61;
	check_refused(bad, sizeof(bad), "was cut to 60 of 61");
	memcpy(bad, good, sizeof(good));
	bad[24 + 8] = bad[24 + 12] = 13;
	check_refused(bad, sizeof(bad), "13 octets");
	memcpy(bad, good, sizeof(good));
	memset(bad + 24 + 8, 0xff, 8);
	check_refused(bad, sizeof(bad), "octets; 14 to 9212");
}

int
main(void)
{
	int descriptor = mkstemp(path);

	CHECK(descriptor >= 0);
	close(descriptor);
	for (unsigned int i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + 1);
	test_written_frames_are_read();
	test_the_other_byte_order();
	test_bad_files();
	unlink(path);
	return 0;
}
