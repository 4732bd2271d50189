/* SPDX-License-Identifier: Apache-2.0 */
/* Of the task router alone: which frames of a burst are to be looked up, and why the others are not, by the
 * interface that they came by and what their headers say. */
#ifndef WSDP_ROUTER_JUDGE_H
#define WSDP_ROUTER_JUDGE_H

#include <rte_prefetch.h>

#include "ip_burst.h"
#include "pktlib/ip_protocol.h"
#include "pktlib/ip_scope.h"
#include "router.h"
#include "router_vlan.h"

#define LOOKED_UP 0x80u /* of a verdict: the destination is, too */

/* The input of a burst. */
struct judged_input {
	const struct router_links *links; /* NULL: there are no VLANs */
	uint64_t mac;                     /* of frames without a tag; 0: any */
	uint8_t port;                     /* number of its output */
	uint8_t fib;                      /* of frames without a tag: place of its lookup tables */
};

/* Frames of a burst that are to be looked up in other tables than those of their port's interface. */
struct judged_others {
	uint16_t nb;
	uint8_t at[TASK_BURST], fibs[TASK_BURST], versions[TASK_BURST];
};

/* Judge by the frame alone; mac: that of its input, or 0. *version: 4 or 6 if the destination is to be
 * looked up, which may yet show that a frame without TTL or with options is for the router itself. */
static __rte_always_inline uint8_t
judge(uint64_t mac, const struct rte_mbuf *mbuf, uint8_t *version)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	bool ours = mac == 0 || (raw64_load(frame) & ROUTER_MAC_MASK) == mac;
	bool to_many = (frame[0] & 1) != 0;
	enum ip_verdict verdict;
	enum ip_scope scope;
	uint8_t is = 0;

	if (unlikely(!ours && !to_many))
		return OTHER_MAC;
	verdict = ip_judge(frame, mbuf->data_len, mbuf->pkt_len, &is);
	if (unlikely(verdict == IP_NOT_IP || verdict == IP_BAD_HEADER))
		return verdict;
	scope = is == 4 ? ip_scope_v4(frame + IP_ETHER_LEN) : ip_scope_v6(frame + IP_ETHER_LEN);
	if (unlikely(scope != IP_UNICAST))
		return scope == IP_MULTICAST ? MULTICAST : scope == IP_LINK ? LOCAL : MARTIAN;
	/* RFC 1812 section 5.3.4: a packet to one that came to many. */
	if (unlikely(to_many))
		return OTHER_MAC;
	*version = is;
	if (is == 6 && verdict == IP_FORWARD && frame[IP_ETHER_LEN + 6] == IP_PROTO_HOP_BY_HOP)
		return IP_WITH_OPTIONS;
	return verdict;
}

/* Judge a frame, whose VLAN tag is in its mbuf, by the interface of its VLAN; without one, by its port's. *fib: the
 * lookup tables of that interface. */
static inline uint8_t
judge_by_vlan(const struct judged_input *input, const struct rte_mbuf *mbuf, uint8_t *version,
	      uint8_t *fib)
{
	uint16_t vlan = vlan_is_stripped(mbuf) ? mbuf->vlan_tci & VLAN_ID_MASK : 0;
	uint64_t link;

	*fib = input->fib;
	/* VLAN 0 is that of a tag with a priority alone. */
	if (vlan == 0)
		return judge(input->mac, mbuf, version);
	link = router_links_vlan(input->links, input->port, vlan);
	if (unlikely(link == ROUTER_NO_VLAN))
		return UNKNOWN_VLAN;
	if (unlikely(link == ROUTER_DOWN))
		return INTERFACE_DOWN;
	*fib = (uint8_t)(link >> ROUTER_FIB_SHIFT);
	return judge(link & ROUTER_MAC_MASK, mbuf, version);
}

/* Judge a frame that is larger than the hop's MTU, for which its padding does not count. */
static inline uint8_t
judge_size(const uint8_t *ip, uint16_t mtu)
{
	if (ip[0] >> 4 == 6)
		return IPV6_LEN + (uint32_t)be16_load(ip + 4) > mtu ? TOO_BIG : IP_FORWARD;
	if (be16_load(ip + 2) <= mtu)
		return IP_FORWARD;
	return ip[6] & IPV4_DONT_FRAGMENT ? TOO_BIG : FRAGMENT;
}

/* Judge those frames of a burst that are not to be looked up yet: they may have VLAN tags. Return whether any
 * has. Apart from the others: untagged frames must not wait for what it takes. */
static __rte_noinline bool
judge_rest(const struct judged_input *input, struct rte_mbuf **mbufs, uint16_t n, uint8_t *verdicts,
	   struct ip_burst *burst, struct judged_others *others)
{
	bool any_tagged = false;

	others->nb = 0;
	for (uint16_t i = 0; i < n; i++) {
		uint8_t version = 0, fib;

		if ((verdicts[i] & LOOKED_UP) != 0)
			continue;
		any_tagged |= vlan_strip(mbufs[i]);
		verdicts[i] = judge_by_vlan(input, mbufs[i], &version, &fib);
		if (version == 0)
			continue;
		verdicts[i] |= LOOKED_UP;
		if (unlikely(fib != input->fib)) {
			others->at[others->nb] = (uint8_t)i;
			others->fibs[others->nb] = fib;
			others->versions[others->nb++] = version;
			continue;
		}
		ip_burst_add(burst, rte_pktmbuf_mtod(mbufs[i], const uint8_t *), version,
			     (uint8_t)i);
	}
	return any_tagged;
}

/* Judge the frames of a burst to this address, if they have no VLAN tags. Return whether any is not to be looked
 * up. */
static inline bool
judge_untagged(uint64_t mac, struct rte_mbuf **mbufs, uint16_t n, uint8_t *verdicts,
	       struct ip_burst *burst)
{
	bool any_left = false;

	for (uint16_t i = 0; i < n; i++) {
		uint8_t version = 0, verdict = judge(mac, mbufs[i], &version);

		verdicts[i] = verdict;
		if (unlikely(version == 0)) {
			any_left = true;
			continue;
		}
		verdicts[i] = verdict | LOOKED_UP;
		ip_burst_add(burst, rte_pktmbuf_mtod(mbufs[i], const uint8_t *), version,
			     (uint8_t)i);
	}
	return any_left;
}

/* Return whether the tag of any frame is in its mbuf: the frame looks like one without. */
static inline bool
any_stripped(struct rte_mbuf *const *mbufs, uint16_t n)
{
	uint64_t flags = 0;

	/* See task_octets. */
	for (uint16_t i = 0; i < n; i++)
		flags |= *(const volatile uint64_t *)&mbufs[i]->ol_flags;
	return (flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;
}

/* Judge the frames of a burst. Return whether any had a VLAN tag; only then `others` is set. */
static inline bool
judge_burst(const struct judged_input *input, struct rte_mbuf **mbufs, uint16_t n,
	    uint8_t *verdicts, struct ip_burst *burst, struct judged_others *others)
{
	bool any_left = true;

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	ip_burst_begin(burst);
	if (unlikely(input->links != NULL && any_stripped(mbufs, n)))
		memset(verdicts, 0, n);
	else
		any_left = judge_untagged(input->mac, mbufs, n, verdicts, burst);
	return unlikely(any_left) && input->links != NULL &&
	       judge_rest(input, mbufs, n, verdicts, burst, others);
}

#endif
