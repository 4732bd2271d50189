/* SPDX-License-Identifier: Apache-2.0 */
/* VRFs of the task router alone: frames of VLANs that are in another one than their port's interface, and
 * figures. */
#ifndef WSDP_ROUTER_VRF_H
#define WSDP_ROUTER_VRF_H

#include "router_judge.h"
#include "router_tables.h"

struct telemetry_out;

/* Look up the frames that `others` has, each in its tables, and add what they gave to the burst's. */
void vrf_look_up(const struct router_tables *tables, struct rte_mbuf *const *mbufs,
		 struct judged_others *others, struct ip_burst *burst);
/* Add what the tables of each VRF hold, by the table's number. */
void vrf_stats(const struct router_tables *tables, struct telemetry_out *out);

#endif
