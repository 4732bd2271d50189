# SPDX-License-Identifier: Apache-2.0
"""Use a QEMU guest as a host of a TCP test.

Its programs run in the guest and are controlled by the guest's own runner. Their noise is observed
on the bench's host, where the vCPUs are threads of QEMU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.bench.guest.overlay import Tap
from wirespeed.bench.guest.part import Guest, GuestSetup
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import Network
from wirespeed.bench.topology.tcp import Port, TcpCable
from wirespeed.bench.traffic.tcp.ends.guest_port import set_up_port
from wirespeed.bench.traffic.tcp.ends.interface import Place
from wirespeed.bench.traffic.tcp.ends.no_function import NoFunction
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.interface import Process


class GuestEnd:
    """An End. The setup has its NIC's attachment."""

    def __init__(self, tcp: Tcp, host: Host, dirs: Directories, setup: GuestSetup) -> None:
        self.name, self._tcp, self._setup = setup.plan.name, tcp, setup
        self._network = Network(host, dirs.tag)
        self._place: Place | None = None
        self.part = Guest(host, dirs, setup, self._booted)

    def _booted(self, host: Host, dirs: Directories, _nics: Mapping[str, str]) -> NoFunction:
        self._place = Place(host, dirs, (), tuple(range(self._setup.plan.vcpus)))
        return NoFunction()

    @property
    def place(self) -> Place:
        if self._place is None:
            raise ValueError(f"guest {self.name} has not booted")
        return self._place

    def plug_in(self, cable: TcpCable) -> None:
        """Make a tap; a vhost-user socket is made by QEMU, and the switch connects."""
        if isinstance(self._setup.ports[cable.a.mac], Tap):
            namespace = self._network.namespace(cable.b.host)
            self._network.tap(namespace, cable.b.name, self._tcp.mtu, self._tcp.queues)

    def set_up(self, port: Port, neighbours: Sequence[Port]) -> None:
        set_up_port(self.place.host.runner, port, neighbours, self._tcp)

    @property
    def watched_cpus(self) -> frozenset[int]:
        return frozenset(self._setup.plan.cpus.value)

    def watched(self, _programs: Sequence[Process]) -> tuple[int, ...]:
        return (self.part.pid,)
