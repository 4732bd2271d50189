# SPDX-License-Identifier: Apache-2.0
"""Read which CPUs belong to PMD threads, to ovs-vswitchd and to pinned guests.

A mask that is malformed or names CPUs that the host lacks is an error of the report. Rules that
need the mask are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.audit.rule import FactUnusable, NothingToCheck
from wirespeed.model.cpuset import format_list, parse_mask
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.guest_facts import Guest, NovaFacts

PMD_MASK = "pmd-cpu-mask"
LCORE_MASK = "dpdk-lcore-mask"


def mask(facts: HostFacts, key: str) -> tuple[int, ...] | None:
    """Return the CPUs of a mask in other_config; None when the key is not set.

    Raises FactUnusable when the mask is malformed or names CPUs that the host lacks.
    """
    text = facts.ovs.other_config.get(key) if facts.ovs else None
    if text is None:
        return None
    try:
        cpus = parse_mask(text)
    except ValueError as fault:
        raise FactUnusable(f"needs a usable other_config:{key}: {fault}") from None
    return on_host(facts, cpus, f"other_config:{key}={text}")


def pmd_cpus(facts: HostFacts) -> tuple[int, ...]:
    """Return the CPUs of pmd-cpu-mask, else those of the running PMD threads.

    Raises FactUnusable when neither is known.
    """
    masked = mask(facts, PMD_MASK)
    if masked is not None:
        return masked
    if facts.ovs is None or facts.ovs.pmds is None:
        reason = facts.why_missing("ovs.pmds") or facts.why_missing("ovs") or "no Open vSwitch"
        raise FactUnusable(f"needs the PMD threads' CPUs: {reason}")
    return tuple(sorted(pmd.core for pmd in facts.ovs.pmds))


def nova_guest_cpus(facts: HostFacts, nova: NovaFacts) -> tuple[int, ...]:
    """Return the CPUs that Nova gives to pinned guests; empty when nova.conf sets none.

    Raises FactUnusable when the host lacks one of them.
    """
    return on_host(facts, nova.guest_cpus or (), f"the guests' CPUs in {nova.path}")


def guest_cpus(facts: HostFacts) -> tuple[int, ...]:
    """Return the CPUs for pinned guests: Nova's set and the pins of running guests.

    Raises FactUnusable when neither source is known, NothingToCheck when neither exists.
    """
    if facts.nova is None and facts.guests is None:
        reasons = [facts.why_missing(name) for name in ("nova", "guests")]
        unknown = [reason for reason in reasons if reason]
        if unknown:
            raise FactUnusable("; ".join(unknown))
        raise NothingToCheck("the host runs neither Nova nor libvirt: no CPU belongs to guests")
    from_nova = nova_guest_cpus(facts, facts.nova) if facts.nova else ()
    pinned = {cpu for guest in facts.guests or () for cpu in pinned_cpus(guest)}
    if not from_nova and not pinned:
        raise NothingToCheck("no CPU is reserved for pinned guests")
    return tuple(sorted({*from_nova, *pinned}))


def require_whole_picture(facts: HostFacts) -> None:
    """Raise FactUnusable when guests may have CPUs that could not be read.

    An overlap within the known CPUs is certain. Only all CPUs can show that there is no overlap.
    """
    for fact in ("nova", "guests"):
        reason = facts.why_missing(fact)
        if reason:
            raise FactUnusable(reason)


def pinned_cpus(guest: Guest) -> tuple[int, ...]:
    """Return the CPUs to which vCPUs are pinned one to one; floating vCPUs do not count."""
    return tuple(sorted({pin.cpus[0] for pin in guest.pins if len(pin.cpus) == 1}))


def configuration_faults(facts: HostFacts) -> tuple[str, ...]:
    """List the CPU sets in this host's configuration that name CPUs it does not have."""
    if not facts.cpus:
        # A host without CPUs is one whose CPU topology could not be read.
        return ()
    faults = []
    for key in (PMD_MASK, LCORE_MASK):
        try:
            mask(facts, key)
        except FactUnusable as unusable:
            faults.append(str(unusable).removeprefix("needs "))
    sets: list[tuple[str, Iterable[int]]] = [
        ("isolated CPUs of the kernel", facts.kernel.isolated),
        ("nohz_full CPUs of the kernel", facts.kernel.nohz_full or ()),
        ("rcu_nocbs= on the kernel command line", facts.kernel.rcu_nocbs),
    ]
    if facts.nova:
        path = facts.nova.path
        sets.append((f"{path} [compute] cpu_dedicated_set", facts.nova.dedicated_cpus or ()))
        sets.append((f"{path} [compute] cpu_shared_set", facts.nova.shared_cpus or ()))
        sets.append((f"{path} [DEFAULT] vcpu_pin_set", facts.nova.vcpu_pin_set or ()))
    sets.extend((f"pins of guest {guest.name}", pinned_cpus(guest)) for guest in facts.guests or ())
    for where, cpus in sets:
        try:
            on_host(facts, tuple(cpus), where)
        except FactUnusable as unusable:
            faults.append(str(unusable).removeprefix("needs "))
    return tuple(faults)


def on_host(facts: HostFacts, cpus: tuple[int, ...], where: str) -> tuple[int, ...]:
    """Return the CPUs if the host has them all.

    Raises FactUnusable with the CPUs that the host lacks.
    """
    unknown = facts.why_missing("cpus")
    if unknown and not facts.cpus:
        raise FactUnusable(f"needs the CPU topology: {unknown}")
    present = {cpu.id for cpu in facts.cpus}
    beyond = set(cpus) - present
    if beyond:
        raise FactUnusable(
            f"needs CPUs that exist: {where} names {format_list(beyond)}, "
            f"the host has {format_list(present)}"
        )
    return cpus
