/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a received frame: nothing is read past their end. A located UDP payload lies
 * in the frame, right behind a UDP header with its length. */
#include <string.h>

#include "fuzz_file.h"
#include "udp_locate.h"

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	struct udp_payload payload = {.len = UINT16_MAX};
	enum udp_located located;
	uint8_t *frame;

	if (size > FRAME_LEN_MAX)
		return 0;
	/* Alone in memory so that ASan guards its end. */
	frame = malloc(size + 1);
	require(frame != NULL);
	memcpy(frame + 1, octets, size);
	located = udp_locate(frame + 1, (uint32_t)size, &payload);
	if (located == UDP_NONE) {
		require(payload.len == UINT16_MAX);
	} else {
		require(payload.ip_version == 4 || payload.ip_version == 6);
		require(payload.at == 0 || (payload.at >= 42 && payload.at <= size));
		require(located == UDP_WHOLE || payload.len == 0);
	}
	if (located == UDP_WHOLE) {
		require(payload.at > 0 && (uint32_t)payload.at + payload.len <= size);
		require(be16_load(frame + 1 + payload.at - 4) == payload.len + 8);
	}
	free(frame);
	return 0;
}
