# SPDX-License-Identifier: Apache-2.0
"""Define the topology sriov: every port is a virtual function (VF); the NIC's switch joins them.

With one function, frames go north-south: in by one of its VFs, out by another. With several, they
also go east-west: from function to function through the NIC, which transfers them over PCIe twice
each time. Each link has its own VLAN, with only the VFs at its ends, so that misaddressed frames do
not arrive. The NIC strips the tag before a program sees the frame.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.host.vf_settings import VfSettings
from wirespeed.bench.topology.addresses import mac_of
from wirespeed.bench.topology.interface import Rewriting, TopologyKind, VirtualFunction
from wirespeed.bench.topology.switched import function_names, through_switch
from wirespeed.bench.topology.wiring import EAST, GENERATOR, SIDES, WEST, End, Wiring
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.host.lab import is_pci
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames, Sriov, VnfMode

_MOST_FUNCTIONS = 4
_LAST_VLAN = 4094


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    return through_switch(
        frames, function, visits=[range(frames.topology.vnfs)], on_nic=lambda _end: True
    )


def links(frames: Frames) -> tuple[tuple[End, End], ...]:
    """Return the two endpoints of each link, from east to west."""
    functions = function_names(frames.topology.vnfs)
    ends = [End(GENERATOR, EAST)]
    ends += [End(name, side) for name in functions for side in SIDES]
    ends.append(End(GENERATOR, WEST))
    return tuple(zip(ends[::2], ends[1::2], strict=True))


def _virtual_functions(frames: Frames) -> tuple[VirtualFunction, ...]:
    """Return the virtual functions of all links.

    The first half of the links uses the physical function in the east, the rest the other one. A
    function in the middle joins the two.
    """
    found = []
    joined = links(frames)
    for number, link in enumerate(joined):
        pf = EAST if number < (len(joined) + 1) // 2 else WEST
        for end in link:
            port = end.port if end.owner == GENERATOR else f"{end.owner}{end.port}"
            found.append(VirtualFunction(port, end.owner, pf, settings(frames, end, number)))
    return tuple(found)


def settings(frames: Frames, end: End, link: int) -> VfSettings:
    """Return the settings of the VF at this endpoint. link: its number, from east to west."""
    wanted = frames.sriov or Sriov()
    return VfSettings(
        mac_of(end), wanted.first_vlan + link, wanted.qos, wanted.spoofchk, wanted.trust,
        wanted.max_tx_rate_mbps,
    )  # fmt: skip


def _faults(frames: Frames) -> Iterator[Fault]:
    ports, vnfs = frames.sut.ports, frames.topology.vnfs
    if frames.hosts.generator is None:
        yield from physical_faults(frames, most=2)
    elif ports:
        yield Fault("sut.ports", ports, "not with [hosts]: the testbed file names the ports")
    yield from nic_faults(frames)
    if vnfs > _MOST_FUNCTIONS:
        yield Fault("topology.vnfs", vnfs, f"must be at most {_MOST_FUNCTIONS} with sriov")
    first = (frames.sriov or Sriov()).first_vlan
    if first + vnfs > _LAST_VLAN:
        allowed = f"must be at most {_LAST_VLAN - vnfs}: each of the {vnfs + 1} links has a VLAN"
        yield Fault("sriov.first_vlan", first, allowed)


def physical_faults(frames: Frames, most: int) -> Iterator[Fault]:
    """Check sut.ports, where these are physical functions."""
    ports = frames.sut.ports
    if not 1 <= len(ports) <= most or not all(map(is_pci, ports)):
        count = "one physical function, as a PCI address" if most == 1 else (
            "one or two physical functions, as PCI addresses"
        )  # fmt: skip
        yield Fault("sut.ports", ports, f"{frames.topology.kind} needs {count} (0000:3b:00.0)")
    elif len(set(ports)) != len(ports):
        yield Fault("sut.ports", ports, "names the same physical function twice")


def nic_faults(frames: Frames) -> Iterator[Fault]:
    """Yield what a NIC's switch does not pass: it knows a VF by one address and one VLAN."""
    traffic, kind = frames.traffic, frames.topology.kind
    if frames.sut.vnf.mode is not VnfMode.MAC:
        allowed = f'must be "mac" with {kind}: the NIC delivers by destination address'
        yield Fault("sut.vnf.mode", str(frames.sut.vnf.mode), allowed)
    if traffic.encapsulation is not Encapsulation.NONE:
        allowed = f'must be "none" with {kind}: the NIC itself tags the frames of each link'
        yield Fault("traffic.encapsulation", str(traffic.encapsulation), allowed)
    if traffic.flow_field in (FlowField.SRC_MAC, FlowField.DST_MAC):
        allowed = f"must not be an address with {kind}: a virtual function has just one"
        yield Fault("traffic.flow_field", str(traffic.flow_field), allowed)
    if traffic.pcap is not None:
        allowed = f"does not go with {kind}: its frames are sent to other addresses"
        yield Fault("traffic.pcap", traffic.pcap, allowed)


SRIOV = TopologyKind(
    "sriov", "through `vnfs` VNFs on virtual functions, joined by the NIC's own switch", _wiring,
    functions=lambda frames: function_names(frames.topology.vnfs),
    virtual_functions=_virtual_functions,
    takes=frozenset({"topology.vnfs", "sut.ports", "sriov"}), faults=_faults,
)  # fmt: skip
