# SPDX-License-Identifier: Apache-2.0
"""Choose the virtual functions that a point uses on its hosts' NICs, and who polls each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from wirespeed.bench.assembly.kinds import topology_of
from wirespeed.bench.assembly.layout import Layout, Places, function_prefix
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.vf import give_vfs_to_dpdk
from wirespeed.bench.interface import Part
from wirespeed.bench.placement.interface import RunsInside
from wirespeed.bench.switch.nic.counters import Link
from wirespeed.bench.switch.nic.part import Home, NicPort, NicSwitch
from wirespeed.bench.topology.interface import VirtualFunction
from wirespeed.bench.topology.plugs import Device
from wirespeed.bench.topology.wiring import GENERATOR
from wirespeed.model.study.spec import Frames


def functions_on(frames: Frames, *, generator: bool, others: bool) -> tuple[VirtualFunction, ...]:
    """Return the virtual functions of a host that runs the generator, the functions, or both."""
    return tuple(
        each
        for each in topology_of(frames).virtual_functions(frames)
        if (generator if each.owner == GENERATOR else others)
    )


def virtual_functions(
    host: Host, wanted: Sequence[VirtualFunction], physical: Mapping[str, str], mtu: int
) -> Mapping[str, Device]:
    """Create and configure VFs; return the attachment at each port of the NIC's switch here."""
    found: dict[str, Device] = {}
    for pf in dict.fromkeys(physical.values()):
        here = [each for each in wanted if physical[each.pf] == pf]
        if here:
            settings = [each.settings for each in here]
            addresses = give_vfs_to_dpdk(host, pf, settings, mtu)
            found |= {e.port: Device(a) for e, a in zip(here, addresses, strict=True)}
    return found


def nic_switch(
    frames: Frames,
    places: Places,
    layout: Layout,
    generator: Host,
    sut: Host,
    *,
    apart: Sequence[Part],
) -> NicSwitch:
    """Build the NIC's switch as a component of the bench.

    apart: functions that run in processes of their own.
    """
    wanted = topology_of(frames).virtual_functions(frames)
    owners = {part.name: part for part in apart}
    ports = [_port(each, places, layout, generator, sut, owners=owners) for each in wanted]
    by_vlan: dict[int, list[str]] = {}
    for each in wanted:
        by_vlan.setdefault(each.settings.vlan, []).append(each.port)
    links: list[Link] = [(a, b) for a, b in by_vlan.values()]
    return NicSwitch(ports, links)


def _port(
    each: VirtualFunction,
    places: Places,
    layout: Layout,
    generator: Host,
    sut: Host,
    *,
    owners: Mapping[str, Part],
) -> NicPort:
    if any(port.name == each.port for port in layout.traffic.ports):
        host, place, prefix = generator, places.generator, layout.traffic.file_prefix
    else:
        host, place, prefix = sut, places.sut, function_prefix(each.owner, places.sut.dirs)
    plug = place.ports[each.port]
    if not isinstance(plug, Device):
        raise TypeError(f"{each.port} is no device: {plug}")
    home = partial(_home, owners.get(each.owner), Home(host.runner, place.dirs.run))
    return NicPort(each.port, host.runner, plug.devargs, home, prefix, each.settings.mac)


def _home(part: Part | None, outside: Home) -> Home:
    """Return where this component's program runs; None stands for the generator."""
    return Home(*part.inside) if isinstance(part, RunsInside) else outside
