# SPDX-License-Identifier: Apache-2.0
"""Place a function in a virtual machine: the same program, on the machine's resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from wirespeed.bench.function.bng.gateway import gateway_of
from wirespeed.bench.function.interface import FunctionKind, Setup
from wirespeed.bench.guest.overlay import GuestPort, Tap, Vf
from wirespeed.bench.guest.part import BOOT_S, Guest, GuestSetup
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.placement.interface import (
    READY_S,
    OnHost,
    Own,
    Placed,
    Seat,
    faults_of_namespace,
)
from wirespeed.bench.topology.interface import TopologyKind
from wirespeed.bench.topology.plugs import Device, GuestNic, Interface, Plug, VirtioUser
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import PlacementNeeds
from wirespeed.model.study.spec import Frames, Roles

# DPDK's virtio driver and QEMU's vhost-user allow more, which would give no new insight.
_MOST_VCPUS = 8
# First slot of the guest's root bus for virtual functions; libvirt leaves it free.
_FIRST_SLOT = 0x10


@dataclass(frozen=True, slots=True)
class GuestLaunch:
    """A function and its own guest."""

    function: FunctionKind
    setup: Setup
    own: Own

    @property
    def ready_s(self) -> float:
        return BOOT_S[self.own.on_host.guests.no_kvm is not None] + READY_S

    def part(self, host: Host, dirs: Directories) -> Part:
        on_host = self.own.on_host
        macs = {port.name: port.mac for port in on_host.plan.ports}
        plugs = enumerate(on_host.plugs.items(), _FIRST_SLOT)
        ports = {macs[side]: _port(plug, slot) for slot, (side, plug) in plugs}
        namespaces = (p.namespace for p in on_host.plugs.values() if isinstance(p, Interface))
        setup = GuestSetup(on_host.plan, on_host.guests, ports, next(namespaces, None))
        return Guest(host, dirs, setup, self._inside)

    def _inside(self, host: Host, dirs: Directories, nics: Mapping[str, str]) -> Part:
        """Build the function's component in the guest. nics: PCI addresses by MAC address."""
        process, setup = self.own.process, replace(self.setup, run_dir=dirs.run)
        ports = tuple(replace(port, device=nics[port.device]) for port in process.ports)
        gateway = gateway_of(setup.frames, dirs.run, setup.entries)
        if gateway is not None:
            gateway.prepare(host.runner)
        return self.function.part(host, dirs, replace(process, ports=ports), setup)


def _port(plug: Plug, slot: int) -> GuestPort:
    match plug:
        case VirtioUser(socket):
            return socket
        case Interface(name):
            return Tap(name)
        case Device(address):
            return Vf(address, slot)
    raise ValueError(f"a guest cannot be plugged into {plug}")


class InGuest:
    name = "guest"
    summary = "each VNF in a virtual machine of its own, started by libvirt from the plan's XML"
    chosen_by_plan = False
    needs = PlacementNeeds(name, shares_generator=False, in_guest=True)

    def faults(
        self, function: FunctionKind, topology: TopologyKind, frames: Frames
    ) -> Iterator[Fault]:
        yield from faults_of_namespace(self.name, function, frames)
        joined = topology.has_switch or topology.virtual_functions(frames)
        if not joined or not topology.functions(frames):
            kinds = "a switch and network functions: pvp, chain, parallel or sriov"
            yield self._fault(f'topology.kind = "{topology.name}"', kinds)
            return
        if frames.hosts != Roles():
            yield self._fault("[hosts]", "one host: guests are started on this one")
        for key, value in frames.sut.vnf.untuned:
            yield self._fault(f'{key} = "{value}"', "a process of the host to tune")
        queues = frames.sut.vswitch.rx_queues
        vcpus = _MOST_VCPUS if frames.guest is None else frames.guest.vcpus or _MOST_VCPUS
        if queues > vcpus:
            yield Fault(
                "sut.vswitch.rx_queues", queues,
                f"a guest has a queue for each vCPU at most: {vcpus}",
            )  # fmt: skip

    def _fault(self, what: str, needs: str) -> Fault:
        return Fault("sut.vnf.placement", self.name, f"with {what}: it needs {needs}")

    def seat(self, on_host: OnHost) -> Seat:
        vcpus = range(on_host.plan.vcpus)
        nics: dict[str, Plug] = {port.name: GuestNic(port.mac) for port in on_host.plan.ports}
        return Seat(0, tuple(vcpus[1:]) or (0,), nics)

    def place(self, function: FunctionKind, setup: Setup, own: Own | None) -> Placed:
        if own is None:
            raise ValueError(f"the plan gives {setup.name} no guest")
        return Placed(launch=GuestLaunch(function, setup, own))
