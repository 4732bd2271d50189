# SPDX-License-Identifier: Apache-2.0
"""Make ports of a switch that polls kernel interfaces, and read both ends' counters.

What the other end gives to a cable has entered the switch. The kernel then drops frames in two
places: at the backlog of the CPU that carries them, and at the socket of the switch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wirespeed.bench.host.network import QUIET
from wirespeed.bench.interface import HopCount, UnstartedPart
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.veth.cables import make_cables, namespace_of, program_ends
from wirespeed.bench.switch.veth.counters import CableCount, cable_count, read_links, read_unread


class VethCables(UnstartedPart):
    """Cables as a component of a bench, made before the switch.

    interfaces: the switch's interface by port.
    """

    name = "veth ports"
    unwatched = (
        "the kernel carries frames to and from the switch's ports in softirqs: what stops or slows "
        "these is not seen"
    )

    def __init__(self, setup: SwitchSetup, interfaces: Mapping[str, str]) -> None:
        self._setup, self._interfaces = setup, dict(interfaces)

    def up(self) -> None:
        make_cables(self._setup, self._interfaces, {}, QUIET)

    def begin(self) -> None:
        """Do nothing: it counts nothing itself."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def down(self) -> None:
        """Remove the namespace, and with it everything else."""

    def describe(self) -> Mapping[str, object]:
        driver = str(self._setup.wanted.driver)
        return {"namespace": namespace_of(self._setup.dirs), "driver of the other ends": driver}


@dataclass(frozen=True, slots=True)
class VethCount:
    """Counters of one port."""

    cable: CableCount
    unread: int
    """Frames that its packet socket had no room for, as far as the kernel reports them."""


def veth_counts(
    setup: SwitchSetup, interfaces: Mapping[str, str]
) -> Callable[[], Mapping[str, VethCount]]:
    """Return a function that reads, by port, the counters of ports with cables of the bench.

    interfaces: the switch's interface by port.
    """
    far = program_ends(setup.wiring)
    ends = {port: (interface, far[port]) for port, interface in interfaces.items()}
    runner, namespace = setup.host.runner, namespace_of(setup.dirs)

    def read() -> Mapping[str, VethCount]:
        if not ends:
            return {}
        links, unread = read_links(runner, namespace), read_unread(runner, namespace)
        return {
            port: VethCount(cable_count(links[near], links[its]), unread.get(near, 0))
            for port, (near, its) in ends.items()
        }

    return read
