# SPDX-License-Identifier: Apache-2.0
"""Collect Open vSwitch's ports, flows, mempools and the sizes of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.ovs import Ask, ovs_sources
from wirespeed.kpi.interface import (
    NS,
    NUMBER,
    OCTETS,
    PACKETS,
    Missing,
    Name,
    Source,
    counter,
    gauge,
)
from wirespeed.remote.interface import Runner
from wirespeed.sources import dpctl
from wirespeed.sources.errors import Refused

_SHOW, _MEMORY, _UPCALL = "dpctl/show -s", "memory/show", "upcall/show"
_POOLS = "netdev-dpdk/get-mempool-info"
_PORT = "switch interface direction"
# Counter of dpctl/show, and its key.
_KEYS = {
    "packets": "port_packets", "bytes": "port_bytes", "errors": "port_error_packets",
    "dropped": "port_dropped_packets",
}  # fmt: skip


class OvsPortCollector:
    name = "ovs-ports"
    cheap = False
    metrics = (
        counter("port_packets", PACKETS, _PORT, "Packets of a port", _SHOW,
                term="Network interface packets, counted",
                alias="ovs_interface_{direction}_packets"),
        counter("port_bytes", OCTETS, _PORT, "Octets of a port", _SHOW,
                term="Network interface octets, counted", alias="ovs_interface_{direction}_bytes"),
        counter("port_error_packets", PACKETS, _PORT, "Packets with errors", _SHOW,
                term="Network interface errors, counted",
                alias="ovs_interface_{direction}_errors"),
        counter("port_dropped_packets", PACKETS, _PORT, "Packets that a port dropped", _SHOW,
                term="Network interface drops, counted",
                alias="ovs_interface_{direction}_dropped"),
        counter("datapath_lookups", PACKETS, "switch result",
                "Lookups in the datapath, of all datapaths", _SHOW),
        gauge("upcall_flows", NUMBER, "switch", "Datapath flows", _UPCALL),
        gauge("upcall_flow_limit", NUMBER, "switch", "Most datapath flows at present", _UPCALL),
        gauge("upcall_dump_seconds", NS, "switch", "Duration of the last dump of flows", _UPCALL),
        gauge("switch_objects", NUMBER, "switch type", "Objects in Open vSwitch's memory",
              _MEMORY),
        gauge("mempool_size", NUMBER, "program mempool", "Buffers of a mempool", _POOLS),
        gauge("mempool_free", NUMBER, "program mempool", "Free buffers of a mempool", _POOLS),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return ovs_sources(self.name, runner, read)


def read(switch: str, ask: Ask) -> Mapping[Name, int]:
    """Return the series of one daemon. A daemon without DPDK has no mempools."""
    found: dict[Name, int] = {}
    shown = ask("dpctl/show", "-s")
    for port, counts in dpctl.ports(shown).items():
        for (direction, printed), count in counts.items():
            if printed in _KEYS:
                found[_KEYS[printed], (switch, port, direction)] = count
    for result, count in zip(("hit", "missed", "lost"), dpctl.lookups(shown), strict=True):
        found["datapath_lookups", (switch, result)] = count
    state = dpctl.upcall_state(ask(_UPCALL))
    for printed, key in (("flows", "upcall_flows"), ("limit", "upcall_flow_limit")):
        if printed in state:
            found[key, (switch,)] = state[printed]
    if "dump_ms" in state:
        found["upcall_dump_seconds", (switch,)] = state["dump_ms"] * 1_000_000
    for kind, count in dpctl.memory_use(ask(_MEMORY)).items():
        found["switch_objects", (switch, kind)] = count
    for pool, sizes in _pools(ask).items():
        found["mempool_size", (f"ovs {switch}", pool)] = sizes["size"]
        found["mempool_free", (f"ovs {switch}", pool)] = sizes["free"]
    return found


def _pools(ask: Ask) -> Mapping[str, Mapping[str, int]]:
    try:
        return dpctl.mempools(ask(_POOLS))
    except Refused:
        return {}
