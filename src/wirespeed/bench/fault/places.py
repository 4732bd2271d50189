# SPDX-License-Identifier: Apache-2.0
"""Where in a point can faults be caused, and what of a point rules them out? Pure."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.assembly.kinds import function_of, switch_of, topology_of, wiring_of
from wirespeed.bench.topology.wiring import Flow
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames

_OVS, _FORWARDER, _PROCESS = "ovs-dpdk", "wsdp", "process"


def ports_in(frames: Frames) -> tuple[str, ...]:
    """Return the ports of Open vSwitch at which frames arrive, in path order."""
    return tuple(dict.fromkeys(flow.in_port for flow in _flows(frames)))


def ports_out(frames: Frames) -> tuple[str, ...]:
    """Return the ports of Open vSwitch by which frames leave, in path order."""
    return tuple(dict.fromkeys(flow.out_port for flow in _flows(frames)))


def _flows(frames: Frames) -> tuple[Flow, ...]:
    """Return the flows of Open vSwitch's own ports; the kernel polices and drops on its own."""
    switch, kernel = switch_of(frames), frames.sut.vswitch.ovs.ports.on_veth
    found = switch is not None and switch.name == _OVS and not kernel
    return wiring_of(frames).flows if found else ()


def functions(frames: Frames) -> tuple[str, ...]:
    """Return the network functions behind a switch that our own forwarder can run as processes."""
    if switch_of(frames) is None or function_of(frames).name != _FORWARDER:
        return ()
    return topology_of(frames).functions(frames)


def not_a_process(name: str, frames: Frames) -> Iterator[Fault]:
    """Reject a function inside the generator's process: the fault would hit the generator, too."""
    placement = frames.sut.vnf.placement
    if placement not in (None, _PROCESS):
        allowed = f'needs sut.vnf.placement = "{_PROCESS}", not "{placement}"'
        yield Fault("fault.kind", name, allowed)
