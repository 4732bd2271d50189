# SPDX-License-Identifier: Apache-2.0
"""Assign tasks and ports to processes, for the components of a bench.

Pure: a Layout is the input from which the components are built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wirespeed.bench.assembly.kinds import function_of, topology_of
from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.interface import Setup
from wirespeed.bench.guest.interface import Guests
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.placement import PLACEMENTS
from wirespeed.bench.placement.interface import Launch, OnHost, Own, Placed
from wirespeed.bench.program.attachment import Attachment, PortSettings, attach
from wirespeed.bench.program.config import WsdpConfig, WsdpRing
from wirespeed.bench.topology.addresses import mac_of
from wirespeed.bench.topology.plugs import Device, Plug, Rings, VhostUser, VirtioUser
from wirespeed.bench.topology.wiring import (
    GENERATOR,
    NIC,
    PARTNER,
    PORTS,
    SIDES,
    SWITCH,
    End,
    Wiring,
)
from wirespeed.bench.traffic.frames.content import Content
from wirespeed.bench.traffic.frames.streams import Direction, directions, traffic_tasks
from wirespeed.model.plan.plan import GeneratorPlan, GuestPlan, HostPlan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames
from wirespeed.model.units import mtu_for

_ETHERNET_MTU = 1500
_SWITCHES = frozenset({SWITCH, NIC, PARTNER})


@dataclass(frozen=True, slots=True)
class Layout:
    """Processes of a bench and what each of them runs."""

    traffic: WsdpConfig
    """The generator's process."""
    directions: tuple[Direction, ...]
    shared: tuple[TaskCounts, ...]
    """Readers for the counters of functions that run in the generator's process."""
    files: Mapping[str, str]
    """Content of files that those tasks read, by path."""
    launches: tuple[Launch, ...]
    """Functions that run in processes of their own."""


@dataclass(frozen=True, slots=True)
class Place:
    """One host of a point: its plan and its directories."""

    plan: HostPlan
    dirs: Directories
    ports: Mapping[str, Plug] = field(default_factory=dict)
    """Attachments of another host's ports, or VFs of ports of a NIC's switch, by port name."""


@dataclass(frozen=True, slots=True)
class Places:
    """Hosts of a point."""

    generator: Place
    """Host of the generator."""
    sut: Place
    """Host of switch and functions; may be the generator's host."""
    guests: Guests | None = None
    """Images that virtual machines boot from; None where the point has none."""

    @property
    def apart(self) -> bool:
        return self.generator is not self.sut

    @property
    def uplinks(self) -> Mapping[str, Plug]:
        """Return the SUT's endpoints of cables from another host."""
        return self.sut.ports if self.apart else {}


def on_one_host(plan: HostPlan, dirs: Directories) -> Places:
    """Put generator and SUT on one host."""
    place = Place(plan, dirs)
    return Places(place, place)


@dataclass(frozen=True, slots=True)
class Site:
    """Components of a point on its hosts."""

    frames: Frames
    places: Places
    wiring: Wiring
    plugs: Mapping[End, Plug]
    """Port attachment of every cable endpoint that belongs to a program."""
    content: Content

    @property
    def generator(self) -> GeneratorPlan:
        if self.places.generator.plan.generator is None:
            raise ValueError("the plan of a bench has a generator")
        return self.places.generator.plan.generator


def program_plugs(
    frames: Frames, wiring: Wiring, switch: Mapping[str, Plug], places: Places
) -> Mapping[End, Plug]:
    """Return the port attachment at every endpoint that belongs to a program.

    switch: attachments that the switches' ports require.
    """
    topology, dirs = topology_of(frames), places.sut.dirs
    if topology.external:
        ports = zip(PORTS, frames.sut.ports, strict=True)
        return {End(GENERATOR, port): Device(devargs) for port, devargs in ports}
    found: dict[End, Plug] = {}
    for cable in wiring.cables:
        near, far = cable.a, cable.b
        if near.owner in _SWITCHES:
            continue  # a cable between switches has no program
        socket = str(dirs.run / f"{near.owner}-{near.port}.sock")
        if places.apart and near.owner == GENERATOR:
            found[near] = places.generator.ports[near.port]
            if far.owner not in _SWITCHES:
                found[far] = places.uplinks[near.port]
        elif far.owner in _SWITCHES:
            found[near] = switch[far.port]
        elif topology.one_process:
            out, back = f"{near.port}_out", f"{near.port}_in"
            found |= {near: Rings(back, out), far: Rings(out, back)}
        else:
            found |= {near: VirtioUser(socket), far: VhostUser(socket)}
    return found


def lay_out(site: Site) -> Layout:
    """Assign the tasks of a point to processes."""
    generator, guests = site.generator, site.places.sut.plan.guests
    cpus = generator.cpus.value
    inside = [guest for guest in guests if guest.name in generator.shared]
    owners = (GENERATOR, *(guest.name for guest in inside))
    attached = _attached(site, {end: site.plugs[end] for o in owners for end in _ends(o)})
    placed = [_place_inside(site, guest, attached) for guest in inside]
    placed += [_place_apart(site, guest) for guest in guests if guest not in inside]
    tasks = traffic_tasks(site.frames.traffic, site.wiring, attached, len(cpus), site.content)
    config = WsdpConfig(
        f"tg{site.places.generator.dirs.tag}",
        generator.control_cpu.value,
        cpus,
        generator.process.value,
        tuple(each.port for each in attached.values() if each.port is not None),
        (*tasks, *(task for each in placed for task in each.tasks)),
        (*_rings_between(site), *(ring for each in placed for ring in each.rings)),
        namespace=_namespace(attached),
    )
    return Layout(
        config,
        directions(site.wiring, attached),
        tuple(counts for each in placed for counts in each.counts),
        {path: text for each in placed for path, text in each.files.items()},
        tuple(each.launch for each in placed if each.launch is not None),
    )


