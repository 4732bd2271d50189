/* SPDX-License-Identifier: Apache-2.0 */
/* ARP for IPv4 over Ethernet (RFC 826), behind any number of tags. */
#ifndef PKTLIB_BNG_ARP_H
#define PKTLIB_BNG_ARP_H

#include <stdbool.h>
#include <stdint.h>

#define BNG_ARP_LEN 28

struct bng_arp {
	bool request;       /* or a reply */
	uint32_t sender_ip; /* host order; 0: a probe, RFC 5227 */
	uint32_t target_ip;
	uint8_t sender_mac[6];
};

/* Read the ARP packet at the front of `len` octets. Returns false when it is none that can be
 * believed: other hardware or protocol, unknown operation, a sender that is no single station. */
bool bng_arp_read(struct bng_arp *arp, const uint8_t *packet, uint32_t len);

/* Turn the request at `packet`, in a frame that begins at `frame`, into the answer that `mac` has
 * the address asked for. */
void bng_arp_answer(uint8_t *frame, uint8_t *packet, const uint8_t mac[6]);

#endif
