/* SPDX-License-Identifier: Apache-2.0 */
/* Any octets as a frame of either side: nothing is read past their end, and the fast path takes
 * exactly the frames that the verdict lets pass. */
#include <stdlib.h>

#include "bng/arp.h"
#include "bng/wire.h"

#define LOCAL_IP 0xc0000201

int LLVMFuzzerTestOneInput(const uint8_t *frame, size_t size);

static void
require(bool holds)
{
	if (!holds)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *frame, size_t size)
{
	uint32_t len = (uint32_t)size;
	struct bng_arp arp;
	bool up, down;

	if (size > UINT16_MAX)
		return 0;
	up = len >= BNG_UP_MIN && bng_up_parse(frame, len).fast;
	require(up == (bng_up_judge(frame, len) == BNG_FORWARD));
	down = len >= BNG_ETH_LEN && bng_down_has_headers(frame, len) &&
	       bng_down_parse(frame, len, LOCAL_IP).fast;
	require(down == (bng_down_judge(frame, len, LOCAL_IP) == BNG_FORWARD));
	if (bng_arp_read(&arp, frame, len))
		require((arp.sender_mac[0] & 1) == 0);
	return 0;
}
