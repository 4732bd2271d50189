# SPDX-License-Identifier: Apache-2.0
"""Compare two plans, with the disruption that each change causes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from wirespeed.model.cpuset import format_list
from wirespeed.model.plan.plan import FlavorPlan, GuestPlan, HostPlan, NicPlan, Plan, VswitchPlan


class Effort(StrEnum):
    """Action that makes a new value effective, the most disruptive first."""

    REBOOT = "reboot"
    RESTART_OVS = "restart Open vSwitch"
    RESET_VFS = "reset the VFs"
    REBUILD = "rebuild the guest"
    LIVE = "no interruption"


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that differs."""

    where: str
    """Host, guest or flavor."""
    what: str
    old: str | None
    """None if the first plan has no value."""
    new: str | None
    """None if the second plan has no value."""
    effort: Effort
    because: str = ""


# Decisions for a pool; a kubelet takes new ones only without its state files and containers.
_POOL_VALUES = {
    "reserved_cpus": Effort.REBOOT, "cpu_options": Effort.REBUILD,
    "reserved_memory": Effort.REBUILD, "topology_policy": Effort.REBUILD,
    "topology_scope": Effort.REBUILD, "ovs_cpus": Effort.REBOOT,
}  # fmt: skip


def diff_plans(old: Plan, new: Plan) -> tuple[Difference, ...]:
    """Return every difference to apply. A changed reason alone is not a difference."""
    found: list[Difference] = []
    for name, before, after in _pairs(
        {host.host: host for host in old.hosts}, {host.host: host for host in new.hosts}
    ):
        found += _hosts(name, before, after)
    found += _guests(old, new)
    for name, one, other in _pairs(
        {flavor.name: flavor for flavor in old.flavors},
        {flavor.name: flavor for flavor in new.flavors},
    ):
        found += _flavors(name, one, other)
    found += _pools(old, new)
    before_lost = {lost.guest for lost in old.unplaced}
    after_lost = {lost.guest for lost in new.unplaced}
    for guest in sorted(before_lost ^ after_lost):
        was, now = ("unplaced", "placed") if guest in before_lost else ("placed", "unplaced")
        found.append(Difference(f"guest {guest}", "placement", was, now, Effort.REBUILD))
    return tuple(found)


def needs_reboot(differences: Sequence[Difference]) -> tuple[str, ...]:
    """Return the hosts to reboot, each once, in order."""
    where = [d.where for d in differences if d.effort is Effort.REBOOT]
    return tuple(dict.fromkeys(name.removeprefix("host ") for name in where))


def changed(
    where: str, what: str, old: object, new: object, effort: Effort, *, because: str = ""
) -> Iterator[Difference]:
    """Yield the difference, if there is one."""
    if old != new:
        one, other = (None if value is None else str(value) for value in (old, new))
        yield Difference(where, what, one, other, effort, because)


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*old, *new]):
        yield name, old.get(name), new.get(name)


def _hosts(name: str, old: HostPlan | None, new: HostPlan | None) -> Iterator[Difference]:
    where = f"host {name}"
    if old is None or new is None:
        was, now = ("planned", None) if new is None else (None, "planned")
        yield Difference(where, "host", was, now, Effort.REBOOT)
        return
    before = [word.value for word in old.kernel]
    after = [word.value for word in new.kernel]
    reasons = {word.value: word.because for word in new.kernel}
    for key, was, now in _pairs(_by_key(before), _by_key(after)):
        if was != now:
            why = reasons.get(now, "") if now else ""
            yield Difference(where, f"kernel {key}", was, now, Effort.REBOOT, why)
    yield from _cores(where, old, new)
    yield from _vswitch(where, old.vswitch, new.vswitch)
    for address, one, other in _pairs(
        {nic.address: nic for nic in old.nics}, {nic.address: nic for nic in new.nics}
    ):
        yield from _nics(where, address, one, other)


def _by_key(words: Sequence[str]) -> dict[str, str]:
    """Return command line words by parameter. hugepages= belongs to the preceding hugepagesz=."""
    found: dict[str, str] = {}
    size = ""
    for word in words:
        key, _, value = word.partition("=")
        if key == "hugepagesz":
            size = value
        found[f"{key} ({size})" if key in ("hugepages", "hugepagesz") else key] = word
    return found


def _cores(where: str, old: HostPlan, new: HostPlan) -> Iterator[Difference]:
    """Yield differences in nova.conf's CPU sets. The kernel command line has the isolated CPUs."""
    if old.cores is None or new.cores is None:
        return
    for what, was, now in (
        ("cpu_dedicated_set", old.cores.dedicated, new.cores.dedicated),
        ("cpu_shared_set", old.cores.shared, new.cores.shared),
    ):
        if was.value != now.value:
            one, other = format_list(was.value), format_list(now.value)
            yield Difference(where, what, one, other, Effort.REBUILD, now.because)


