# SPDX-License-Identifier: Apache-2.0
"""Assign CPUs, memory, ports and devices to each placed guest on its host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.model.plan.plan import Decision, GuestDevice, GuestNode, GuestPlan, PortPlan
from wirespeed.model.plan.policy import EmulatorPolicy, InterfaceKind
from wirespeed.model.plan.workload import Vnf, VnfPort
from wirespeed.plan.deployment.requested import Requested
from wirespeed.plan.host.partition import HostDraft
from wirespeed.plan.placement.host import Fit

CpuList = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlacedGuest:
    """A guest and its place on a host."""

    vnf: Vnf
    name: str
    place: Fit
    mac_number: int
    """Number of its first port among all ports."""


class GuestBuilder:
    """Builds the guests of one host in turn and assigns its devices in order."""

    def __init__(self, requested: Requested, draft: HostDraft) -> None:
        self._requested = requested
        self._draft = draft
        self._given = [0] * len(draft.pools)

    def taken_from(self, parent: str) -> int:
        """Return the number of a parent's devices (a PF's VFs) assigned to guests."""
        return sum(
            given
            for pool, given in zip(self._draft.pools, self._given, strict=True)
            if pool.shape.address == parent
        )

    def build(self, guest: PlacedGuest) -> GuestPlan:
        vnf = guest.vnf
        request = self._requested.requests[vnf.name]
        devices = [self._take(served) for served in guest.place.devices]
        names = [wanted.name for wanted in request.devices]
        by_name = dict(zip(names, devices, strict=True))
        nodes = self._nodes(guest)
        pinned = tuple(sorted(cpu for node in nodes for _, cpu in node.pins))
        shared = self._draft.cores.plan.shared.value
        floats = not request.has_topology or any(node.floating for node in nodes)
        return GuestPlan(
            name=guest.name,
            cpus=Decision(pinned or shared, self._cpu_reason(vnf, nodes, floats)),
            flavor=vnf.name,
            vcpus=vnf.vcpus,
            memory_mib=vnf.memory_mib,
            nodes=nodes,
            emulator_cpus=self._emulator(guest, pinned, shared),
            ports=tuple(
                self._port(port, guest, number, by_name) for number, port in enumerate(vnf.ports)
            ),
            devices=tuple(
                GuestDevice(device.alias, address)
                for device in vnf.devices
                for address in by_name[device.alias]
            ),
        )

    def _nodes(self, guest: PlacedGuest) -> tuple[GuestNode, ...]:
        request = self._requested.requests[guest.vnf.name]
        cells = self._draft.place.shape.cells
        return tuple(
            GuestNode(
                node=cells[found.cell].id,
                pins=tuple(zip(need.pinned, found.pins, strict=True)),
                floating=need.floating,
                memory_mib=need.memory_mib,
                page_kib=found.page_kib,
            )
            for need, found in zip(request.cells, guest.place.cells, strict=False)
        )

    def _cpu_reason(self, vnf: Vnf, nodes: Sequence[GuestNode], floats: bool) -> str:
        if not nodes:
            return "no NUMA topology requested: Nova lets it float over cpu_shared_set"
        where = ", ".join(str(node.node) for node in nodes)
        policy = f" {vnf.thread_policy}" if vnf.thread_policy else ""
        also = "; its other vCPUs float over cpu_shared_set" if floats else ""
        return f"{vnf.cpu_policy or 'shared'}{policy} on NUMA node {where}, in Nova's order{also}"

    def _emulator(self, guest: PlacedGuest, pinned: CpuList, shared: CpuList) -> Decision[CpuList]:
        if guest.vnf.emulator_policy is EmulatorPolicy.ISOLATE:
            mask = guest.place.cells[0].reserved
            cpus = tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)
            return Decision(cpus, "a dedicated CPU of their own (isolate, S3)")
        if pinned:
            return Decision(shared, "cpu_shared_set, off the pinned CPUs (share)")
        return Decision(shared, "they float with the guest")

    def _port(
        self, port: VnfPort, guest: PlacedGuest, number: int, devices: dict[str, tuple[str, ...]]
    ) -> PortPlan:
        kind = self._requested.kinds[guest.vnf.name][port.name]
        device = None
        if kind.value.takes_vf:
            address = devices[port.name][0]
            device = Decision(address, "the first free VF near the guest's NUMA node")
        mac = guest.mac_number + number
        return PortPlan(
            name=port.name,
            network=port.network,
            kind=kind,
            queues=_queues(port, guest.vnf, kind.value),
            mac=f"fa:16:3e:{mac >> 16 & 255:02x}:{mac >> 8 & 255:02x}:{mac & 255:02x}",
            port_security=port.port_security,
            device=device,
        )

    def _take(self, served: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """Return the addresses of the next devices of each pool; future VFs are PF/vfN."""
        addresses = []
        for index, amount in served:
            pool = self._draft.pools[index]
            for _ in range(amount):
                number = self._given[index]
                self._given[index] += 1
                known = number < len(pool.addresses)
                addresses.append(
                    pool.addresses[number] if known else f"{pool.shape.address}/vf{number}"
                )
        return tuple(addresses)


def _queues(port: VnfPort, vnf: Vnf, kind: InterfaceKind) -> Decision[int]:
    if kind.takes_vf:
        return Decision(1, "the VF's own queues; the guest's driver sets them")
    if port.queues:
        return Decision(port.queues, "queues of the port in the workload")
    if vnf.multiqueue and vnf.vcpus > 1:
        return Decision(vnf.vcpus, "multiqueue: Nova gives one queue for each vCPU")
    return Decision(1, "multiqueue is off")
