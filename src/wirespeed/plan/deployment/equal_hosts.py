# SPDX-License-Identifier: Apache-2.0
"""Find hosts that differ only in their name, so that they share one partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.host.nics import matches

# All facts except the host's name.
_COMPARED = tuple(field.name for field in fields(HostFacts) if field.name != "host")


def first_equal(workload: Workload, hosts: Sequence[HostFacts]) -> list[int]:
    """Return for each host the number of the first equal host.

    Equal hosts have equal facts and match the same patterns of the workload.
    """
    buckets: dict[tuple[object, ...], list[int]] = {}
    first = []
    for number, facts in enumerate(hosts):
        bucket = buckets.setdefault(_key(workload, facts), [])
        for other in bucket:
            if _equal(facts, hosts[other]):
                first.append(other)
                break
        else:
            bucket.append(number)
            first.append(number)
    return first


def _key(workload: Workload, facts: HostFacts) -> tuple[object, ...]:
    """Return a hash key that is equal for equal hosts and cheap to compute."""
    named = tuple(matches(facts.host, nic.hosts) for nic in workload.nics)
    grouped = tuple(matches(facts.host, aggregate.hosts) for aggregate in workload.aggregates)
    memory = tuple(node.memory_kib for node in facts.nodes)
    return named, grouped, facts.kernel, facts.cpu_model, memory, len(facts.cpus), len(facts.pci)


def _equal(one: HostFacts, other: HostFacts) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _COMPARED)
