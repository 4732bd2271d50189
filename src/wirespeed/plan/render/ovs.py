# SPDX-License-Identifier: Apache-2.0
"""Render Open vSwitch with DPDK as an idempotent script of ovs-vsctl calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.cpuset import format_mask
from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.model.plan.plan import HostPlan, NicPlan, Plan, VswitchPlan
from wirespeed.model.plan.policy import NicUse
from wirespeed.plan.render.interface import Files, fill


@dataclass(frozen=True, slots=True)
class BridgePort:
    """A DPDK port of a bridge, with its name in Open vSwitch."""

    name: str
    nic: NicPlan
    mtu: int


@dataclass(frozen=True, slots=True)
class Bridge:
    """Bridge of one physical network."""

    name: str
    physical_network: str
    ports: tuple[BridgePort, ...]
    bonds: tuple[tuple[str, tuple[BridgePort, ...]], ...]
    """Name and ports of each [[nic]] bond."""


class RenderedOvsDpdk:
    """A RenderedSwitch: Open vSwitch with DPDK."""

    name = "ovs-dpdk"
    summary = "Open vSwitch with DPDK"
    target = "ovs"
    others = ("kernel", "tuned", "libvirt", "openstack", "tripleo", "ansible")
    agent = "Open vSwitch agent"

    def render(self, plan: Plan) -> Files:
        return render(plan)


def render(plan: Plan) -> Files:
    """Return ovs/HOST.sh for every host with Open vSwitch."""
    return {
        f"ovs/{host.host}.sh": fill(
            "ovs.sh.j2", host=host, vswitch=host.vswitch, config=other_config(host.vswitch),
            bridges=bridges(plan, host),
        )
        for host in plan.hosts
        if host.vswitch and host.vswitch.deployed_kind == RenderedOvsDpdk.name
    }  # fmt: skip


def other_config(vswitch: VswitchPlan) -> list[tuple[str, str, str, bool]]:
    """Return keys, values and reasons.

    The flag is true for keys that ovs-vswitchd reads only when it starts.
    """
    memory = ",".join(map(str, vswitch.socket_memory_mib.value))
    config = [
        ("dpdk-lcore-mask", format_mask(vswitch.main_cpus.value), vswitch.main_cpus.because, True),
        ("dpdk-socket-mem", memory, vswitch.socket_memory_mib.because, True),
        ("dpdk-socket-limit", memory, "no more than planned, so that guests find theirs", True),
    ]
    if vswitch.memory_channels:
        channels = vswitch.memory_channels
        config.append(("dpdk-extra", f"-n {channels.value}", channels.because, True))
    if vswitch.memory_model is MemoryModel.OVS_PER_PORT:
        config.append(("per-port-memory", "true", "the memory model counts pools by port", True))
    config += [
        ("dpdk-init", "true", "after the keys it reads", True),
        ("pmd-cpu-mask", format_mask(vswitch.pmd_cpus.value), vswitch.pmd_cpus.because, False),
    ]
    return config


def bridges(plan: Plan, host: HostPlan) -> tuple[Bridge, ...]:
    """Return the host's bridges; DPDK ports are numbered in the order of the plan."""
    by_network: dict[str, list[BridgePort]] = {}
    number = 0
    for nic in host.nics:
        if nic.use is NicUse.DPDK:
            network = plan.network(nic.network)
            port = BridgePort(f"dpdk{number}", nic, network.mtu)
            by_network.setdefault(network.physical_network, []).append(port)
            number += 1
    return tuple(_bridge(name, ports) for name, ports in by_network.items())


def bridge_name(physical_network: str) -> str:
    """Return the name of a network's bridge, cut to the kernel's 15 characters."""
    return f"br-{physical_network}"[:15]


def _bridge(physical_network: str, ports: Iterable[BridgePort]) -> Bridge:
    alone: list[BridgePort] = []
    bonds: dict[str, list[BridgePort]] = {}
    for port in ports:
        if port.nic.bond:
            bonds.setdefault(port.nic.bond, []).append(port)
        else:
            alone.append(port)
    # A bond of one port is that port.
    alone += [members[0] for members in bonds.values() if len(members) == 1]
    real = tuple((name, tuple(found)) for name, found in bonds.items() if len(found) > 1)
    return Bridge(bridge_name(physical_network), physical_network, tuple(alone), real)