def _vswitch(where: str, old: VswitchPlan | None, new: VswitchPlan | None) -> Iterator[Difference]:
    if old is None or new is None:
        if old is not new:
            was = None if old is None else old.deployed_kind
            now = None if new is None else new.deployed_kind
            yield Difference(where, "vSwitch", was, now, Effort.RESTART_OVS)
        return
    if (was := old.deployed_kind) != (now := new.deployed_kind):
        yield Difference(where, "vSwitch", was, now, Effort.RESTART_OVS)
    # DPDK reads memory, lcores and channels once; PMDs, queues, descriptors and MTU change live.
    for what, effort in (
        ("main_cpus", Effort.RESTART_OVS),
        ("socket_memory_mib", Effort.RESTART_OVS),
        ("memory_channels", Effort.RESTART_OVS),
        ("pmd_cpus", Effort.LIVE),
        ("rx_queues", Effort.LIVE),
        ("descriptors", Effort.LIVE),
        ("mtu", Effort.LIVE),
    ):
        was, now = getattr(old, what), getattr(new, what)
        if (was and was.value) != (now and now.value):
            one, other = _text(what, was), _text(what, now)
            yield Difference(where, what, one, other, effort, now.because if now else "")
    for what in sorted({*old.own, *new.own}):
        one, other = _text(what, old.own.get(what)), _text(what, new.own.get(what))
        if one != other:
            because = new.own[what].because if what in new.own else ""
            yield Difference(where, what, one, other, Effort.RESTART_OVS, because)


def _text(what: str, decision: Any) -> str | None:
    if decision is None:
        return None
    value = decision.value
    if what.endswith("_cpus"):
        return format_list(value)
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _nics(
    where: str, address: str, old: NicPlan | None, new: NicPlan | None
) -> Iterator[Difference]:
    if old is None or new is None:
        was = f"{old.use} on {old.network}" if old else None
        now = f"{new.use} on {new.network}" if new else None
        yield Difference(where, f"NIC {address}", was, now, Effort.RESTART_OVS)
        return
    if old.driver.value != new.driver.value:
        yield Difference(
            where, f"NIC {address} driver", old.driver.value, new.driver.value,
            Effort.RESTART_OVS, new.driver.because,
        )  # fmt: skip
    if old.vfs.value != new.vfs.value:
        yield Difference(
            where, f"NIC {address} VFs", str(old.vfs.value), str(new.vfs.value),
            Effort.RESET_VFS, new.vfs.because,
        )  # fmt: skip


def _guests(old: Plan, new: Plan) -> Iterator[Difference]:
    before = {guest.name: (host.host, guest) for host in old.hosts for guest in host.guests}
    after = {guest.name: (host.host, guest) for host in new.hosts for guest in host.guests}
    for name, was, now in _pairs(before, after):
        where = f"guest {name}"
        if was is None or now is None:
            one, other = (was[0] if was else None), (now[0] if now else None)
            yield Difference(where, "host", one, other, Effort.REBUILD)
            continue
        if was[0] != now[0]:
            yield Difference(where, "host", was[0], now[0], Effort.REBUILD)
        for what, one, other in _guest_values(was[1], now[1]):
            if one != other:
                yield Difference(where, what, one, other, Effort.REBUILD)


def _pools(old: Plan, new: Plan) -> Iterator[Difference]:
    """Yield changes of kubelets, which a node must be drained for, and of pods."""
    for name, one, other in _pairs({p.name: p for p in old.pools}, {p.name: p for p in new.pools}):
        where = f"pool {name}"
        for what, effort in _POOL_VALUES.items():
            before = getattr(one, what) if one else None
            after = getattr(other, what) if other else None
            yield from changed(
                where, what, before.value if before else None, after.value if after else None,
                effort, because=after.because if after else "",
            )  # fmt: skip
    for name, pod, later in _pairs({p.name: p for p in old.pods}, {p.name: p for p in new.pods}):
        where = f"pod {name}"
        was, now = (each.replicas if each else None for each in (pod, later))
        yield from changed(where, "replicas", was, now, Effort.LIVE)
        if pod and later and replace(pod, replicas=0) != replace(later, replicas=0):
            yield Difference(where, "containers and ports", "old", "new", Effort.REBUILD)


def _guest_values(old: GuestPlan, new: GuestPlan) -> Iterator[tuple[str, str, str]]:
    yield "CPUs", format_list(old.cpus.value), format_list(new.cpus.value)
    yield "vCPUs", str(old.vcpus), str(new.vcpus)
    yield "memory", f"{old.memory_mib} MiB", f"{new.memory_mib} MiB"
    one = ", ".join(f"{port.name} {port.kind.value}" for port in old.ports)
    other = ", ".join(f"{port.name} {port.kind.value}" for port in new.ports)
    yield "ports", one, other


def _flavors(name: str, old: FlavorPlan | None, new: FlavorPlan | None) -> Iterator[Difference]:
    where = f"flavor {name}"
    if old is None or new is None:
        was, now = ("defined", None) if new is None else (None, "defined")
        yield Difference(where, "flavor", was, now, Effort.LIVE)
        return
    for key, one, other in _pairs(old.specs, new.specs):
        before, after = (one.value if one else None), (other.value if other else None)
        if before != after:
            why = other.because if other else ""
            yield Difference(where, key, before, after, Effort.REBUILD, why)
