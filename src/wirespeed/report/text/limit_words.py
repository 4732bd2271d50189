# SPDX-License-Identifier: Apache-2.0
"""Name what limits a point in a few words, for tables and summaries."""

from __future__ import annotations

from wirespeed.explain.resources import limiting
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.reason import BLAMES
from wirespeed.model.words import NONE
from wirespeed.report.text.limits import explanations, measured
from wirespeed.report.views.workloads import view_of
from wirespeed.store.records import PointRecord

# An overflowing ring is named by the resource behind it, e.g. "switch CPU".
LIMIT_WORDS = {
    **{blame.limit: blame.words for blame in BLAMES},
    "shared_lcore": "shared core",
    "shared_partner": "shared core",
    "shared_control": "control plane",
    "generator": "generator",
    "link": "line rate",
    "max_load": "max. load asked",
    "pauses": "SUT pauses",
    "core_to_core_latency": "across caches",
    "smt_siblings": "CPUs on one core",
    "pmd_core_shared": "SUT core shared",
    "steal": "hypervisor steal",
    "generator_core_shared": "gen. core shared",
    "upcalls": "upcalls",
    "flows_deleted": "flows deleted",
    "pmd_off_node": "remote NUMA node",
    "queue_imbalance": "one busy queue",
    "small_ring": "ring too short",
    "slow_vnf": "VNF CPU",
    "vnf_stopped": "VNF stopped",
    "vnf_restarted": "VNF restarted",
    "vnf_buffers": "VNF buffers",
    "queue_growth": "queues grow",
    "overload": "overload",
    "not_reached": "not reached",
    "emulated": "emulated CPUs",
    "unaccounted": "unknown loss",
    "cause_not_found": "cause not found",
    "throttled": "CPU quota",
    "poller_stopped": "poller stopped",
    "poller_asleep": "poller asleep",
    "pollers_share_cpu": "CPU shared",
    "kernel_time": "time in kernel",
    "page_faults": "page faults",
    "poller_moved": "poller moved",
    "changed": "settings changed",
    DropCause.RX_RING_FULL: "receive ring",
    DropCause.VHOST_TX_RING_FULL: "VNF CPU",
    DropCause.VNF_TX_RING_FULL: "switch CPU",
    DropCause.VNF_RX_RING_FULL: "VNF CPU",
    DropCause.VNF_RING_FULL: "VNF CPU",
    DropCause.BACKLOG_FULL: "switch CPU",
    DropCause.SOCKET_FULL: "switch CPU",
    DropCause.TAP_RING_FULL: "VNF CPU",
    DropCause.PARTNER_RING_FULL: "bond's partner",
    DropCause.TG_RX_RING_FULL: "analyser",
    DropCause.NO_FLOW: "no flow matches",
    DropCause.UPCALL: "upcalls",
    DropCause.MTU: "MTU",
    DropCause.POLICER: "ingress policer",
    DropCause.EGRESS_POLICER: "egress policer",
    DropCause.WRONG_VLAN: "wrong VLAN tag",
    DropCause.NOT_CONNECTED: "VNF offline",
    DropCause.VNF_ENDED: "VNF ended",
    DropCause.VNF_DISCARD: "VNF discards",
    DropCause.NO_ROUTE: "no route",
    DropCause.TTL_EXPIRED: "TTL expired",
    DropCause.BAD_HEADER: "bad IP header",
    DropCause.UNKNOWN_VLAN: "unknown VLAN",
    DropCause.NIC_DISCARD: "NIC refuses",
    DropCause.LINK_DOWN: "link down",
    DropCause.IMPAIRED: "reference SUT",
    DropCause.MISDIRECTED: "misdirected",
    DropCause.CORRUPTED: "corrupted frames",
    DropCause.METER: "meter",
    DropCause.FOREIGN_RULE: "foreign rule",
    DropCause.PORT_DOWN: "port down",
    DropCause.DATAPATH: "datapath drops",
    DropCause.UNKNOWN: "unknown loss",
}


def limited_by(point: PointRecord) -> str:
    """Return what limits the point first, in at most 16 characters; a dash where unknown.

    Of a workload without a search: its verdict, in full.
    """
    if (result := point.result) is not None and not result.searched:
        return ", ".join(dict.fromkeys(view_of(result).limits(result))) or NONE
    if point.sut is not None and point.sut.limits_itself:
        return LIMIT_WORDS[DropCause.IMPAIRED]
    seen, found = measured(point), explanations(point)
    for explanation in found:
        if explanation.limit not in LIMIT_WORDS:
            continue
        resource = None if seen is None else limiting(seen, [explanation])
        ring = explanation.limit in set(DropCause) and resource is not None
        return str(resource) if ring else LIMIT_WORDS[explanation.limit]
    return NONE
