# SPDX-License-Identifier: Apache-2.0
"""Merge topology hints as the kubelet's Topology Manager does.

A hint is a set of NUMA nodes that can serve a request, as a bit mask, or None for no preference.
The kubelet folds all combinations of hints with a comparison that is a total order, so the best of
the set of distinct combinations is its answer. Source: Kubernetes v1.34.1,
pkg/kubelet/cm/topologymanager/policy.go, policy_single_numa_node.go, numa_info.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from wirespeed.model.plan.kubelet import KubeletSettings, TopologyPolicy
from wirespeed.plan.kubelet.machine import Machine


class Hint(NamedTuple):
    """NUMA nodes as a bit mask; `preferred` if no smaller set could serve an idle machine."""

    affinity: int | None
    preferred: bool


# Hints of each resource; None: the resource has no preference.
Hints = Mapping[str, Sequence[Hint] | None]
_ANY = (Hint(None, True),)
_NONE = (Hint(None, False),)


def mask_of(nodes: Iterable[int]) -> int:
    return sum(1 << node for node in nodes)


def nodes_of(mask: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def masks(nodes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every set of nodes, the smallest first."""
    for size in range(1, len(nodes) + 1):
        yield from combinations(nodes, size)


def merge(
    settings: KubeletSettings, machine: Machine, providers: Sequence[Hints]
) -> tuple[Hint, bool]:
    """Return the merged hint and whether the policy admits it; not for policy none."""
    resources = _by_resource(providers)
    every_node = mask_of(node.id for node in machine.nodes)
    single = settings.topology is TopologyPolicy.SINGLE_NUMA_NODE
    if single:
        resources = [_single(hints) for hints in resources]
    best = _best(settings, machine, every_node, resources)
    if single and best.affinity == every_node:
        best = Hint(None, best.preferred)
    return best, best.preferred or settings.topology is TopologyPolicy.BEST_EFFORT


def _by_resource(providers: Sequence[Hints]) -> list[Sequence[Hint]]:
    resources: list[Sequence[Hint]] = []
    for hints in providers:
        if not hints:
            resources.append(_ANY)
        for offered in hints.values():
            resources.append(_ANY if offered is None else offered or _NONE)
    return resources


def _single(hints: Sequence[Hint]) -> list[Hint]:
    return [
        hint
        for hint in hints
        if hint.preferred and (hint.affinity is None or hint.affinity.bit_count() == 1)
    ]


def _best(
    settings: KubeletSettings,
    machine: Machine,
    every_node: int,
    resources: Sequence[Sequence[Hint]],
) -> Hint:
    wanted = max((_narrowest(hints) for hints in resources), default=0)
    closest = settings.prefer_closest and settings.topology is not TopologyPolicy.SINGLE_NUMA_NODE
    distance = {node.id: node.distances for node in machine.nodes}

    def rank(hint: Hint) -> tuple[float, ...]:
        mask = hint.affinity or 0
        count = mask.bit_count()
        tie = (_mean_distance(mask, distance) if closest else 0.0, mask)
        if hint.preferred:
            return (0, count, *tie)
        if count == wanted:
            return (1, 0, *tie)
        return (2, -count, *tie) if count < wanted else (3, count, *tie)

    found = [hint for hint in _merged(every_node, resources) if hint.affinity]
    return min(found, key=rank, default=Hint(every_node, False))


def _narrowest(hints: Sequence[Hint]) -> int:
    return min((h.affinity.bit_count() for h in hints if h.affinity is not None), default=0)


def _merged(every_node: int, resources: Sequence[Sequence[Hint]]) -> set[Hint]:
    """Return the distinct intersections of one hint of each resource.

    One is preferred if all its hints are preferred and have equal nodes.
    """
    # Nodes in common, and the nodes that all hints so far share (None: any), False: none do.
    states: set[tuple[int, int | bool | None]] = {(every_node, None)}
    for hints in resources:
        after: set[tuple[int, int | bool | None]] = set()
        for mask, equal in states:
            for affinity, preferred in hints:
                if affinity is None:
                    after.add((mask, equal if preferred else False))
                elif preferred and (equal is None or (equal is not False and equal == affinity)):
                    after.add((mask & affinity, affinity))
                else:
                    after.add((mask & affinity, False))
        states = after
    return {Hint(mask, equal is not False) for mask, equal in states}


def _mean_distance(mask: int, distance: Mapping[int, Sequence[int]]) -> float:
    nodes = nodes_of(mask)
    return sum(float(distance[a][b]) for a in nodes for b in nodes) / len(nodes) ** 2
