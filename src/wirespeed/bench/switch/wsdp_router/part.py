# SPDX-License-Identifier: Apache-2.0
"""Run this project's router between the ports of a switch: the function `router`, placed there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.interface import Setup
from wirespeed.bench.function.router import Router
from wirespeed.bench.interface import HopCount, Part
from wirespeed.bench.program.attachment import PortSettings, attach
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.veth.cables import namespace_of
from wirespeed.bench.switch.veth.polled import VethCount, veth_counts
from wirespeed.bench.topology.plugs import Interface, Plug
from wirespeed.bench.topology.wiring import SWITCH, Forward, Wiring, generator_mac
from wirespeed.model.result.hop_counts import DropCause

# Name of the process, of its kernel's namespace and of its tasks.
_NAME = "router"

ReadVeths = Callable[[], Mapping[str, VethCount]]


@dataclass(frozen=True, slots=True)
class SwitchCounts(TaskCounts):
    """Counters of the router's tasks as those of a switch."""

    veths: ReadVeths = field(default=dict, kw_only=True)
    """Reads the counters of ports that are kernel interfaces; nothing without any."""

    def read(self, stats: Mapping[str, Mapping[str, int]], missed: Mapping[str, int]) -> HopCount:
        """Return the hop's counts; see TaskCounts.

        Frames on a cable have entered the switch. The kernel drops there what its backlog or the
        router's socket has no room for.
        """
        veths = self.veths()
        seen = TaskCounts.read(self, stats, {} if veths else missed)
        entered, left, drops = dict(seen.entered), dict(seen.left), dict(seen.drops)
        full = drops.pop((self.name, DropCause.VNF_RX_RING_FULL), 0)
        drops[self.name, DropCause.RX_RING_FULL] = full
        for port, veth in veths.items():
            taken, place = entered.get(port, 0), f"{self.name}:{port}"
            entered[port], left[port] = veth.cable.entered, veth.cable.left
            drops[place, DropCause.BACKLOG_FULL] = veth.cable.backlogged
            drops[place, DropCause.SOCKET_FULL] = veth.cable.arrived - taken
        return replace(seen, entered=entered, left=left, drops=drops)


class SwitchRouter(Router):
    """The function `router` with the counts of a switch."""

    def __init__(self, veths: ReadVeths = dict) -> None:
        self._veths = veths

    def counts(self, setup: Setup) -> TaskCounts:
        found = super().counts(setup)
        return SwitchCounts(
            SWITCH, found.roles, found.discards, found.blocked_by, found.causes, found.settings,
            veths=self._veths,
        )  # fmt: skip


def interfaces(wiring: Wiring) -> Mapping[str, str]:
    """Return the router's kernel interface by port, where ports are such."""
    return {port: port for port in wiring.ports_of(SWITCH)}


def router_part(setup: SwitchSetup, plugs: Mapping[str, Plug]) -> Part:
    """Build the router with these attachments of its ports. Raises ValueError without a plan."""
    plan, frames = setup.plan, setup.frames
    if frames is None or plan.process is None:
        raise ValueError("a router of this project has frames to route and a planned process")
    queues, ring, mtu = plan.rx_queues.value, plan.descriptors.value, plan.mtu.value
    settings = PortSettings(queues, ring, mtu, driver=setup.wanted.driver)
    attached = {
        port: attach(plug, f"{SWITCH}{port}", number, "", settings)
        for number, (port, plug) in enumerate(plugs.items())
    }
    on_veth = any(isinstance(plug, Interface) and plug.namespace for plug in plugs.values())
    process = WsdpConfig(
        f"{_NAME}{setup.dirs.tag}",
        setup.control_cpus[0],
        plan.pmd_cpus.value,
        plan.process.value,
        tuple(each.port for each in attached.values() if each.port is not None),
        (),
        namespace=namespace_of(setup.dirs) if on_veth else None,
    )
    function = (
        SwitchRouter(veth_counts(setup, interfaces(setup.wiring))) if on_veth else SwitchRouter()
    )
    blocked = DropCause.BACKLOG_FULL if on_veth else DropCause.TG_RX_RING_FULL
    inner = Setup(
        _NAME, frames, _forwards(setup.wiring), attached, setup.wiring.entries,
        tuple(range(1, 1 + len(process.cpus))), blocked, setup.dirs.run, setup.wiring.streams,
    )  # fmt: skip
    return function.part(setup.host, setup.dirs, process, inner)


def _forwards(wiring: Wiring) -> tuple[Forward, ...]:
    """Return a direction of the router for each of the traffic, to the generator's other port."""
    ways = {stream.from_port: stream.to_port for stream in wiring.streams}
    return tuple(Forward(_NAME, a, b, generator_mac(b)) for a, b in ways.items())
