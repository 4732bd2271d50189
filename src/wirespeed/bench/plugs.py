# SPDX-License-Identifier: Apache-2.0
"""What does each end of a cable look like to the program that owns it: a device, or rings?

Pure. Where the vSwitch is at the other end, its side decides (vswitch/ports.py). A cable between
two programs of ours is a vhost-user pair whose server is the network function. In the wire topology
both ends are in one process, and a cable is a ring each way. `external` names its devices itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.topology.addresses import generator_mac, vnf_mac
from wirespeed.bench.topology.wiring import GENERATOR, PORTS, VSWITCH, End, Wiring
from wirespeed.bench.vswitch.ports import SwitchPort, virtio_user
from wirespeed.bench.wsdp.config import WsdpPort, WsdpRing
from wirespeed.model.spec import PointSpec, TopologyKind

_PCI = re.compile(r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$", re.IGNORECASE)
# What a generator that sends and receives on one lcore posts for receiving. It pauses as a whole:
# no more arrives meanwhile than the SUT holds. Buffers go round through all that are posted, and
# those of two ports with 4,096 each do not fit in 1 MiB of second-level cache: p2p loses 5 to 10%.
_ONE_LCORE_POSTED = 1024
# Devices whose transmit ring is the SUT's own ingress queue.
_RING_DEVICES = ("net_virtio_user", "virtio_user", "net_vhost", "net_memif", "net_ring")


@dataclass(frozen=True, slots=True)
class Plug:
    """How a program's tasks name this end, and what the program declares for it.

    feeds_sut: whether a frame that its full transmit ring refuses is the SUT's loss (the ring is
    the SUT's ingress queue) or the sender's (a NIC that sends no faster).
    """

    receive: tuple[str, ...]
    transmit: tuple[str, ...]
    port: WsdpPort | None = None
    rings: tuple[WsdpRing, ...] = ()
    feeds_sut: bool = True


class Plugs:
    """The plugs of one bench."""

    def __init__(
        self,
        spec: PointSpec,
        wiring: Wiring,
        dirs: Directories,
        mtu: int,
        switch: Sequence[SwitchPort] = (),
        *,
        one_lcore: bool = False,
    ) -> None:
        """one_lcore: whether the generator sends and receives on a single lcore."""
        self._one_lcore = one_lcore
        self._spec, self._wiring, self._dirs, self._mtu = spec, wiring, dirs, mtu
        self._ports = {port.name: port for port in switch}

    def plug(self, end: End, index: int) -> Plug:
        """The plug of this end; index tells the devices of one process apart."""
        if self._spec.topology.kind is TopologyKind.WIRE:
            return self._rings(end)
        device, connects_to = self._device(end, index)
        port = WsdpPort(
            name=end.port if end.owner == GENERATOR else f"{end.owner}{end.port}",
            device=device,
            queues=self._spec.sut.vswitch.rx_queues,
            descriptors=self._spec.sut.vswitch.descriptors,
            posted=self._posted(end, device),
            mtu=self._mtu,
            connects_to=connects_to,
        )
        queues = tuple(f"{port.name}:{q}" for q in range(port.queues))
        feeds_sut = device.startswith(_RING_DEVICES)
        return Plug(queues, queues, port, feeds_sut=feeds_sut)

    def _posted(self, end: End, device: str) -> int:
        descriptors = self._spec.sut.vswitch.descriptors
        if self._one_lcore and end.owner == GENERATOR and device.startswith(_RING_DEVICES):
            return min(descriptors, _ONE_LCORE_POSTED)
        return descriptors

    def _device(self, end: End, index: int) -> tuple[str, str | None]:
        """The DPDK device, and the socket it connects to (None: it makes it, or needs none)."""
        spec = self._spec
        if spec.topology.kind is TopologyKind.EXTERNAL:
            return spec.sut.ports[PORTS.index(end.port)], None
        peer = self._wiring.peer(end)
        if peer.owner != VSWITCH and end.owner != GENERATOR:
            queues = spec.sut.vswitch.rx_queues
            return f"net_vhost{index},iface={self._socket(peer)},queues={queues}", None
        port = self._ports.get(peer.port)
        path = self._socket(end) if port is None else port.socket
        serves = port is not None and port.peer_serves
        device = virtio_user(
            index,
            path,
            serves=serves,
            queues=spec.sut.vswitch.rx_queues,
            queue_size=spec.sut.vswitch.descriptors,
            mac=mac_of(end),
        )
        return device, None if serves else path

    def _socket(self, generator_end: End) -> str:
        return str(self._dirs.run / f"{generator_end.port}.sock")

    def _rings(self, end: End) -> Plug:
        """A ring for each direction; the generator declares those that carry a stream."""
        near = end if end.owner == GENERATOR else self._wiring.peer(end)
        out, back = f"{near.port}_out", f"{near.port}_in"
        if end.owner != GENERATOR:
            return Plug((f"ring:{out}",), (f"ring:{back}",))
        used = [out for s in self._wiring.streams if s.from_port == near.port]
        used += [back for s in self._wiring.streams if s.to_port == near.port]
        size = self._spec.sut.vswitch.descriptors
        rings = tuple(WsdpRing(name, size) for name in used)
        return Plug((f"ring:{back}",), (f"ring:{out}",), rings=rings)


def mac_of(end: End) -> str:
    """The address of a port of the generator or of a network function."""
    if end.owner == GENERATOR:
        return generator_mac(end.port)
    return vnf_mac(int(end.owner.removeprefix("vnf")), end.port)


def is_pci(device: str) -> bool:
    return _PCI.match(device) is not None