def _place_inside(site: Site, guest: GuestPlan, attached: Mapping[End, Attachment]) -> Placed:
    """Place a function in the generator's process, on one of its lcores."""
    lcore = 1 + site.generator.cpus.value.index(guest.cpus.value[0])
    setup = _setup(site, guest.name, attached, (lcore,))
    return PLACEMENTS[guest.placement].place(function_of(site.frames), setup, None)


def _place_apart(site: Site, guest: GuestPlan) -> Placed:
    if guest.process is None:
        raise ValueError(f"the plan gives {guest.name} neither a process nor the generator's")
    place, kind = site.places.sut, PLACEMENTS[guest.placement]
    plugs = {side: site.plugs[End(guest.name, side)] for side in SIDES}
    on_host = OnHost(guest, control_plane_cpu(site.frames, place.plan), plugs, site.places.guests)
    seat = kind.seat(on_host)
    seated = {End(guest.name, side): plug for side, plug in seat.plugs.items()}
    attached = _attached(site, seated)
    process = WsdpConfig(
        function_prefix(guest.name, place.dirs),
        seat.control_cpu,
        seat.cpus,
        guest.process.value,
        tuple(each.port for each in attached.values() if each.port is not None),
        (),
        floats_over=seat.floats_over,
        namespace=_namespace(attached),
    )
    lcores = tuple(range(1, 1 + len(process.cpus)))
    setup = _setup(site, guest.name, attached, lcores)
    return kind.place(function_of(site.frames), setup, Own(process, on_host))


def _setup(
    site: Site, name: str, attached: Mapping[End, Attachment], lcores: tuple[int, ...]
) -> Setup:
    forwards = tuple(f for f in site.wiring.forwards if f.vnf == name)
    peers = {site.wiring.peer(End(name, f.to_port)).owner for f in forwards}
    # A full output ring blames the peer: the switch if it leads there, else the generator.
    blocked = DropCause.VNF_TX_RING_FULL if peers & _SWITCHES else DropCause.TG_RX_RING_FULL
    return Setup(
        name,
        site.frames,
        forwards,
        {side: attached[End(name, side)] for side in SIDES},
        site.wiring.entries,
        lcores,
        blocked,
        site.places.sut.dirs.run,
        site.wiring.streams,
    )


def _attached(site: Site, plugs: Mapping[End, Plug]) -> dict[End, Attachment]:
    """Return the attachments of one process, in the order of its ports."""
    vswitch = site.frames.sut.vswitch
    found = {}
    for index, (end, plug) in enumerate(plugs.items()):
        own = end.owner == GENERATOR
        settings = PortSettings(
            vswitch.rx_queues, vswitch.descriptors, _mtu(site),
            one_lcore=own and len(site.generator.cpus.value) == 1, driver=vswitch.driver,
        )  # fmt: skip
        name = end.port if own else f"{end.owner}{end.port}"
        mac = "" if isinstance(plug, Rings) else mac_of(end)
        found[end] = attach(plug, name, index, mac, settings)
    return found


def _rings_between(site: Site) -> Iterator[WsdpRing]:
    """Yield the rings that carry a stream, where programs are joined by rings."""
    size = site.frames.sut.vswitch.descriptors
    for port in PORTS:
        plug = site.plugs.get(End(GENERATOR, port))
        if isinstance(plug, Rings):
            yield from (WsdpRing(plug.transmit, size) for s in site.wiring.streams
                        if s.from_port == port)  # fmt: skip
            yield from (WsdpRing(plug.receive, size) for s in site.wiring.streams
                        if s.to_port == port)  # fmt: skip


def _namespace(attached: Mapping[End, Attachment]) -> str | None:
    """Return the network namespace of the process; all its kernel interfaces share it."""
    return next((each.namespace for each in attached.values() if each.namespace), None)


def _mtu(site: Site) -> int:
    return port_mtu(site.frames, site.places.sut.plan)


def function_prefix(name: str, dirs: Directories) -> str:
    """Return the --file-prefix by which DPDK separates a function's process from others."""
    return f"{name}{dirs.tag}"


def control_cpu(plan: HostPlan) -> int:
    """Return the CPU for threads of this host's programs that only answer queries."""
    decided = plan.control_cpu if plan.generator is None else plan.generator.control_cpu
    if decided is None:
        raise ValueError(f"the plan of {plan.host} has no CPU for control threads")
    return decided.value


def control_plane_cpu(frames: Frames, plan: HostPlan) -> int:
    """Return the CPU for routing daemons, and for the threads of a router that follow the kernel.

    Where the CPU for control threads polls for the generator, it is the router's: what the control
    plane takes is then the SUT's own (docs/decisions/0021-control-plane-on-the-routers-cpu.md).
    """
    control = control_cpu(plan)
    generating = () if plan.generator is None else plan.generator.cpus.value
    if frames.routing is None or control not in generating:
        return control
    if plan.guests:
        return plan.guests[0].cpus.value[0]
    return control if plan.vswitch is None else plan.vswitch.pmd_cpus.value[0]


def port_mtu(frames: Frames, sut: HostPlan) -> int:
    """Return the MTU of every port that frames of this point pass."""
    if sut.vswitch is not None:
        return sut.vswitch.mtu.value
    return max(_ETHERNET_MTU, mtu_for(max(frames.wire_bytes)))


def _ends(owner: str) -> tuple[End, ...]:
    return tuple(End(owner, port) for port in (PORTS if owner == GENERATOR else SIDES))
