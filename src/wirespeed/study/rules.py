# SPDX-License-Identifier: Apache-2.0
"""Find parameters of a point with frames that are valid alone but not together.

A value that would have no effect is an error, too: user input is never silently rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wirespeed.bench.assembly.kinds import function_of, placements_of, switch_of, topology_of
from wirespeed.bench.fault.inject import refusals
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.function.bng.gateway import NAME as GATEWAY
from wirespeed.bench.placement import PLACEMENTS
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import SwitchKind
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.measure.interface import BadSearch
from wirespeed.measure.presets import resolve
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.input.fault import Fault, show
from wirespeed.model.study.spec import Frames, Impair, Traffic, VnfMode, Vswitch
from wirespeed.model.units import FCS_BYTES, MAX_FRAME_BYTES, MIN_FRAME_BYTES, mtu_for
from wirespeed.study.rules_hosts import broken_host_rules
from wirespeed.study.rules_routing import broken_routing_rules


def broken_rules(frames: Frames) -> Iterator[Fault]:
    """Yield every rule that the point breaks."""
    checks = (_frame_size, _flows, _topology, _vnf, _vswitch, _search, _gateway,
              broken_routing_rules, broken_host_rules, refusals)  # fmt: skip
    for check in checks:
        yield from check(frames)


def _frame_size(frames: Frames) -> Iterator[Fault]:
    traffic = frames.traffic
    headers = 14 + 4 * traffic.encapsulation.tags + (20 if traffic.ip_version == 4 else 40) + 8
    smallest = max(MIN_FRAME_BYTES, headers + FCS_BYTES)
    for size in sorted(set(traffic.frame.sizes)):
        if not smallest <= size <= MAX_FRAME_BYTES:
            yield Fault(
                "traffic.frame", size,
                f"must be {smallest}..{MAX_FRAME_BYTES} octets, FCS included, for IPv"
                f"{traffic.ip_version} with {traffic.encapsulation.tags} VLAN tags",
            )  # fmt: skip
    mtu = frames.sut.vswitch.mtu
    largest = max(frames.wire_bytes)
    if mtu is not None and mtu_for(largest, traffic.encapsulation.tags) > mtu:
        needed = mtu_for(largest, traffic.encapsulation.tags)
        yield Fault("sut.vswitch.mtu", mtu, f"a frame of {largest} octets needs an MTU of {needed}")
    if traffic.ip_version == 5:
        yield Fault("traffic.ip_version", 5, "must be 4 or 6")


def _flows(frames: Frames) -> Iterator[Fault]:
    traffic = frames.traffic
    if traffic.flow_field is FlowField.VLAN and traffic.encapsulation is Encapsulation.NONE:
        yield Fault("traffic.flow_field", "vlan", 'needs traffic.encapsulation = "vlan" or "qinq"')
    limits = {FlowField.VLAN: 4094, FlowField.SRC_PORT: 65_535, FlowField.DST_PORT: 65_535}
    limit = limits.get(traffic.flow_field)
    if limit is not None and traffic.flows > limit:
        yield Fault(
            "traffic.flows", traffic.flows,
            f'must be at most {limit} with traffic.flow_field = "{traffic.flow_field}"; '
            "IP and MAC addresses have room for 1000000",
        )  # fmt: skip


def _topology(frames: Frames) -> Iterator[Fault]:
    """Yield settings that only other topologies take, and the kind's own errors."""
    kind = topology_of(frames)
    given: dict[str, Any] = {
        "topology.vnfs": frames.topology.vnfs != 1 and frames.topology.vnfs,
        "sut.ports": frames.sut.ports,
        "sut.impair": frames.sut.impair != Impair() and "(set)",
        "bng": frames.bng is not None and "(set)",
        "sriov": frames.sriov is not None and "(set)",
    }
    for key, value in given.items():
        if value and key not in kind.takes:
            takers = [other.name for other in TOPOLOGIES if key in other.takes]
            yield Fault(key, value, f"goes with topology.kind = {' or '.join(map(show, takers))}")
    yield from kind.faults(frames)


def _vnf(frames: Frames) -> Iterator[Fault]:
    """Yield the function's errors, and settings that need another placement."""
    topology, vnf = topology_of(frames), frames.sut.vnf
    if vnf.workers > 1 and FUNCTIONS[vnf.kind].demand(frames).workers == 1:
        has = " and ".join(kind.name for kind in FUNCTIONS if kind.demand(frames).workers > 1)
        yield Fault("sut.vnf.workers", vnf.workers, f"{vnf.kind} has no workers; {has} has")
    yield from FUNCTIONS[vnf.kind].faults(frames)
    placements = placements_of(frames) if topology.functions(frames) else ()
    if vnf.placement is not None:
        for placement in placements:
            yield from placement.faults(function_of(frames), topology, frames)
    in_guest = vnf.placement is not None and PLACEMENTS[vnf.placement].needs.in_guest
    if frames.guest is not None and not in_guest:
        yield Fault("guest", "(set)", 'goes with sut.vnf.placement = "guest"')
    switch = switch_of(frames)
    if in_guest and switch is not None and switch.needs(frames).guest_ports is None:
        allowed = "the switch has no ports for virtual machines as sut.vswitch asks for it"
        yield Fault("sut.vnf.placement", vnf.placement, allowed)
    apart = placements and not any(each.needs.shares_generator for each in placements)
    for key, value in () if apart else vnf.untuned:
        allowed = (
            'needs a process of its own: sut.vnf.placement = "process", or topology.kind = "host"'
        )
        yield Fault(key, value, allowed)


