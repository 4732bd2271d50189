# SPDX-License-Identifier: Apache-2.0
"""Compute the time that each resource works for one delivered frame.

Demands are those of operational analysis: visits x time of a visit / servers, in ns, for many cases
at once. A resource that a case does not have has a demand of 0. Chains visit every function;
parallel functions share the frames (docs/explanation/prediction.md has the sums in words).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Counted, Edge, Resource
from wirespeed.model.units import FCS_BYTES, L1_OVERHEAD_BYTES
from wirespeed.predict.pcie import BURST_FRAMES, Floats, in_and_out, octets_per_ns

LINE_BYTES = 64
# Entries of a PMD thread's exact match cache in which a flow hash may be: EM_FLOW_HASH_SEGS in Open
# vSwitch's lib/dpif-netdev-private-dfc.h.
CACHE_WAYS = 2
NUMBERS = (
    "functions", "frame_bytes", "link_bps", "ports", "nics", "function_cores", "idle_ports",
    "pcie_lanes", "pcie_gts",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases as columns. Flags are boolean columns."""

    functions: Floats
    frame_bytes: Floats
    link_bps: Floats
    ports: Floats
    nics: Floats
    function_cores: Floats
    idle_ports: Floats
    pcie_lanes: Floats
    pcie_gts: Floats
    pmds: Floats
    """0 if each port has its own core."""
    offered_ns: Floats
    """Least time between offered frames; 0: no such bound."""
    vhost: Floats
    sriov: Floats
    direct: Floats
    alone: Floats
    chain: Floats
    nic: Floats
    shared: Floats
    transmitted: Floats

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Cases:
        kind = [case.attachment for case in cases]
        flags = {
            "vhost": [k is Attachment.VHOST for k in kind],
            "sriov": [k is Attachment.SRIOV for k in kind],
            "direct": [k is Attachment.PORT for k in kind],
            "alone": [k is Attachment.NONE for k in kind],
            "chain": [case.arrangement is Arrangement.CHAIN for case in cases],
            "nic": [case.edge is Edge.NIC for case in cases],
            "shared": [case.shared_core for case in cases],
            "transmitted": [case.counted is Counted.TRANSMITTED for case in cases],
        }
        numbers = {name: [getattr(case, name) for case in cases] for name in NUMBERS}
        numbers["pmds"] = [case.pmds or 0 for case in cases]
        offered = [case.offered_fps for case in cases]
        numbers["offered_ns"] = [0.0 if fps is None else 1e9 / fps for fps in offered]
        return cls(**{k: np.array(v, dtype=float) for k, v in (numbers | flags).items()})


def demands(cases: Cases, value: Mapping[str, float]) -> dict[Resource, Floats]:
    """Return the time of each resource for one delivered frame, in ns.

    value: parameters by name. The time is NaN if a case needs an unknown parameter.
    """
    found = _switch(cases, value) | _function(cases, value) | _nic(cases, value)
    return {resource: np.where(used, time, 0.0) for resource, (used, time) in found.items()}


# For each resource: the cases that have it, and its time per delivered frame.
Found = dict[Resource, tuple[NDArray[np.bool_], Floats]]


def _switch(c: Cases, v: Mapping[str, float]) -> Found:
    """Return the time of the PMD cores.

    A pass takes a frame from a ring or queue, classifies it and puts it into another one.
    """
    size = c.frame_bytes
    end = v["burst_ns"] / BURST_FRAMES
    take = end + v["vhost_rx_ns"] + v["vhost_rx_byte_ns"] * size
    put = end + v["vhost_tx_ns"] + v["vhost_tx_byte_ns"] * size
    fanned = np.where(c.chain > 0, 1.0, np.maximum(c.functions, 1))
    share = np.where(c.chain > 0, 1.0, 1 / np.maximum(c.functions, 1))
    from_nic = np.where(c.alone > 0, v["port_ns"], end + put + end * (fanned - 1))
    hop = take + put
    between = np.where((c.chain > 0) & (c.functions > 1), hop, take) * share
    inner = np.where(c.chain > 0, c.functions - 1, 0.0)
    nic_work = np.where(c.alone > 0, v["port_ns"], from_nic + inner * hop + take)
    # All endpoints virtual: one pass without functions, functions + 1 in a chain, otherwise two.
    passes = np.where(c.alone > 0, 1.0, np.where(c.chain > 0, c.functions + 1, 2.0))
    virtual_work = passes * hop + end * (fanned - 1)
    work = np.where(c.nic > 0, nic_work, virtual_work)
    missed = classified(c)
    work = work + np.where(missed > 0, missed * v["classifier_ns"], 0.0)
    work = work + np.where(c.idle_ports > 0, c.idle_ports * v["poll_ns"] / BURST_FRAMES, 0.0)
    switched = (c.vhost + c.alone) > 0
    own = switched & (c.pmds == 0) & (c.nic > 0)
    return {
        Resource.NIC_PMD: (own, from_nic / c.ports),
        Resource.VHOST_PMD: (own & (c.vhost > 0), between),
        Resource.PMDS: (switched & ~own, work / np.maximum(c.pmds, 1)),
    }


