# SPDX-License-Identifier: Apache-2.0
"""Which process runs which tasks on which ports, so that plan and wiring become real?

Pure: a Layout is what the parts of a bench are built from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.gateway import gateway_of
from wirespeed.bench.nf.functions import blocked_by, function, function_rings, function_tasks
from wirespeed.bench.nf.roles import Function
from wirespeed.bench.nf.testpmd import TestpmdConfig
from wirespeed.bench.plugs import Plug, Plugs
from wirespeed.bench.topology.wiring import GENERATOR, IMPAIR, PORTS, SIDES, End, Wiring
from wirespeed.bench.traffic.streams import Direction, directions, traffic_tasks
from wirespeed.bench.wsdp.config import WsdpConfig
from wirespeed.model.plan import GuestPlan, HostPlan
from wirespeed.model.spec import PointSpec, VnfKind


@dataclass(frozen=True, slots=True)
class WsdpLayout:
    """A wsdp process and the network functions that run in it."""

    config: WsdpConfig
    functions: tuple[Function, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """traffic: the generator's process. functions: processes of their own."""

    traffic: WsdpLayout
    directions: tuple[Direction, ...]
    functions: tuple[WsdpLayout | TestpmdConfig, ...]


def lay_out(
    spec: PointSpec, plan: HostPlan, wiring: Wiring, plugs: Plugs, dirs: Directories
) -> Layout:
    """Who runs what."""
    generator = plan.generator
    if generator is None:
        raise ValueError("the plan of a bench has a generator")
    inside = [name for name in wiring.vnfs if name in generator.shared]
    ends = [end for owner in (GENERATOR, *inside) for end in _ends(owner)]
    plugged = {end: plugs.plug(end, index) for index, end in enumerate(ends)}
    cpus, control = generator.cpus.value, generator.control_cpu.value
    gateway = gateway_of(spec, dirs)
    tasks = tuple(traffic_tasks(spec.traffic, wiring, plugged, len(cpus), gateway))
    for name in inside:
        lcore = _lcore(plan, name, cpus)
        tasks += function_tasks(spec, wiring, name, plugged, (lcore,), gateway=gateway)
    config = WsdpConfig(
        f"tg{dirs.tag}",
        control,
        cpus,
        generator.process.value,
        tuple(plug.port for plug in plugged.values() if plug.port is not None),
        tasks,
        (
            *(ring for plug in plugged.values() for ring in plug.rings),
            *(ring for name in inside for ring in function_rings(spec, wiring, name)),
        ),
    )
    traffic = WsdpLayout(config, tuple(_function(spec, wiring, name) for name in inside))
    ways = directions(wiring, plugged)
    outside = [guest for guest in plan.guests if guest.name not in generator.shared]
    functions: list[WsdpLayout | TestpmdConfig] = []
    for guest in outside:
        plugged = {end: plugs.plug(end, i) for i, end in enumerate(_ends(guest.name))}
        process = _process(guest, plugged, f"{guest.name}{dirs.tag}", control)
        if spec.sut.vnf.kind is VnfKind.TESTPMD:
            functions.append(_testpmd(spec, wiring, guest.name, process))
        else:
            lcores = tuple(range(1, 1 + len(process.cpus)))
            tasks = function_tasks(spec, wiring, guest.name, plugged, lcores, gateway=gateway)
            rings = function_rings(spec, wiring, guest.name)
            config = replace(process, tasks=tasks, rings=rings)
            functions.append(WsdpLayout(config, (_function(spec, wiring, guest.name),)))
    return Layout(traffic, ways, tuple(functions))


def _ends(owner: str) -> tuple[End, ...]:
    return tuple(End(owner, port) for port in (PORTS if owner == GENERATOR else SIDES))


def _lcore(plan: HostPlan, name: str, cpus: tuple[int, ...]) -> int:
    """The lcore of a function in the generator's process; the reference SUT is nobody's guest."""
    cpu = next((g.cpus.value[0] for g in plan.guests if g.name == name), cpus[0])
    return 1 + cpus.index(cpu)


def _function(spec: PointSpec, wiring: Wiring, name: str) -> Function:
    # Rings have no queues, and a gateway has one task for all of a port's.
    one_task = name == IMPAIR or spec.sut.vnf.kind is VnfKind.BNG
    queues = 1 if one_task else spec.sut.vswitch.rx_queues
    return function(wiring, name, queues, spec.sut.vnf.workers)


def _process(
    guest: GuestPlan, plugged: Mapping[End, Plug], prefix: str, control_cpu: int
) -> WsdpConfig:
    """A function's own process, as yet without tasks."""
    if guest.process is None:
        raise ValueError(f"the plan gives {guest.name} neither a process nor the generator's")
    ports = tuple(plug.port for plug in plugged.values() if plug.port is not None)
    floats_over = guest.floats_over.value if guest.floats_over is not None else ()
    return WsdpConfig(
        prefix, control_cpu, guest.cpus.value, guest.process.value, ports, (),
        floats_over=floats_over,
    )  # fmt: skip


def _testpmd(spec: PointSpec, wiring: Wiring, name: str, process: WsdpConfig) -> TestpmdConfig:
    targets = {f.to_port: f.dst_mac for f in wiring.forwards if f.vnf == name}
    return TestpmdConfig(
        name,
        process,
        spec.sut.vnf.mode,
        SIDES,
        tuple(targets.get(side) for side in SIDES),
        blocked_by(wiring, name),
    )
