# SPDX-License-Identifier: Apache-2.0
"""Translate a workload into guests and units for placement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wirespeed.model.host.facts import HostFacts, PciDevice
from wirespeed.model.host.switch_cost import CycleModel, RatesOfPorts
from wirespeed.model.plan.plan import Decision
from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    GroupPolicy,
    InterfaceKind,
    NicUse,
)
from wirespeed.model.plan.workload import Vnf, Workload
from wirespeed.plan.deployment.equal_hosts import first_equal
from wirespeed.plan.host.interface_kind import choose_kind, kind_warnings
from wirespeed.plan.host.nics import host_nics, sriov_nics
from wirespeed.plan.host.pmd_demand import clock_hz, port_hz
from wirespeed.plan.nova.guests import guest_request
from wirespeed.plan.placement.batch import Unit
from wirespeed.plan.placement.request import GuestRequest

Kinds = Mapping[str, Mapping[str, Decision[InterfaceKind]]]


@dataclass(frozen=True, slots=True)
class Requested:
    """A workload as units to place."""

    workload: Workload
    kinds: Kinds
    requests: Mapping[str, GuestRequest]
    guests: tuple[tuple[Vnf, str], ...]
    """VNF and name of every single guest."""
    units: tuple[Unit, ...]
    warnings: tuple[str, ...]
    first_equal: tuple[int, ...]
    """Number of the first equal host, for each host."""


def translate(
    written: Workload, hosts: Sequence[HostFacts], cycles: CycleModel, rates: RatesOfPorts
) -> Requested:
    """Choose every port's type, and turn VNFs into requests and units."""
    workload = _complete(written)
    warnings = list(workload.warnings)
    kinds: dict[str, dict[str, Decision[InterfaceKind]]] = {}
    first = tuple(first_equal(workload, hosts))
    distinct_hosts = [hosts[number] for number in sorted(set(first))]
    vf_nics = _vf_nics(workload, distinct_hosts)
    for vnf in workload.vnfs:
        kinds[vnf.name] = {}
        for port in vnf.ports:
            nics = vf_nics.get(port.network, ())
            kind = choose_kind(port, vnf, workload, nics, rates.get((vnf.name, port.name)))
            kinds[vnf.name][port.name] = kind
            found = kind_warnings(port, kind.value, workload, nics)
            warnings += [f"vnf {vnf.name}, {text}" for text in found]
    requests = {}
    for vnf in workload.vnfs:
        chosen = {name: kind.value for name, kind in kinds[vnf.name].items()}
        hz = sum(port_hz(port, chosen[port.name], cycles) for port in vnf.ports)
        requests[vnf.name] = guest_request(vnf, workload, chosen, hz)
    guests = tuple((vnf, name) for vnf in workload.vnfs for name in vnf.instances)
    if any(request.switch_hz for request in requests.values()):
        warnings += _clock_warnings(workload, distinct_hosts)
    units = _units(workload, guests, requests)
    return Requested(workload, kinds, requests, guests, units, tuple(warnings), first)


def _complete(workload: Workload) -> Workload:
    """Fill in omitted settings: emulator threads off the pinned CPUs (S3, figure 10)."""
    vnfs = []
    for vnf in workload.vnfs:
        pinned = vnf.cpu_policy in (CpuPolicy.DEDICATED, CpuPolicy.MIXED)
        if pinned and vnf.emulator_policy is None:
            vnfs.append(replace(vnf, emulator_policy=EmulatorPolicy.SHARE))
        else:
            vnfs.append(vnf)
    return replace(workload, vnfs=tuple(vnfs))


def _vf_nics(workload: Workload, hosts: Sequence[HostFacts]) -> dict[str, tuple[PciDevice, ...]]:
    """Return one NIC of each VF-capable model for each network; its limits hold for all."""
    found: dict[str, dict[tuple[str, str, int | None], PciDevice]] = {}
    if not any(nic.use is NicUse.SRIOV for nic in workload.nics):
        return {}
    for facts in hosts:
        for nic in sriov_nics(host_nics(facts, workload)):
            if nic.device.sriov_total:
                key = (nic.device.vendor, nic.device.device, nic.device.link_width)
                found.setdefault(nic.settings.network, {}).setdefault(key, nic.device)
    return {network: tuple(models.values()) for network, models in found.items()}


def _clock_warnings(workload: Workload, hosts: Sequence[HostFacts]) -> list[str]:
    clocks = {clock_hz(facts, workload.vswitch.pmd_hz).because for facts in hosts}
    return sorted(clock for clock in clocks if "assumed" in clock)


def _units(
    workload: Workload,
    guests: Sequence[tuple[Vnf, str]],
    requests: Mapping[str, GuestRequest],
) -> tuple[Unit, ...]:
    """Return one unit per affinity group and per other guest; kinds are numbered by content."""
    affinity = {
        member: group.name
        for group in workload.groups
        if group.policy is GroupPolicy.AFFINITY
        for member in group.members
    }
    anti_affinity: dict[str, set[str]] = {}
    for group in workload.groups:
        if group.policy is GroupPolicy.ANTI_AFFINITY:
            for member in group.members:
                anti_affinity.setdefault(member, set()).add(group.name)
    members: dict[str, list[int]] = {}
    for number, (vnf, name) in enumerate(guests):
        key = f"group {affinity[vnf.name]}" if vnf.name in affinity else f"guest {name}"
        members.setdefault(key, []).append(number)
    kinds: dict[tuple[object, ...], int] = {}
    units = []
    for numbers in members.values():
        vnfs = tuple(guests[number][0].name for number in numbers)
        groups = frozenset(name for vnf in vnfs for name in anti_affinity.get(vnf, ()))
        kind = kinds.setdefault(vnfs, len(kinds))
        units.append(Unit(kind, tuple(numbers), tuple(requests[v] for v in vnfs), groups))
    return tuple(units)
