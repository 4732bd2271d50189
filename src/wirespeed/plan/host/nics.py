# SPDX-License-Identifier: Apache-2.0
"""Find the PCI devices of a host that carry a network, and those that may be passed through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from wirespeed.model.host.facts import HostFacts, PciDevice
from wirespeed.model.plan.plan import Decision, NicPlan
from wirespeed.model.plan.policy import NicUse
from wirespeed.model.plan.workload import Nic, Workload
from wirespeed.plan.errors import PlanError

MELLANOX = "15b3"


@dataclass(frozen=True, slots=True)
class HostNic:
    """A physical port of this host, and the workload's [[nic]] that names it."""

    device: PciDevice
    settings: Nic
    physical_network: str
    mtu: int


def host_nics(facts: HostFacts, workload: Workload) -> tuple[HostNic, ...]:
    """Return the ports of this host that the workload names, in its order.

    Raises PlanError for a port that the host lacks, and for one used twice. The port of the default
    route is an error, too, if the kernel would lose it.
    """
    found: dict[str, HostNic] = {}
    for settings in workload.nics:
        if not matches(facts.host, settings.hosts):
            continue
        network = workload.network(settings.network)
        for port in settings.ports:
            device = _find(facts, port)
            if device is None:
                raise _no_such_port(facts, settings, port)
            if device.address in found:
                other = found[device.address].settings
                raise PlanError(
                    f"host {facts.host}: {port} ({device.address}) is named twice: as "
                    f"{settings.use} of network {settings.network} and as {other.use} of network "
                    f"{other.network}",
                    "A port serves one network, bound to DPDK or split into VFs; change [[nic]].",
                )
            _check_default_route(facts, device, settings)
            found[device.address] = HostNic(device, settings, network.physical_network, network.mtu)
    return tuple(found.values())


def matches(host: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(host, pattern) for pattern in patterns)


def dpdk_nics(nics: Iterable[HostNic]) -> list[HostNic]:
    return [nic for nic in nics if nic.settings.use is NicUse.DPDK]


def sriov_nics(nics: Iterable[HostNic]) -> list[HostNic]:
    return [nic for nic in nics if nic.settings.use is NicUse.SRIOV]


def offered_vfs(host: str, nic: HostNic) -> int:
    """Return the number of VFs for guests: vfs of the PF's [[nic]], or all it supports."""
    total = nic.device.sriov_total
    count = nic.settings.vfs
    if count is None:
        return total
    if count > total:
        raise PlanError(
            f"host {host}: nic[{nic.settings.network}].vfs = {count}, but {nic.device.address} "
            f"offers {total} VFs",
            "Lower vfs, or leave it out.",
        )
    return count


def nic_plan(nic: HostNic, vfs: Decision[int]) -> NicPlan:
    device = nic.device
    return NicPlan(
        address=device.address,
        node=device.node,
        network=nic.settings.network,
        use=nic.settings.use,
        driver=_driver(nic),
        vfs=vfs,
        interface=device.interfaces[0] if device.interfaces else None,
        bond=nic.settings.bond,
        vendor=device.vendor,
        product=device.device,
    )


def _driver(nic: HostNic) -> Decision[str]:
    kept = nic.device.driver or "(none)"
    if nic.settings.use is NicUse.SRIOV:
        return Decision(kept, "the PF keeps its kernel driver, which makes the VFs")
    if nic.device.vendor == MELLANOX:
        return Decision(kept, "Mellanox ports stay with their kernel driver under DPDK")
    return Decision("vfio-pci", "DPDK drives the port; vfio is safer than uio (S1)")


def _find(facts: HostFacts, port: str) -> PciDevice | None:
    for device in facts.nics:
        if port in (device.address, *device.interfaces):
            return device
    return None


def _no_such_port(facts: HostFacts, settings: Nic, port: str) -> PlanError:
    known = ", ".join(
        f"{d.address}{' ' + d.interfaces[0] if d.interfaces else ''}"
        for d in facts.nics
        if d.physical_function is None
    )
    return PlanError(
        f"nic[{settings.network}].ports names {port!r}, which host {facts.host} does not have; "
        f"it has {known or 'no network device'}",
        "Correct the [[nic]], or exclude this host by hosts = [...] in it.",
    )


def _check_default_route(facts: HostFacts, device: PciDevice, settings: Nic) -> None:
    route = facts.default_route_interface
    if settings.use is NicUse.DPDK and device.vendor != MELLANOX and route in device.interfaces:
        raise PlanError(
            f"host {facts.host}: {device.address} ({route}) carries the default route; "
            "bound to DPDK it would disconnect the host",
            "Choose another port in [[nic]].",
        )
