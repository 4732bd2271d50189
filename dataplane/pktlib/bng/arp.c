/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "../bytes.h"
#include "arp.h"

#define OPERATION_REQUEST 1
#define OPERATION_REPLY 2

bool
bng_arp_read(struct bng_arp *arp, const uint8_t *packet, uint32_t len)
{
	static const uint8_t fixed[] = {0, 1, 8, 0, 6, 4}; /* Ethernet, IPv4, their lengths */
	static const uint8_t nobody[6];
	uint16_t operation;

	if (len < BNG_ARP_LEN || memcmp(packet, fixed, sizeof(fixed)) != 0)
		return false;
	operation = be16_load(packet + 6);
	if (operation != OPERATION_REQUEST && operation != OPERATION_REPLY)
		return false;
	if ((packet[8] & 1) != 0 || memcmp(packet + 8, nobody, 6) == 0)
		return false;
	arp->request = operation == OPERATION_REQUEST;
	memcpy(arp->sender_mac, packet + 8, 6);
	arp->sender_ip = be32_load(packet + 14);
	arp->target_ip = be32_load(packet + 24);
	return true;
}

void
bng_arp_answer(uint8_t *frame, uint8_t *packet, const uint8_t mac[6])
{
	uint8_t target_ip[4];

	memcpy(target_ip, packet + 24, 4);
	memcpy(packet + 18, packet + 8, 10); /* the sender becomes the target */
	memcpy(packet + 8, mac, 6);
	memcpy(packet + 14, target_ip, 4);
	be16_store(packet + 6, OPERATION_REPLY);
	memcpy(frame, packet + 18, 6);
	memcpy(frame + 6, mac, 6);
}
