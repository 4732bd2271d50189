# SPDX-License-Identifier: Apache-2.0
"""Assign each CPU of a host to what it does in the current configuration."""

from __future__ import annotations

from enum import StrEnum

from wirespeed.audit.cores import LCORE_MASK, guest_cpus, mask, pinned_cpus, pmd_cpus
from wirespeed.audit.rule import FactUnusable, NothingToCheck
from wirespeed.model.host.facts import HostFacts


class Owner(StrEnum):
    """Use of a CPU, in order of precedence: a CPU in two sets belongs to the first."""

    OFFLINE = "offline"
    PMD = "PMD thread"
    GUEST = "guest, pinned now"
    GUEST_SET = "reserved for guests"
    VSWITCHD = "ovs-vswitchd"
    ISOLATED = "isolated, idle"
    HOST = "host"


def owners(facts: HostFacts) -> dict[int, Owner]:
    """Return the owner of every CPU; an owner whose CPUs are unknown is skipped."""
    sets: dict[Owner, set[int]] = {
        Owner.OFFLINE: {cpu.id for cpu in facts.cpus if not cpu.online},
        Owner.PMD: _pmds(facts),
        Owner.GUEST: {cpu for guest in facts.guests or () for cpu in pinned_cpus(guest)},
        Owner.GUEST_SET: _guest_set(facts),
        Owner.VSWITCHD: _lcores(facts),
        Owner.ISOLATED: set(facts.kernel.isolated),
        Owner.HOST: {cpu.id for cpu in facts.cpus},
    }
    return {
        cpu.id: next(owner for owner, cpus in sets.items() if cpu.id in cpus) for cpu in facts.cpus
    }


def _pmds(facts: HostFacts) -> set[int]:
    if facts.ovs is None or not facts.ovs.dpdk_initialized:
        return set()
    try:
        return set(pmd_cpus(facts))
    except FactUnusable:
        return set()


def _guest_set(facts: HostFacts) -> set[int]:
    try:
        return set(guest_cpus(facts))
    except (FactUnusable, NothingToCheck):
        return set()


def _lcores(facts: HostFacts) -> set[int]:
    try:
        return set(mask(facts, LCORE_MASK) or ())
    except FactUnusable:
        return set()
