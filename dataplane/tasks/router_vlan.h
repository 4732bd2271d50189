/* SPDX-License-Identifier: Apache-2.0 */
/* VLAN tags (IEEE 802.1Q) of a router's frames. While a frame is judged, its tag is in its mbuf, where a NIC
 * that strips tags leaves it, so that all else finds an untagged frame. No offload is needed. */
#ifndef WSDP_ROUTER_VLAN_H
#define WSDP_ROUTER_VLAN_H

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "pktlib/ip_forward.h"

#define VLAN_TAG_LEN 4
#define VLAN_ID_MASK 0xfff
#define VLAN_STRIPPED (RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED)

/* Return whether a frame's tag is in its mbuf. */
static inline bool
vlan_is_stripped(const struct rte_mbuf *mbuf)
{
	return (mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;
}

static inline void
vlan_write(uint8_t *tag, uint16_t tci)
{
	be16_store(tag, TPID_VLAN);
	be16_store(tag + 2, tci);
}

/* Ethernet has no shorter frames, and not every driver fills them up: the tag counted. */
static inline void
vlan_fill_up(struct rte_mbuf *mbuf)
{
	const uint32_t least = RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN;
	uint16_t missing;
	char *end;

	if (likely(mbuf->pkt_len >= least))
		return;
	missing = (uint16_t)(least - mbuf->pkt_len);
	end = rte_pktmbuf_append(mbuf, missing);
	if (end != NULL)
		memset(end, 0, missing);
}

/* Move the tag of a frame, whose Ethernet header can be read, to its mbuf. Return false: it has none. */
static inline bool
vlan_strip(struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *), macs[IP_MACS_LEN];

	if (!vlan_is_stripped(mbuf)) {
		if (be16_load(frame + IP_MACS_LEN) != TPID_VLAN ||
		    mbuf->data_len < IP_ETHER_LEN + VLAN_TAG_LEN)
			return false;
		mbuf->vlan_tci = be16_load(frame + IP_ETHER_LEN);
		mbuf->ol_flags |= VLAN_STRIPPED;
		memcpy(macs, frame, sizeof(macs));
		memcpy(frame + VLAN_TAG_LEN, macs, sizeof(macs));
		rte_pktmbuf_adj(mbuf, VLAN_TAG_LEN);
	}
	vlan_fill_up(mbuf);
	return true;
}

/* Change a frame to one for the next hop, as ip_rewrite does, with the tag of a VLAN. Return false: it has no
 * room for one. */
static inline bool
vlan_rewrite(struct rte_mbuf *mbuf, const uint8_t *macs, uint16_t vlan)
{
	uint8_t *frame;

	if (rte_pktmbuf_headroom(mbuf) < VLAN_TAG_LEN)
		return false;
	ip_rewrite(rte_pktmbuf_mtod(mbuf, uint8_t *), macs);
	frame = (uint8_t *)rte_pktmbuf_prepend(mbuf, VLAN_TAG_LEN);
	memcpy(frame, macs, IP_MACS_LEN);
	vlan_write(frame + IP_MACS_LEN, vlan);
	return true;
}

/* Forget the tags that frames came with. */
static inline void
vlan_forget(struct rte_mbuf *const *mbufs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		mbufs[i]->ol_flags &= ~VLAN_STRIPPED;
}

#endif
