# SPDX-License-Identifier: Apache-2.0
"""Build the components of a point's bench, in the order in which they start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from wirespeed.bench.assembly.kinds import switch_of, topology_of, wiring_of
from wirespeed.bench.assembly.layout import (
    Layout,
    Places,
    Site,
    control_plane_cpu,
    lay_out,
    program_plugs,
)
from wirespeed.bench.assembly.nic import nic_switch
from wirespeed.bench.function.bng.gateway import gateway_of
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.process import await_true
from wirespeed.bench.interface import Part
from wirespeed.bench.placement.interface import READY_S
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.bench.routing.part import LoadsRoutes
from wirespeed.bench.routing.table import table_of
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.topology.plugs import Interface, Plug
from wirespeed.bench.topology.wiring import GENERATOR, SWITCH, End, Wiring
from wirespeed.bench.traffic.frames.content import Content, UdpFrames
from wirespeed.bench.traffic.frames.generator import Generator
from wirespeed.bench.traffic.frames.prefixes import PrefixFrames
from wirespeed.model.frame import Encapsulation
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Destinations, Frames


@dataclass(frozen=True, slots=True)
class Assembly:
    """Components of a bench."""

    wiring: Wiring
    layout: Layout
    sut: Sequence[Part]
    """Components other than the generator, in start order; the generator starts last."""
    generator: Generator
    unread: Mapping[End, DropCause]
    """Endpoints whose kernel ring drops uncounted, by cause; see frame_accounting."""

    @property
    def parts(self) -> Sequence[Part]:
        """All components in start order."""
        return (*self.sut, self.generator)

    @property
    def ready_s(self) -> float:
        """Longest time that the components need to become ready, in s."""
        routes = (part.ready_s for part in self.sut if isinstance(part, LoadsRoutes))
        return max((READY_S, *(launch.ready_s for launch in self.layout.launches))) + sum(routes)


def assemble(frames: Frames, places: Places, generator: Host, sut: Host) -> Assembly:
    """Build the components and the files that they read; start nothing."""
    site, plan, dirs = site_of(frames, places), places.sut.plan, places.sut.dirs
    layout, switch = lay_out(site), switch_of(frames)
    parts: list[Part] = []
    if switch is not None and plan.vswitch is not None:
        tagged = frames.traffic.encapsulation is not Encapsulation.NONE
        setup = SwitchSetup(
            sut, dirs, plan.vswitch, site.wiring, frames.sut.vswitch,
            frames.traffic.vlan_id if tagged else None, places.uplinks, plan.partner,
            frames, (control_plane_cpu(frames, plan),),
        )  # fmt: skip
        parts += switch.parts(setup)
    site.content.prepare(generator.runner)
    for path, text in layout.files.items():
        generator.runner.write(path, text)
    if places.apart:
        content_of(frames, site.wiring, dirs).prepare(sut.runner)
    apart = [launch.part(sut, dirs) for launch in layout.launches]
    if topology_of(frames).virtual_functions(frames):
        parts.append(nic_switch(frames, places, layout, generator, sut, apart=apart))
    parts += apart
    program = Wsdp("generator", generator, places.generator.dirs, layout.traffic)
    return Assembly(
        site.wiring,
        layout,
        parts,
        Generator(program, layout.directions, layout.shared),
        _unread(site, plan.vswitch is not None),
    )


def _unread(site: Site, switched: bool) -> Mapping[End, DropCause]:
    found = {
        end: DropCause.TG_RX_RING_FULL if end.owner == GENERATOR else DropCause.VNF_RX_RING_FULL
        for end, plug in site.plugs.items()
        if isinstance(plug, Interface)
    }
    if switched:
        found |= {
            End(SWITCH, port): DropCause.RX_RING_FULL
            for port, plug in site.places.uplinks.items()
            if isinstance(plug, Interface)
        }
    return found


def site_of(frames: Frames, places: Places) -> Site:
    """Return what the point has on its hosts. Pure."""
    sut, switch = places.sut, switch_of(frames)
    wiring = replace(wiring_of(frames), machines=_machines(sut.plan))
    ports: Mapping[str, Plug] = sut.ports if topology_of(frames).virtual_functions(frames) else {}
    if switch is not None and sut.plan.vswitch is not None:
        wanted, decided = frames.sut.vswitch, sut.plan.vswitch
        ports = {**ports, **switch.plugs(wanted, wiring, decided, sut.dirs)}
    plugs = program_plugs(frames, wiring, ports, places)
    content = content_of(frames, wiring, places.generator.dirs)
    return Site(frames, places, wiring, plugs, content)


def _machines(plan: HostPlan) -> frozenset[str]:
    return frozenset(guest.name for guest in plan.guests if guest.vcpus)


def content_of(frames: Frames, wiring: Wiring, dirs: Directories) -> Content:
    """Return the content of this point's frames."""
    gateway = gateway_of(frames, dirs.run, wiring.entries)
    if gateway is not None:
        return gateway
    routing = frames.routing
    if routing is not None and routing.destinations is Destinations.PREFIXES:
        return PrefixFrames(frames.traffic, table_of(routing, wiring), wiring.streams, dirs.run)
    return UdpFrames(frames.traffic)


def bring_up(parts: Sequence[Part], stack: ExitStack, within_s: float = READY_S) -> None:
    """Start the components in order; return once all of them can carry traffic.

    They stop in reverse order when the stack unwinds. Raises BenchError when a component ends or is
    not ready in time.
    """
    for part in parts:
        stack.callback(part.down)
        part.up()
    await_ready(parts, within_s)


def await_ready(parts: Sequence[Part], within_s: float = READY_S) -> None:
    """Return once all components can carry traffic. Raises BenchError as bring_up does."""
    await_true(
        lambda: not _waiting(parts),
        within_s=within_s,
        alive=lambda: first_ended(parts),
        otherwise=lambda: "the bench is not ready: " + "; ".join(_waiting(parts)),
    )


def _waiting(parts: Iterable[Part]) -> list[str]:
    found = [(part.name, part.waits_for()) for part in parts]
    return [f"{name} waits for {what}" for name, what in found if what is not None]


def first_ended(parts: Iterable[Part]) -> str | None:
    """Return how the first component that ended did so; None while all run."""
    return next((ended for part in parts if (ended := part.alive()) is not None), None)
