# SPDX-License-Identifier: Apache-2.0
"""Choose the type of Open vSwitch port for each endpoint of a cable.

The generator's ports stand for physical ones. They are `type=dpdk` with DPDK's vhost driver, so
that they take the same code path as a NIC (netdev_dpdk_eth_tx and its XPS). Network functions
attach as in a cloud: `type=dpdkvhostuserclient`, with the function as vhost-user server.
docs/decisions/0001-ports-of-the-vswitch.md compares the alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType

from wirespeed.bench.program import device
from wirespeed.bench.switch.interface import KernelPorts
from wirespeed.bench.topology.bonded import bond_of
from wirespeed.bench.topology.plugs import Device, Interface, Plug, VirtioUser
from wirespeed.bench.topology.wiring import GENERATOR, PARTNER, SWITCH, Cable, Wiring
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.study.ovs import OvsPorts
from wirespeed.remote.socket_paths import check_socket_path


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """A port of the vSwitch for ovs-vsctl to make."""

    name: str
    number: int
    kind: str
    options: Mapping[str, str]
    socket: str
    peer_serves: bool
    """True if the program at the other end creates the socket and the vSwitch connects."""
    to_generator: bool
    members: tuple[SwitchPort, ...] = ()
    """Links of a bond."""
    spreads: bool = False
    """True if it spreads flows over its transmit queues, as a NIC would over the receiver's."""
    interface: str | None = None
    """Kernel interface behind it, where the bench made a cable for it."""

    @property
    def links(self) -> tuple[SwitchPort, ...]:
        """Ports that frames enter and leave by: the port itself, or the links of a bond."""
        return self.members or (self,)

    @property
    def polled(self) -> bool:
        """Return whether PMD threads poll it; the main thread serves a plain kernel interface."""
        return self.kind != _SYSTEM


def program_ports(
    wiring: Wiring,
    plan: VswitchPlan,
    run_dir: PurePosixPath,
    uplinks: Mapping[str, Plug] = MappingProxyType({}),
    wanted: OvsPorts = OvsPorts.VHOST_USER,
) -> tuple[SwitchPort, ...]:
    """Return the ports to programs of the bench, numbered from 1 in cable order.

    uplinks: see SwitchSetup. wanted: type of the ports.
    """
    cables = (c for c in wiring.cables if SWITCH in (c.a.owner, c.b.owner))
    if wanted.on_veth:
        ring = plan.descriptors.value
        return tuple(_veth_port(cable, n, wanted, ring) for n, cable in enumerate(cables, 1))
    return tuple(
        _port(cable, number, plan, run_dir, uplinks) for number, cable in enumerate(cables, start=1)
    )


def _port(
    cable: Cable,
    number: int,
    plan: VswitchPlan,
    run_dir: PurePosixPath,
    uplinks: Mapping[str, Plug],
) -> SwitchPort:
    far, near = (cable.a, cable.b) if cable.b.owner == SWITCH else (cable.b, cable.a)
    socket = str(run_dir / f"{near.port}.sock")
    queues = plan.rx_queues.value
    match uplinks.get(near.port):
        case Interface(interface):
            return replace(_polled_port(near.port, interface, number, queues), to_generator=True)
        case Device(devargs):
            return replace(_dpdk(near.port, number, devargs, queues), to_generator=True)
    if far.owner == PARTNER:
        links = _links(near.port, number, run_dir)
        members = tuple(_vhost(name, n, path, queues) for name, n, path in links)
        options = {"peer": f"{near.port}-in"}
        return SwitchPort(near.port, number, "patch", options, "", False, True, members)
    if far.owner == GENERATOR:
        return _vhost(near.port, number, socket, queues)
    check_socket_path(f"port {near.port} of Open vSwitch", socket)
    options = {"vhost-server-path": socket}
    return SwitchPort(near.port, number, "dpdkvhostuserclient", options, socket, True, False)


def veth_interfaces(ports: Sequence[SwitchPort]) -> Mapping[str, str]:
    """Return the kernel interface of each port for which the bench made a cable."""
    return {port.name: port.interface for port in ports if port.interface is not None}


def _veth_port(cable: Cable, number: int, wanted: OvsPorts, ring: int) -> SwitchPort:
    """Return a port that is one end of a veth pair.

    A port of a DPDK driver is no kernel interface itself and needs another name.
    """
    name = cable.b.port
    if wanted is OvsPorts.AF_PACKET:
        interface = f"{name}-s"
        made = _polled_port(name, interface, number, queues=1, framecnt=ring)
    else:
        kind = "afxdp" if wanted is OvsPorts.AF_XDP else _SYSTEM
        made, interface = SwitchPort(name, number, kind, {}, "", False, False), name
    return replace(made, interface=interface, to_generator=cable.a.owner == GENERATOR)


