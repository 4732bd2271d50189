# SPDX-License-Identifier: Apache-2.0
"""Make a router of Open vSwitch by OpenFlow rules. Pure.

Each route is one rule. It matches the router's MAC address and the prefix, decrements the TTL and
sets the next hop's addresses (ovs-actions(7): dec_ttl, set_field).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.bench.switch.ovs_dpdk.flows import ROUTED, table
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.routes import not_routable
from wirespeed.bench.topology.wiring import Wiring, generator_mac
from wirespeed.model.frame import FlowField
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.ovs import Ovs
from wirespeed.model.study.spec import Workload

_KEY = "sut.vswitch.ovs.routes"


def faults(ovs: Ovs, workload: Workload) -> Iterator[Fault]:
    """Yield what cannot be routed so."""
    if (frames := workload.frames) is None:
        yield Fault(_KEY, True, "needs frames: leave out [tcp]")
        return
    if frames.topology.kind != "p2p":
        yield Fault(_KEY, True, 'needs topology.kind = "p2p": it routes once')
    if ovs.bridges > 1:
        yield Fault(_KEY, True, "needs sut.vswitch.ovs.bridges = 1")
    if frames.traffic.flow_field is FlowField.DST_MAC:
        yield Fault("traffic.flow_field", "dst_mac", "a router has one MAC address; choose src_mac")
    yield from not_routable(frames, "Open vSwitch as a router")


def rules(wiring: Wiring, ports: Sequence[SwitchPort]) -> str:
    """Return the rules, as `ovs-ofctl add-flows` reads them."""
    number = {port.name: port.number for port in ports}
    lines = [
        f"priority={ROUTED},in_port={number[stream.from_port]},dl_dst={stream.dst_mac},"
        f"{_to(route.prefix)},actions=dec_ttl,set_field:{_own_mac(number[route.out_port])}->eth_src,"
        f"set_field:{generator_mac(route.out_port)}->eth_dst,output:{number[route.out_port]}"
        for stream in wiring.streams
        for route in wiring.routes
        if route.out_port == stream.to_port
    ]
    return table(lines, number.values())


def _own_mac(port: int) -> str:
    """Return the router's address at a port: locally administered and unique."""
    return f"02:fd:00:00:00:{port:02x}"


def _to(prefix: str) -> str:
    return f"ipv6,ipv6_dst={prefix}" if ":" in prefix else f"ip,nw_dst={prefix}"
