/* SPDX-License-Identifier: Apache-2.0 */
/* ARP requests read and answered octet by octet; what cannot be believed is refused. */
#include <string.h>

#include "bng/arp.h"
#include "../check.h"

/* 10.0.0.7 at 02:..:07 asks for 10.0.0.1, behind two tags. */
static const uint8_t request[22 + BNG_ARP_LEN] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,
						  7,    0x88, 0xa8, 0,    5,    0x81, 0, 0, 9, 8, 6,
						  0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,
						  0,    0,    7,    10,   0,    0,    7, 0, 0, 0, 0,
						  0,    0,    10,   0,    0,    1};
static const uint8_t answer[22 + BNG_ARP_LEN] = {2,    0, 0, 0,    0, 7, 2, 0,  0, 0, 0,  1, 0x88,
						 0xa8, 0, 5, 0x81, 0, 0, 9, 8,  6, 0, 1,  8, 0,
						 6,    4, 0, 2,    2, 0, 0, 0,  0, 1, 10, 0, 0,
						 1,    2, 0, 0,    0, 0, 7, 10, 0, 0, 7};

int
main(void)
{
	static const uint8_t gateway[6] = {2, 0, 0, 0, 0, 1};
	/* Each of these octets of the packet decides alone. */
	static const uint8_t deciding[] = {0, 1, 2, 3, 4, 5, 6, 7};
	uint8_t frame[sizeof(request)], *packet = frame + 22;
	struct bng_arp arp;

	memcpy(frame, request, sizeof(frame));
	CHECK(bng_arp_read(&arp, packet, BNG_ARP_LEN));
	CHECK(arp.request);
	CHECK_EQ(arp.sender_ip, 0x0a000007);
	CHECK_EQ(arp.target_ip, 0x0a000001);
	CHECK(memcmp(arp.sender_mac, frame + 6, 6) == 0);
	for (uint32_t len = 0; len < BNG_ARP_LEN; len++)
		CHECK(!bng_arp_read(&arp, packet, len));
	for (unsigned int i = 0; i < sizeof(deciding); i++) {
		packet[deciding[i]] ^= 0x40;
		CHECK(!bng_arp_read(&arp, packet, BNG_ARP_LEN));
		packet[deciding[i]] ^= 0x40;
	}
	packet[8] |= 1; /* a group has no address of its own */
	CHECK(!bng_arp_read(&arp, packet, BNG_ARP_LEN));
	memset(packet + 8, 0, 6);
	CHECK(!bng_arp_read(&arp, packet, BNG_ARP_LEN));

	memcpy(frame, request, sizeof(frame));
	bng_arp_answer(frame, packet, gateway);
	CHECK(memcmp(frame, answer, sizeof(frame)) == 0);
	CHECK(bng_arp_read(&arp, packet, BNG_ARP_LEN));
	CHECK(!arp.request);
	return 0;
}
