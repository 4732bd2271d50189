/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a frame to a router's judgement: nothing behind the frame is read, what is
 * forwarded is a packet that may be, and rewriting leaves one with a right header. */
#include <stdlib.h>
#include <string.h>

#include "ecmp.h"
#include "fuzz_file.h"
#include "ip_forward.h"
#include "ip_scope.h"

static void
check_forwarded(uint8_t *frame, uint32_t here, uint32_t length, uint8_t version)
{
	static const uint8_t macs[IP_MACS_LEN] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	uint8_t *ip = frame + IP_ETHER_LEN, ttl = version == 4 ? ip[8] : ip[7], again = 0;
	uint32_t left = here - IP_ETHER_LEN;

	require(version == ip[0] >> 4 && ttl > 1);
	require((version == 4 ? ip_scope_v4(ip) : ip_scope_v6(ip)) <= IP_MARTIAN);
	require((version == 4 ? ecmp_bucket_v4(ip, left) : ecmp_bucket_v6(ip, left)) <
		ECMP_BUCKETS);
	ip_rewrite(frame, macs);
	require(ip_judge(frame, here, length, &again) == (ttl == 2 ? IP_TTL_EXPIRED : IP_FORWARD));
	require((version == 4 ? ip[8] : ip[7]) == ttl - 1 && again == version);
}

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	uint8_t *frame, version = 0;
	uint32_t here;

	if (size < IP_ETHER_LEN + 1)
		return 0;
	/* The first octet: how many of the frame's lie in a later segment. */
	here = (uint32_t)size - 1;
	if (here - IP_ETHER_LEN >= octets[0])
		here -= octets[0];
	/* A copy of exactly what can be read, so that one octet more is an error. */
	frame = malloc(here);
	require(frame != NULL);
	memcpy(frame, octets + 1, here);
	if (ip_judge(frame, here, (uint32_t)size - 1, &version) == IP_FORWARD)
		check_forwarded(frame, here, (uint32_t)size - 1, version);
	free(frame);
	return 0;
}
