# SPDX-License-Identifier: Apache-2.0
"""Map a port attachment to a DPDK device and to its name in a program's tasks. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.bench.program import device
from wirespeed.bench.program.config import RING_DEVICES, WsdpPort
from wirespeed.bench.topology.plugs import (
    Device,
    GuestNic,
    Interface,
    Plug,
    Rings,
    VhostUser,
    VirtioUser,
)
from wirespeed.model.study.spec import KernelDriver

# Receive descriptors of a generator that sends and receives on one lcore. It pauses as a whole, so
# no more frames arrive meanwhile than the SUT holds. Buffers rotate through all posted descriptors.
# Two ports with 4,096 each exceed 1 MiB of second-level cache, which costs p2p 5 to 10%.
_ONE_LCORE_POSTED = 1024


@dataclass(frozen=True, slots=True)
class PortSettings:
    """Settings of every port of one program."""

    queues: int
    descriptors: int
    mtu: int
    one_lcore: bool = False
    """True if the program sends and receives on a single lcore."""
    driver: KernelDriver = KernelDriver.AF_PACKET
    """Driver of ports that are kernel interfaces."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Name of a port attachment in a program's tasks, and the port that the program declares."""

    receive: tuple[str, ...]
    transmit: tuple[str, ...]
    port: WsdpPort | None = None
    feeds_sut: bool = True
    """True if a frame that its full transmit ring rejects is the SUT's loss: the ring is then the
    SUT's ingress queue. Otherwise the sender's NIC is at its limit.
    """
    namespace: str | None = None
    """Network namespace of the kernel interface behind it."""


def attach(plug: Plug, name: str, index: int, mac: str, settings: PortSettings) -> Attachment:
    """Attach to `plug` as the program's port of this name; index tells devices apart."""
    if isinstance(plug, Rings):
        return Attachment((f"ring:{plug.receive}",), (f"ring:{plug.transmit}",))
    devargs = _device(plug, index, mac, settings)
    is_ring = devargs.startswith(RING_DEVICES)
    posted = settings.descriptors
    if settings.one_lcore and is_ring:
        posted = min(posted, _ONE_LCORE_POSTED)
    socket = plug.socket if isinstance(plug, VirtioUser) else None
    serves = isinstance(plug, VirtioUser) and plug.serves
    port = WsdpPort(
        name=name,
        device=devargs,
        queues=settings.queues,
        descriptors=settings.descriptors,
        posted=posted,
        mtu=settings.mtu,
        connects_to=None if serves else socket,
        serves_at=socket if serves else None,
        # On rings to another program each sender has a queue of its own.
        peer_spreads=isinstance(plug, GuestNic) or devargs.startswith("net_"),
    )
    queues = tuple(f"{name}:{queue}" for queue in range(settings.queues))
    namespace = plug.namespace if isinstance(plug, Interface) else None
    return Attachment(queues, queues, port, is_ring, namespace)


def _device(plug: Plug, index: int, mac: str, settings: PortSettings) -> str:
    queues, ring = settings.queues, settings.descriptors
    match plug:
        case VirtioUser(socket, serves):
            server = {"server": 1} if serves else {}
            return device.virtio_user(
                index, socket, queues=queues, queue_size=ring, mac=mac, **server
            )
        case VhostUser(socket):
            return device.vhost(index, socket, queues=queues)
        case Interface(interface) if settings.driver is KernelDriver.AF_XDP:
            return device.af_xdp(index, interface, queue_count=queues)
        case Interface(interface):
            # Frames pass the interface's queueing discipline, as those of other programs do.
            return device.af_packet(index, interface, qpairs=queues, framecnt=ring, qdisc_bypass=0)
        case Device(devargs):
            return devargs
        case GuestNic(address):
            return address
        case Rings():
            raise ValueError("rings are no device")
