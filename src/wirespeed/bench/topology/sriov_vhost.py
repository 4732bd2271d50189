# SPDX-License-Identifier: Apache-2.0
"""Define the topology sriov-vhost: functions between a NIC's virtual function and the vSwitch.

A cloud attaches a function so when its outer side needs a NIC's rate and its inner side needs
neighbours. The first link, from the generator to the function, passes the NIC's switch in its own
VLAN. All other links pass the vSwitch.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.topology.interface import Rewriting, TopologyKind, VirtualFunction
from wirespeed.bench.topology.sriov import links, nic_faults, physical_faults, settings
from wirespeed.bench.topology.switched import function_names, through_switch
from wirespeed.bench.topology.wiring import EAST, GENERATOR, Wiring
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames, Roles, Vswitch


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    on_nic = frozenset(links(frames)[0])
    visits = [range(frames.topology.vnfs)]
    return through_switch(frames, function, visits, on_nic.__contains__)


def _virtual_functions(frames: Frames) -> tuple[VirtualFunction, ...]:
    outside, inside = links(frames)[0]
    port = f"{inside.owner}{inside.port}"
    return (
        VirtualFunction(outside.port, GENERATOR, EAST, settings(frames, outside, 0)),
        VirtualFunction(port, inside.owner, EAST, settings(frames, inside, 0)),
    )


def _faults(frames: Frames) -> Iterator[Fault]:
    yield from physical_faults(frames, most=1)
    yield from nic_faults(frames)
    if frames.hosts != Roles():
        yield Fault("hosts", "(set)", "does not go with sriov-vhost: both switches are on one host")
    usual = Vswitch().kind
    if frames.sut.vswitch.kind != usual:
        allowed = f'must be "{usual}" with sriov-vhost'
        yield Fault("sut.vswitch.kind", frames.sut.vswitch.kind, allowed)


SRIOV_VHOST = TopologyKind(
    "sriov-vhost", "through `vnfs` VNFs: the first is entered by a virtual function, the rest is "
    "the switch's", _wiring,
    functions=lambda frames: function_names(frames.topology.vnfs), has_switch=True,
    virtual_functions=_virtual_functions,
    takes=frozenset({"topology.vnfs", "sut.ports", "sriov"}), faults=_faults,
)  # fmt: skip
