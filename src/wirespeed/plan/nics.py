# SPDX-License-Identifier: Apache-2.0
"""Which of a host's PCI devices carry which network, and which may be passed through?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from wirespeed.model.facts import HostFacts, PciDevice
from wirespeed.model.plan import Decision, NicPlan
from wirespeed.model.policy import NicUse
from wirespeed.model.workload import Nic, Workload
from wirespeed.plan.errors import PlanError

MELLANOX = "15b3"


@dataclass(frozen=True, slots=True)
class HostNic:
    """A physical port of this host and what the workload wants from it."""

    device: PciDevice
    wish: Nic
    physical_network: str
    mtu: int


def host_nics(facts: HostFacts, workload: Workload) -> tuple[HostNic, ...]:
    """The ports of this host that the workload names, in its order.

    Raises PlanError for a port the host does not have, one used twice, and the port of the default
    route when it would be taken from the kernel.
    """
    found: dict[str, HostNic] = {}
    for wish in workload.nics:
        if not matches(facts.host, wish.hosts):
            continue
        network = workload.network(wish.network)
        for port in wish.ports:
            device = _find(facts, port)
            if device is None:
                raise _no_such_port(facts, wish, port)
            if device.address in found:
                other = found[device.address].wish
                raise PlanError(
                    f"host {facts.host}: {port} ({device.address}) is asked for as {wish.use} of "
                    f"network {wish.network} and as {other.use} of network {other.network}",
                    "A port serves one network, bound to DPDK or split into VFs; change [[nic]].",
                )
            _check_default_route(facts, device, wish)
            found[device.address] = HostNic(device, wish, network.physical_network, network.mtu)
    return tuple(found.values())


def matches(host: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(host, pattern) for pattern in patterns)


def dpdk_nics(nics: Iterable[HostNic]) -> list[HostNic]:
    return [nic for nic in nics if nic.wish.use is NicUse.DPDK]


def sriov_nics(nics: Iterable[HostNic]) -> list[HostNic]:
    return [nic for nic in nics if nic.wish.use is NicUse.SRIOV]


def offered_vfs(host: str, nic: HostNic) -> int:
    """How many VFs guests may get from a PF: as asked for, else all that the device can make."""
    total = nic.device.sriov_total
    asked = nic.wish.vfs
    if asked is None:
        return total
    if asked > total:
        raise PlanError(
            f"host {host}: nic[{nic.wish.network}].vfs = {asked}, but {nic.device.address} offers "
            f"{total} VFs",
            "Lower vfs, or leave it out.",
        )
    return asked


def nic_plan(nic: HostNic, vfs: Decision[int]) -> NicPlan:
    device = nic.device
    return NicPlan(
        address=device.address,
        node=device.node,
        network=nic.wish.network,
        use=nic.wish.use,
        driver=_driver(nic),
        vfs=vfs,
        interface=device.interfaces[0] if device.interfaces else None,
        bond=nic.wish.bond,
        vendor=device.vendor,
        product=device.device,
    )


def _driver(nic: HostNic) -> Decision[str]:
    kept = nic.device.driver or "(none)"
    if nic.wish.use is NicUse.SRIOV:
        return Decision(kept, "the PF keeps its kernel driver, which makes the VFs")
    if nic.device.vendor == MELLANOX:
        return Decision(kept, "Mellanox ports stay with their kernel driver under DPDK")
    return Decision("vfio-pci", "DPDK drives the port; vfio is safer than uio (S1)")


def _find(facts: HostFacts, port: str) -> PciDevice | None:
    for device in facts.nics:
        if port in (device.address, *device.interfaces):
            return device
    return None


def _no_such_port(facts: HostFacts, wish: Nic, port: str) -> PlanError:
    known = ", ".join(
        f"{d.address}{' ' + d.interfaces[0] if d.interfaces else ''}"
        for d in facts.nics
        if d.physical_function is None
    )
    return PlanError(
        f"host {facts.host} has no port {port!r} that nic[{wish.network}].ports names; "
        f"it has {known or 'no network device'}",
        "Correct the [[nic]], or give it hosts = [...] so that it leaves this host out.",
    )


def _check_default_route(facts: HostFacts, device: PciDevice, wish: Nic) -> None:
    route = facts.default_route_interface
    if wish.use is NicUse.DPDK and device.vendor != MELLANOX and route in device.interfaces:
        raise PlanError(
            f"host {facts.host}: {device.address} ({route}) carries the default route; "
            "bound to DPDK it would cut the host off",
            "Choose another port in [[nic]].",
        )
