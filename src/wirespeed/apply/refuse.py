# SPDX-License-Identifier: Apache-2.0
"""Refuse to change a host, before anything is changed. All reasons are reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from wirespeed.apply.running import RunningGuest
from wirespeed.apply.setting import Setting, Value
from wirespeed.apply.target import Refused
from wirespeed.model.cpuset import format_list
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import HostPlan, Plan


class OtherHost(BadInput):
    """Raised when the plan was made for another host."""


def host_plan(plan: Plan, facts: HostFacts) -> HostPlan:
    """Return the plan's part for this host. Raises OtherHost with every fact that differs."""
    host = next((h for h in plan.hosts if h.host == facts.host), None)
    if host is None:
        names = ", ".join(h.host for h in plan.hosts)
        raise OtherHost(
            f"the plan is for {names}; this host is {facts.host}",
            "Name the host that the plan was made for, or plan this one: `wirespeed inspect`, "
            "`wirespeed plan make`.",
        )
    differing = list(_differing(host, facts))
    if differing:
        listed = "\n".join(f"  {line}" for line in differing)
        raise OtherHost(
            f"{facts.host} is not the host that the plan was made for:\n{listed}",
            "Inspect it again and make a new plan.",
        )
    return host


def _differing(host: HostPlan, facts: HostFacts) -> Iterator[str]:
    for node in host.cores.nodes if host.cores else ():
        planned = {cpu for core in node.cores for cpu in core}
        there = {c.id for c in facts.cpus if c.node == node.node and c.online}
        if planned != there:
            yield (
                f"CPUs of NUMA node {node.node}: planned {format_list(planned)}, here "
                f"{format_list(there) or 'none'}"
            )
        for core in node.cores:
            if planned == there and set(facts.siblings(core[0])) & planned != set(core):
                yield (
                    f"SMT threads of CPU {core[0]}: planned {format_list(core)}, here "
                    f"{format_list(facts.siblings(core[0]))}"
                )
    devices = {device.address: device for device in facts.pci}
    for nic in host.nics:
        device = devices.get(nic.address)
        if device is None:
            yield f"PCI {nic.address}: planned {nic.vendor}:{nic.product}, here no network device"
        elif nic.vendor and (nic.vendor, nic.product) != (device.vendor, device.device):
            yield (
                f"PCI {nic.address}: planned {nic.vendor}:{nic.product}, here "
                f"{device.vendor}:{device.device}"
            )
        elif device.sriov_total < nic.vfs.value:
            most = device.sriov_total
            yield f"PCI {nic.address}: planned {nic.vfs.value} VFs, here {most} at most"
    pools = {(node.id, pool.size_kib) for node in facts.nodes for pool in node.huge_pages}
    for page in host.huge_pages.value:
        if page.count and (page.node, page.size_kib) not in pools:
            yield f"node {page.node} has no pages of {page.size_kib} KiB"


# A setting to change, and its new value.
Change = tuple[Setting, Value]


def check(
    host: HostPlan,
    facts: HostFacts,
    *,
    cut: Sequence[str],
    guests: tuple[RunningGuest, ...],
    reboot: bool,
) -> None:
    """Raise Refused when guests or the connection would suffer. cut: from `connections_cut`."""
    reasons = [*cut, *_guests(host, facts, guests, reboot=reboot)]
    if reasons:
        listed = "\n".join(f"  {reason}" for reason in reasons)
        raise Refused(f"{facts.host} is not changed:\n{listed}")


def connections_cut(
    changes: Iterable[Change], facts: HostFacts, needed: Mapping[str, str]
) -> tuple[str, ...]:
    """Return why these changes would cut the host off.

    needed: interface to its use, e.g. "an ssh session from 192.0.2.7".
    """
    return tuple(
        f"{name} carries {needed[name]}; changing {setting.name} would cut it: choose another port "
        "in [[nic]], or use the host by another interface"
        for setting, value in changes
        for name in sorted(setting.takes(facts, value) & needed.keys())
    )


def _guests(
    host: HostPlan, facts: HostFacts, guests: tuple[RunningGuest, ...], *, reboot: bool
) -> Iterator[str]:
    if reboot and guests:
        names = ", ".join(guest.name for guest in guests)
        yield f"a reboot would end running guests: {names}; move or stop them"
    planned = {guest.name: set(guest.cpus.value) for guest in host.guests}
    pmds = set(host.vswitch.pmd_cpus.value) if host.vswitch else set()
    for guest in guests:
        cpus = set(guest.cpus)
        others = {cpu for name, own in planned.items() if name != guest.name for cpu in own}
        lost = cpus & (pmds | others) if guest.pinned else set()
        if lost:
            yield f"running guest {guest.name} would lose CPUs {format_list(lost)}; move or stop it"
        yield from _devices(host, facts, guest)
    wanted = {(page.node, page.size_kib): page.count for page in host.huge_pages.value}
    for node in facts.nodes:
        for pool in node.huge_pages:
            used = pool.total - pool.free
            count = wanted.get((node.id, pool.size_kib))
            if count is not None and used > count:
                yield (
                    f"{used} pages of {pool.size_kib} KiB on node {node.id} are in use, the plan "
                    f"leaves {count}; stop what uses them"
                )


def _devices(host: HostPlan, facts: HostFacts, guest: RunningGuest) -> Iterator[str]:
    parents = {device.address: device.physical_function for device in facts.pci}
    there = {device.address: device.sriov_num for device in facts.pci}
    for nic in host.nics:
        for device in guest.devices:
            renewed = parents.get(device) == nic.address and there[nic.address] != nic.vfs.value
            if renewed or device == nic.address:
                yield f"running guest {guest.name} would lose {device}; move or stop it"