def _vhost(name: str, number: int, socket: str, queues: int) -> SwitchPort:
    """Return a port that stands for a NIC port."""
    devargs = device.vhost(number, socket, queues=queues)
    return replace(_dpdk(name, number, devargs, queues), socket=socket, to_generator=True)


def _dpdk(name: str, number: int, devargs: str, queues: int) -> SwitchPort:
    """Return a port that Open vSwitch makes from a device string."""
    probed = device.probed(f"port {name} of Open vSwitch", devargs)
    options = {"dpdk-devargs": probed, "n_rxq": str(queues)}
    return SwitchPort(name, number, "dpdk", options, "", False, False)


# Open vSwitch's type of a kernel interface whose frames its main thread reads.
_SYSTEM = "system"
# Above the number of any other port of the switch.
_FIRST_LINK, _FIRST_INNER = 100, 50
_LINKS = 2


def _links(port: str, number: int, run_dir: PurePosixPath) -> list[tuple[str, int, str]]:
    """Return name, number and socket of each link of a bond."""
    return [
        (f"{port}{i}", _FIRST_LINK + _LINKS * number + i, str(run_dir / f"{port}{i}.sock"))
        for i in range(_LINKS)
    ]


def inner_patch(port: SwitchPort) -> SwitchPort:
    """Return the patch port from the bridge of a bond to the port's own bridge."""
    number = _FIRST_INNER + port.number
    return SwitchPort(f"{port.name}-in", number, "patch", {"peer": port.name}, "", False, False)


def partner_ports(
    wiring: Wiring, plan: VswitchPlan, run_dir: PurePosixPath
) -> tuple[SwitchPort, ...]:
    """Return the ports of the bonds' partner: in turn a port to the generator, and the bond."""
    queues = plan.rx_queues.value
    found: list[SwitchPort] = []
    for number, port in enumerate(wiring.ports_of(SWITCH), start=1):
        if bond_of(port) not in wiring.ports_of(PARTNER):
            continue
        found.append(_vhost(port, number, str(run_dir / f"{port}.sock"), queues))
        members = tuple(
            _virtio_user(name, n, path, queues, plan.descriptors.value)
            for name, n, path in _links(port, number, run_dir)
        )
        found.append(SwitchPort(bond_of(port), number, "bond", {}, "", False, False, members))
    return tuple(found)


def _virtio_user(name: str, number: int, socket: str, queues: int, ring: int) -> SwitchPort:
    devargs = device.virtio_user(number, socket, queues=queues, queue_size=ring)
    return replace(_dpdk(name, number, devargs, queues), socket=socket, spreads=queues > 1)


def peer_plug(port: SwitchPort) -> VirtioUser:
    """Return the attachment of the program at the other end of a port."""
    return VirtioUser(port.socket, port.peer_serves)


def kernel_ports(ports: KernelPorts, first: int = 1) -> tuple[SwitchPort, ...]:
    """Return the ports that are interfaces of a namespace, numbered in their order."""
    make = _polled_port if ports.polled else _kernel_port
    return tuple(
        make(name, interface, number, ports.queues)
        for number, (name, interface) in enumerate(ports.interfaces.items(), start=first)
    )


def _kernel_port(name: str, _interface: str, number: int, _queues: int) -> SwitchPort:
    return SwitchPort(name, number, _SYSTEM, {}, "", False, False)


def _polled_port(name: str, interface: str, number: int, queues: int, **options: int) -> SwitchPort:
    """Return a port of DPDK's AF_PACKET driver; its queues are sockets of one fan-out group."""
    devargs = device.af_packet(number, interface, qpairs=queues, **options)
    return _dpdk(name, number, devargs, queues)


def add_ports_command(
    bridge: str,
    ports: Sequence[SwitchPort],
    mtu: int,
    pinned: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Return the ovs-vsctl arguments that add all ports in one transaction.

    One transaction causes one reconfiguration. pinned: pmd-rxq-affinity by port.
    """
    words: list[str] = []
    for port in ports:
        words += ["--", "add-port", bridge, port.name]
        words += ["--", *set_interface(port, mtu, pinned)]
    return words[1:]


def set_interface(port: SwitchPort, mtu: int, pinned: Mapping[str, str]) -> list[str]:
    """Return the arguments that configure a port's interface."""
    words = ["set", "Interface", port.name, f"type={port.kind}", f"ofport_request={port.number}"]
    if port.kind != "patch":
        words.append(f"mtu_request={mtu}")
    words += [f"options:{key}={_quoted(value)}" for key, value in port.options.items()]
    if port.spreads:
        words.append("other_config:tx-steering=hash")
    if port.name in pinned:
        words.append(f"other_config:pmd-rxq-affinity={_quoted(pinned[port.name])}")
    return words


def _quoted(value: str) -> str:
    """Quote an OVSDB string: a bare comma would end the value."""
    return f'"{value}"'
