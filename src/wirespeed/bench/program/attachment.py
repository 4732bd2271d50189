# SPDX-License-Identifier: Apache-2.0
"""How does a DPDK program of ours use a plug: as which device, and under which name in its tasks?

Pure.
"""

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
from wirespeed.model.spec import KernelDriver

# What a generator that sends and receives on one lcore posts for receiving. It pauses as a whole:
# no more arrives meanwhile than the SUT holds. Buffers go round through all that are posted, and
# those of two ports with 4,096 each do not fit in 1 MiB of second-level cache: p2p loses 5 to 10%.
_ONE_LCORE_POSTED = 1024


@dataclass(frozen=True, slots=True)
class PortSettings:
    """Of every port of one program. one_lcore: it sends and receives on a single lcore. driver: of
    those that are interfaces of the kernel."""

    queues: int
    descriptors: int
    mtu: int
    one_lcore: bool = False
    driver: KernelDriver = KernelDriver.AF_PACKET


@dataclass(frozen=True, slots=True)
class Attachment:
    """How a program's tasks name a plug, and what the program declares for it.

    feeds_sut: whether a frame that its full transmit ring refuses is the SUT's loss (the ring is
    the SUT's ingress queue) or the sender's (a NIC that sends no faster). namespace: of the kernel
    interface behind it.
    """

    receive: tuple[str, ...]
    transmit: tuple[str, ...]
    port: WsdpPort | None = None
    feeds_sut: bool = True
    namespace: str | None = None


def attach(plug: Plug, name: str, index: int, mac: str, settings: PortSettings) -> Attachment:
    """The attachment of a plug as the program's port of this name; index tells devices apart."""
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
        # Rings to another program: each of its senders has a queue of its own.
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
            # Through the interface's queueing discipline, as other programs send.
            return device.af_packet(index, interface, qpairs=queues, framecnt=ring, qdisc_bypass=0)
        case Device(devargs):
            return devargs
        case GuestNic(address):
            return address
        case Rings():
            raise ValueError("rings are no device")
