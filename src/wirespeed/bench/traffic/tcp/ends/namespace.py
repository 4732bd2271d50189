# SPDX-License-Identifier: Apache-2.0
"""Use a network namespace of the bench's host as a host of a TCP test."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import Network, VethEnd, VethPair, inside
from wirespeed.bench.topology.tcp import PATHS, Port, TcpCable
from wirespeed.bench.traffic.tcp.ends.interface import Place
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.interface import Process

OFFLOADS = ("tso", "gso", "gro")


class NamespaceEnd:
    """An End. Its programs run on the bench's host itself."""

    part = None

    def __init__(
        self, name: str, tcp: Tcp, host: Host, dirs: Directories, cpus: Sequence[int]
    ) -> None:
        self.name, self._tcp, self._network = name, tcp, Network(host, dirs.tag)
        self.place = Place(host, dirs, inside(self._network.host(name)), tuple(cpus))

    def plug_in(self, cable: TcpCable) -> None:
        pair = VethPair(*(self._veth(port) for port in cable.ends))
        self._network.connect(pair, self._tcp.mtu, self._tcp.queues)
        for end in pair.ends:
            self._network.set_offloads(end, *OFFLOADS, on=self._tcp.offloads)

    def set_up(self, port: Port, neighbours: Sequence[Port]) -> None:
        end = self._veth(port)
        self._network.introduce(end, [self._veth(other) for other in neighbours])
        if PATHS[self._tcp.path].switch and not self._tcp.offloads:
            # Without TSO of its own, Open vSwitch forwards packets whose checksum the kernel left
            # to a NIC.
            self._network.set_offloads(end, "tx", on=False)
        if self._tcp.wire_bps is not None:
            self._network.limit(end, self._tcp.wire_bps)

    @property
    def watched_cpus(self) -> frozenset[int]:
        return frozenset(self.place.cpus)

    def watched(self, programs: Sequence[Process]) -> tuple[int, ...]:
        return tuple(process.pid for process in programs)

    def _veth(self, port: Port) -> VethEnd:
        return VethEnd(self._network.namespace(port.host), port.name, port.mac, port.ip)