def classified(c: Cases) -> Floats:
    """Return the passes of a delivered frame that miss the exact match cache.

    Each PMD thread has a cache. It finds a flow by a hash of the 5-tuple, which is equal at every
    hop of a chain, and keeps CACHE_WAYS flows of a hash. So only that many hops on a core hit. A
    core for each port, p2p and parallel functions have no more.
    """
    shared = (c.vhost > 0) & (c.chain > 0) & (c.pmds > 0)
    missed: Floats = np.maximum(c.functions + 1 - CACHE_WAYS * c.pmds, 0.0)
    return np.where(shared, missed, 0.0)


def _function(c: Cases, v: Mapping[str, float]) -> Found:
    """Return the time of the functions' cores, and of their queues to a NIC."""
    lines = np.ceil((c.frame_bytes - FCS_BYTES) / LINE_BYTES)
    each = np.where(c.chain > 0, 1.0, 1 / np.maximum(c.functions, 1)) / c.function_cores
    visited = np.where(c.alone > 0, 0.0, np.where(c.chain > 0, c.functions, 1.0))
    alone = (c.alone == 0) & (c.shared == 0)
    known = ~np.isnan(v["function_ns"]) | (c.vhost == 0)
    return {
        Resource.FUNCTION: (alone & known, v["function_ns"] * each),
        Resource.SHARED_CORE: (c.shared > 0, v["generator_ns"] + np.where(
            visited > 0, visited * v["function_ns"], 0.0)),
        Resource.QUEUE: (c.sriov > 0, (v["queue_ns"] + v["queue_line_ns"] * lines) * each),
    }  # fmt: skip


def _nic(c: Cases, v: Mapping[str, float]) -> Found:
    """Return the time of the NICs' links, packet engine, internal switch and PCIe.

    The NICs share the traffic.
    """
    bits = (c.frame_bytes + L1_OVERHEAD_BYTES) * 8
    link = bits / c.link_bps * 1e9 / c.ports
    # Frames that a link brings at full load occupy the engine even if it refuses them.
    left = 1 - v["refusal_share"] * v["engine_ns"] / (link * c.nics)
    crossings = np.where(c.chain > 0, c.functions, 1.0)
    hairpin = np.where(c.chain > 0, v["hairpin_ns"], 0.0)
    engine = crossings * (2 * v["engine_ns"] + hairpin) / left
    moved = crossings * (v["switch_ns"] + v["switch_byte_ns"] * c.frame_bytes)
    into, out = in_and_out(c.frame_bytes)
    slot = octets_per_ns(c.pcie_lanes, c.pcie_gts) * c.nics
    dma = np.where(c.sriov > 0, crossings, 1.0)
    on_nic = c.nic > 0
    switched = on_nic & ((c.vhost + c.alone) > 0)
    return {
        Resource.LINK: (on_nic & ~switched, link),
        Resource.OFFERED: (c.offered_ns > 0, c.offered_ns),
        Resource.TRANSMIT: (switched, link / v["transmit_share"]),
        Resource.ENGINE: (c.sriov > 0, engine / c.nics),
        Resource.SWITCH: ((c.sriov > 0) & (c.chain > 0), moved / c.nics),
        Resource.PCIE_IN: (on_nic, dma * into / slot),
        Resource.PCIE_OUT: (on_nic, dma * out / slot),
    }
