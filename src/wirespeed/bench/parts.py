# SPDX-License-Identifier: Apache-2.0
"""Which parts make up the bench of a point, in the order in which they are brought up?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.gateway import gateway_of
from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import Part
from wirespeed.bench.layout import Layout, WsdpLayout, lay_out
from wirespeed.bench.nf.testpmd import TestpmdFunction
from wirespeed.bench.nf.wsdp_function import WsdpFunction
from wirespeed.bench.plugs import Plugs
from wirespeed.bench.process import await_true
from wirespeed.bench.topology import wiring
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.bench.traffic.generator import Generator
from wirespeed.bench.vswitch.ovs import OvsDpdk
from wirespeed.bench.vswitch.ports import SwitchPort, switch_ports
from wirespeed.bench.wsdp.program import Wsdp
from wirespeed.model.plan import HostPlan
from wirespeed.model.spec import PointSpec
from wirespeed.model.units import mtu_for

_ETHERNET_MTU = 1500
_READY_S = 60.0


@dataclass(frozen=True, slots=True)
class Assembly:
    """The parts are in the order in which they are brought up."""

    wiring: Wiring
    layout: Layout
    parts: Sequence[Part]
    generator: Generator


def assemble(spec: PointSpec, plan: HostPlan, state: HostState, dirs: Directories) -> Assembly:
    """Make the parts, and the files that they read; nothing is started."""
    wired = wiring(spec)
    switch: list[Part] = []
    ports: Sequence[SwitchPort] = ()
    if plan.vswitch is not None:
        ports = switch_ports(wired, plan.vswitch, dirs.run)
        switch = [OvsDpdk(state, dirs, plan.vswitch, wired, ports)]
    gateway = gateway_of(spec, dirs)
    if gateway is not None:
        gateway.write_tables(state.runner)
    one_lcore = plan.generator is not None and len(plan.generator.cpus.value) == 1
    plugs = Plugs(spec, wired, dirs, _mtu(spec, plan), ports, one_lcore=one_lcore)
    layout = lay_out(spec, plan, wired, plugs, dirs)
    functions: list[Part] = []
    for function in layout.functions:
        if isinstance(function, WsdpLayout):
            name = function.functions[0].name
            program = Wsdp(name, state, dirs, function.config)
            functions.append(WsdpFunction(program, function.functions))
        else:
            functions.append(TestpmdFunction(state, dirs, function))
    traffic = Wsdp("generator", state, dirs, layout.traffic.config)
    generator = Generator(traffic, layout.directions, layout.traffic.functions)
    return Assembly(wired, layout, [*switch, *functions, generator], generator)


def bring_up(parts: Sequence[Part], stack: ExitStack) -> None:
    """Start the parts in order; return once all of them can carry traffic.

    They are taken down in reverse when the stack unwinds. Raises BenchError when a part ends or is
    not ready in time.
    """
    for part in parts:
        stack.callback(part.down)
        part.up()
    await_true(
        lambda: not _waiting(parts),
        within_s=_READY_S,
        alive=lambda: first_ended(parts),
        otherwise=lambda: "the bench is not ready: " + "; ".join(_waiting(parts)),
    )


def _waiting(parts: Iterable[Part]) -> list[str]:
    found = [(part.name, part.waits_for()) for part in parts]
    return [f"{name} waits for {what}" for name, what in found if what is not None]


def first_ended(parts: Iterable[Part]) -> str | None:
    """How the first part that ended did so; None while all run."""
    return next((ended for part in parts if (ended := part.alive()) is not None), None)


def _mtu(spec: PointSpec, plan: HostPlan) -> int:
    if plan.vswitch is not None:
        return plan.vswitch.mtu.value
    return max(_ETHERNET_MTU, mtu_for(max(spec.wire_bytes)))