def _vswitch(frames: Frames) -> Iterator[Fault]:
    vswitch = frames.sut.vswitch
    if vswitch.descriptors & (vswitch.descriptors - 1):
        yield Fault("sut.vswitch.descriptors", vswitch.descriptors, "must be a power of two")
    cpus = vswitch.pmd_cpus
    if cpus is not None and (not cpus or len(set(cpus)) != len(cpus)):
        yield Fault("sut.vswitch.pmd_cpus", cpus, "must name at least one CPU, and each once")
    if (kind := switch_of(frames)) is not None:
        yield from kind.faults(vswitch, frames)
        yield from _keys_of_others(kind, vswitch)
    elif vswitch.driver is not Vswitch().driver:
        yield Fault("sut.vswitch.driver", str(vswitch.driver), "goes with a topology with a switch")


def _keys_of_others(kind: SwitchKind, vswitch: Vswitch) -> Iterator[Fault]:
    """Yield the tables of keys that another type of switch has."""
    for other in SWITCHES:
        factors = other.factors
        if other is kind or factors is None or not factors.in_tree:
            continue
        if next(factors.changed(vswitch), None) is not None:
            allowed = f'goes with sut.vswitch.kind = "{other.name}"'
            yield Fault(f"sut.vswitch.{factors.table}", "(set)", allowed)


def _search(frames: Frames) -> Iterator[Fault]:
    search = frames.search
    if search.max_load_fps is not None and search.max_load_fps <= search.min_load_fps:
        yield Fault(
            "search.max_load_fps", search.max_load_fps,
            f"must be above search.min_load_fps = {search.min_load_fps:g}",
        )  # fmt: skip
    if frames.traffic.link_bound:
        for key, load_fps in (("load_fps", search.load_fps), ("max_load_fps", search.max_load_fps)):
            if load_fps is not None and load_fps > frames.line_rate_fps:
                yield Fault(
                    f"search.{key}", load_fps,
                    f"the links of traffic.link_bps carry {frames.line_rate_fps:,.0f} frames/s; "
                    "traffic.link_bound holds loads to that",
                )  # fmt: skip
    try:
        resolve(search)
    except BadSearch as error:
        yield Fault("search.kind", str(search.kind), f"{error.what}. {error.next_step}")


# Keys of [traffic] that a gateway's tables decide.
_NOT_WITH_BNG = (
    "ip_version", "encapsulation", "vlan_id", "inner_vlan_id", "flows", "flow_field", "pcap",
)  # fmt: skip


def _gateway(frames: Frames) -> Iterator[Fault]:
    """Yield errors of settings that do not go with a gateway's frames, for any function."""
    bng, vnf, topology = frames.bng, frames.sut.vnf, topology_of(frames)
    if bng is None:
        return
    usual = Traffic()
    for key in _NOT_WITH_BNG:
        if getattr(frames.traffic, key) != getattr(usual, key):
            yield Fault(f"traffic.{key}", getattr(frames.traffic, key), "has no meaning with [bng]")
    if frames.topology.bidirectional:
        yield Fault(
            "topology.bidirectional", True, 'with [bng], set bng.direction = "both" instead'
        )
    functions = topology.functions(frames)
    if vnf.kind == GATEWAY and not functions:
        allowed = f'has no function that could be sut.vnf.kind = "{GATEWAY}"'
        yield Fault("topology.kind", topology.name, allowed)
    if vnf.kind != GATEWAY and functions and vnf.mode is not VnfMode.IO:
        allowed = 'must be "io" with [bng]: a gateway\'s frames carry their own addresses'
        yield Fault("sut.vnf.mode", str(vnf.mode), allowed)
    if max(frames.wire_bytes) > MAX_FRAME_BYTES:
        yield Fault(
            "traffic.frame", max(frames.traffic.frame.sizes),
            f"is {max(frames.wire_bytes)} octets in the network; at most {MAX_FRAME_BYTES}",
        )  # fmt: skip
    if bng.arp_share and round(1 / bng.arp_share) < 2:
        yield Fault("bng.arp_share", bng.arp_share, "must leave every second frame to data")
