# SPDX-License-Identifier: Apache-2.0
"""Look up the types that a point names, and collect what they need from the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.function.bng.gateway import tables_bytes
from wirespeed.bench.function.interface import FunctionKind
from wirespeed.bench.placement import PLACEMENTS
from wirespeed.bench.placement.interface import PlacementKind
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import SwitchKind
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.bench.topology.addresses import mac_of
from wirespeed.bench.topology.interface import TopologyKind
from wirespeed.bench.topology.tcp import PATHS, guest_names, hosts
from wirespeed.bench.topology.wiring import EAST, PORTS, SIDES, End, Wiring
from wirespeed.model.plan.needs import (
    FunctionNeeds,
    Needs,
    PortNeeds,
    TcpGuestNeeds,
    TcpNeeds,
    VfNeeds,
)
from wirespeed.model.study.spec import Destinations, Frames, TcpStreams
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.study.tcp import Tcp


def topology_of(frames: Frames) -> TopologyKind:
    """Return the topology type. Raises BadInput for an unknown type."""
    return TOPOLOGIES[frames.topology.kind]


def function_of(frames: Frames) -> FunctionKind:
    """Return the type of the topology's functions. Raises BadInput for an unknown type."""
    return FUNCTIONS[topology_of(frames).function or frames.sut.vnf.kind]


def placements_of(frames: Frames) -> tuple[PlacementKind, ...]:
    """Return the placements that the plan may choose from for the topology's functions.

    Only the placement that the point names, if it names one. Raises BadInput for an unknown type.
    """
    if frames.sut.vnf.placement is not None:
        return (PLACEMENTS[frames.sut.vnf.placement],)
    function, topology = function_of(frames), topology_of(frames)
    return tuple(
        kind
        for kind in PLACEMENTS
        if kind.chosen_by_plan and not any(kind.faults(function, topology, frames))
    )


def switch_of(frames: Frames) -> SwitchKind | None:
    """Return the switch type; None where the topology has no switch. Raises BadInput if unknown."""
    return SWITCHES[frames.sut.vswitch.kind] if topology_of(frames).has_switch else None


def switch_polls(frames: Frames) -> bool | None:
    """Return whether threads of the switch poll its ports; None where there is no switch."""
    switch = switch_of(frames)
    return None if switch is None else switch.needs(frames).polls


def needs_of(frames: Frames) -> Needs:
    """Return what the bench of this point needs from its host."""
    topology, switch = topology_of(frames), switch_of(frames)
    demand = function_of(frames).demand(frames)
    placements = tuple(kind.needs for kind in placements_of(frames))
    functions = tuple(
        FunctionNeeds(
            name, placements, topology.function_is_sut, demand.workers, _ports(frames, name)
        )
        for name in topology.functions(frames)
    )
    return Needs(
        None if switch is None else switch.needs(frames),
        functions,
        topology.one_process,
        frames.sut.ports if topology.external or topology.virtual_functions(frames) else (),
        demand.held_frames if functions else 0,
        demand.tables_bytes + tables_bytes(frames),
        _flows(frames),
    )


def _flows(frames: Frames) -> int:
    """Return an upper bound on the flows of each direction."""
    if frames.bng is not None:
        return frames.bng.users
    routing = frames.routing
    if routing is not None and routing.destinations is Destinations.PREFIXES:
        return routing.prefixes(frames.traffic.ip_version)
    return frames.traffic.flows


def _ports(frames: Frames, function: str) -> tuple[PortNeeds, ...]:
    """Return the ports that need addresses; rings inside one process have none."""
    if topology_of(frames).one_process:
        return ()
    vfs = _virtual_functions(frames)
    return tuple(
        PortNeeds(side, mac_of(End(function, side)), vfs.get(f"{function}{side}")) for side in SIDES
    )


def _virtual_functions(frames: Frames) -> Mapping[str, VfNeeds]:
    """Return the VFs by port of the NIC's switch, where the point names physical functions."""
    if not frames.sut.ports:
        return {}
    physical, made = physical_functions(frames, {}), Counter[str]()
    found = {}
    for each in topology_of(frames).virtual_functions(frames):
        pf = physical[each.pf]
        found[each.port] = VfNeeds(pf, made[pf], each.settings.vlan)
        made[pf] += 1
    return found


def physical_functions(frames: Frames, ports: Mapping[str, str]) -> Mapping[str, str]:
    """Return the host's physical functions by port name.

    ports: ports of a testbed file; where it has none, the study's ports count.
    """
    if not ports:
        ports = dict(zip(PORTS, frames.sut.ports, strict=False))
    return {port: ports.get(port, ports[EAST]) for port in PORTS}


def tcp_needs_of(streams: TcpStreams) -> TcpNeeds:
    """Return what the bench of a point with TCP traffic needs from its host."""
    tcp, path = streams.tcp, PATHS[streams.tcp.path]
    if path.guests is None:
        return TcpNeeds(path.switch, path.forwarding)
    ports: dict[str, list[PortNeeds]] = {name: [] for name in guest_names(tcp)}
    for port in hosts(tcp).ports:
        if port.host in ports:
            ports[port.host].append(PortNeeds(port.name, port.mac))
    guests = tuple(TcpGuestNeeds(name, tuple(found)) for name, found in ports.items())
    return TcpNeeds(path.switch, path.forwarding, guests, path.guests)


def ring_frames(frames: Frames) -> int:
    """Return the depth of the path's shallowest queue, in frames of one direction; 0: unknown."""
    topology = topology_of(frames)
    if topology.external:
        return 0
    vswitch = frames.sut.vswitch
    rings = vswitch.descriptors * (1 if topology.one_process else vswitch.rx_queues)
    own = function_of(frames).demand(frames).shallowest_frames if topology.one_process else None
    return rings if own is None else min(rings, own)


def wiring_of(frames: Frames) -> Wiring:
    """Return how the topology of this point is wired."""
    wiring = topology_of(frames).wiring(frames, function_of(frames))
    switch = switch_of(frames)
    return wiring if switch is None else switch.cabled(frames.sut.vswitch, wiring)


def sut_of(frames: Frames) -> SutDescription:
    """Describe the SUT of this point and the directions in which frames pass it."""
    wiring = wiring_of(frames)
    ways = (wiring.path(stream) for stream in wiring.streams)
    paths = tuple(tuple(map(str, ends)) for ends in ways if ends)
    return replace(_of_frames(frames), paths=paths)


def tcp_sut_of(tcp: Tcp) -> SutDescription:
    """Describe the SUT of this point: what joins the hosts."""
    path = PATHS[tcp.path]
    if path.on_vfs:
        return _NIC
    return _CABLE if path.switch is None else SWITCHES[path.switch].description


def _of_frames(frames: Frames) -> SutDescription:
    switch = switch_of(frames)
    if switch is not None:
        return switch.description
    topology = topology_of(frames)
    if topology.external:
        return SutDescription(topology.name, topology.name, "the SUT's first ring")
    if topology.virtual_functions(frames):
        return _NIC
    return function_of(frames).description(frames)


_NIC = SutDescription("sriov", "the NIC's switch", "the first virtual function")
_CABLE = SutDescription("kernel", "the kernel", "the kernel's cable")
