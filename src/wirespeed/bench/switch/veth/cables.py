# SPDX-License-Identifier: Apache-2.0
"""Make ports of a switch that are kernel interfaces.

Each is one end of a veth pair, whose other end a program of the bench uses. All are in one
namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.network import Network, VethEnd, VethPair, inside
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.topology.addresses import mac_of
from wirespeed.bench.topology.wiring import SWITCH, End, Wiring

_NAMESPACE = "switch"
# Drop what the forwarding CPU has no room for, as a NIC would. Without a queueing discipline, or
# when that is full, AF_PACKET keeps a frame that it cannot send and retries with the next one. It
# does the same when the socket has more octets in flight than the usual 200 KiB.
_QUEUE_FRAMES, _SOCKET_BYTES = 16_384, 64 << 20
# DPDK's AF_PACKET driver uses PID ^ interface number as the fan-out group of its sockets. Two
# groups of one namespace with the same number are an error. So interfaces of different programs
# differ in bits above those in which the PIDs of neighbouring processes differ.
_OWNER_SHIFT = 12


def namespace_of(dirs: Directories) -> str:
    """Return the name of the namespace that the bench makes for the ports."""
    return f"ws{dirs.tag}-{_NAMESPACE}"


def program_ends(wiring: Wiring) -> Mapping[str, str]:
    """Return the interface that the program at the other end of each port uses.

    A port to a virtual machine is a tap, whose other end is QEMU.
    """
    return {
        port: f"{port}-p"
        for port in wiring.ports_of(SWITCH)
        if wiring.peer(End(SWITCH, port)).owner not in wiring.machines
    }


def make_cables(
    setup: SwitchSetup, ports: Mapping[str, str], macs: Mapping[str, str], sysctls: Iterable[str]
) -> None:
    """Make the namespace with a veth pair for each of these ports.

    ports: the switch's interface by port, which may have another name. macs: addresses of ports
    that need a certain one.
    """
    setup.host.set_sysctl("net.core.wmem_default", str(_SOCKET_BYTES))
    network, namespace = Network(setup.host, setup.dirs.tag), namespace_of(setup.dirs)
    made = network.host(_NAMESPACE)
    assert made == namespace
    setup.host.runner.run([*inside(namespace), "sysctl", "-q", "-w", *sysctls])
    ends = program_ends(setup.wiring)
    owners: dict[str, int] = {}
    for number, (port, interface) in enumerate(ports.items()):
        peer = setup.wiring.peer(End(SWITCH, port))
        owner = owners.setdefault(peer.owner, len(owners) + 1)
        mac = macs.get(port, f"02:02:{number:02x}:00:00:00")
        own = VethEnd(namespace, interface, mac)
        index = owner << _OWNER_SHIFT | number + 1
        far = VethEnd(namespace, ends[port], mac_of(peer), index=index)
        network.connect(VethPair(far, own), setup.plan.mtu.value)
        setup.host.runner.run(
            ["tc", "-n", namespace, "qdisc", "replace", "dev", ends[port], "root", "pfifo",
             "limit", str(_QUEUE_FRAMES)])  # fmt: skip
