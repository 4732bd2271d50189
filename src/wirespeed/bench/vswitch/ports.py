# SPDX-License-Identifier: Apache-2.0
"""Which kind of port stands for which end of a cable, on the vSwitch's side and on the other?

The generator's ports stand for physical ones: `type=dpdk`, so that they run through the same code
of Open vSwitch as a NIC's (netdev_dpdk_eth_tx and its XPS), with DPDK's vhost driver as the device.
Network functions are plugged in as a cloud does it: `type=dpdkvhostuserclient`, with the function
as the vhost-user server. docs/decisions/0001-ports-of-the-vswitch.md compares the alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from wirespeed.bench.topology.wiring import GENERATOR, VSWITCH, Cable, Wiring
from wirespeed.model.plan import VswitchPlan


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """A port of the vSwitch as ovs-vsctl is to make it.

    peer_serves: whether the program at the other end creates the socket (and the vSwitch
    connects), or the other way round.
    """

    name: str
    number: int
    kind: str
    options: Mapping[str, str]
    socket: str
    peer_serves: bool
    to_generator: bool


def switch_ports(
    wiring: Wiring, plan: VswitchPlan, run_dir: PurePosixPath
) -> tuple[SwitchPort, ...]:
    """The vSwitch's ports, numbered from 1 in cable order."""
    return tuple(
        _port(cable, number, plan, run_dir) for number, cable in enumerate(wiring.cables, start=1)
    )


def _port(cable: Cable, number: int, plan: VswitchPlan, run_dir: PurePosixPath) -> SwitchPort:
    far, near = (cable.a, cable.b) if cable.b.owner == VSWITCH else (cable.b, cable.a)
    socket = str(run_dir / f"{near.port}.sock")
    queues = plan.rx_queues.value
    if far.owner == GENERATOR:
        devargs = f"net_vhost{number},iface={socket},queues={queues}"
        options = {"dpdk-devargs": devargs, "n_rxq": str(queues)}
        return SwitchPort(near.port, number, "dpdk", options, socket, False, True)
    options = {"vhost-server-path": socket}
    return SwitchPort(near.port, number, "dpdkvhostuserclient", options, socket, True, False)


def virtio_user(
    index: int, socket: str, *, serves: bool, queues: int, queue_size: int, mac: str
) -> str:
    """The DPDK device string of the program at the other end of a vhost-user socket."""
    device = (
        f"net_virtio_user{index},path={socket},queues={queues},queue_size={queue_size},mac={mac}"
    )
    return f"{device},server=1" if serves else device


def add_ports_command(bridge: str, ports: Sequence[SwitchPort], mtu: int) -> list[str]:
    """The ovs-vsctl words that add all ports in one transaction: one reconfiguration, not many."""
    words: list[str] = []
    for port in ports:
        words += ["--", "add-port", bridge, port.name]
        words += ["--", "set", "Interface", port.name, f"type={port.kind}"]
        words += [f"ofport_request={port.number}", f"mtu_request={mtu}"]
        words += [f"options:{key}={_quoted(value)}" for key, value in port.options.items()]
    return words[1:]


def _quoted(value: str) -> str:
    """As an OVSDB string: a bare comma would end the value."""
    return f'"{value}"'
