# SPDX-License-Identifier: Apache-2.0
"""List the places of a point where faults can be injected, and what rules them out. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.assembly.kinds import function_of, switch_of, topology_of, wiring_of
from wirespeed.bench.topology.wiring import Flow
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames

_FORWARDER, _PROCESS = "wsdp", "process"


def ports_in(fault: str, frames: Frames) -> tuple[str, ...]:
    """Return the switch's ports at which frames arrive; none where it cannot have the fault."""
    return tuple(dict.fromkeys(flow.in_port for flow in _flows(fault, frames)))


def ports_out(fault: str, frames: Frames) -> tuple[str, ...]:
    """Return the switch's ports by which frames leave; none where it cannot have the fault."""
    return tuple(dict.fromkeys(flow.out_port for flow in _flows(fault, frames)))


def _flows(fault: str, frames: Frames) -> tuple[Flow, ...]:
    switch = switch_of(frames)
    found = switch is not None and fault in switch.injected_faults(frames.sut.vswitch)
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
