# SPDX-License-Identifier: Apache-2.0
"""Take CPUs evenly from NUMA nodes (distribute-cpus-across-numa).

The kubelet keeps the best combination of nodes in a Go slice that later combinations overwrite,
from the fourth node on; `_Slice` reproduces this. Its loop over the remainder may never end, with
full-pcpus-only (kubernetes issue 140730): KubeletHang. Source: Kubernetes v1.34.1,
pkg/kubelet/cm/cpumanager/cpu_assignment.go, takeByTopologyNUMADistributed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.plan.kubelet.errors import KubeletHang, KubeletRefusal, unexpected
from wirespeed.plan.kubelet.machine import Machine
from wirespeed.plan.kubelet.packed import Accumulator, not_enough, take_packed


@dataclass(frozen=True, slots=True)
class _Slice:
    """A Go slice of int: `length` items of a shared array of fixed capacity."""

    array: list[int]
    length: int

    def append(self, item: int) -> _Slice:
        """Append in place if the capacity allows it, else to a copy of twice the capacity."""
        array = self.array
        if self.length == len(array):
            array = [*array, *[0] * max(len(array), 1)]
        array[self.length] = item
        return _Slice(array, self.length + 1)

    @property
    def items(self) -> list[int]:
        return self.array[: self.length]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Nodes that give equal shares, and nodes that give the remainder."""

    nodes: _Slice
    remainder: _Slice | None
    balance: float


def take_distributed(
    machine: Machine, free: Iterable[int], needed: int, group: int, *, spread: bool = False
) -> set[int]:
    """Return `needed` CPUs of `free`, shared evenly by as few NUMA nodes as can.

    group: CPUs that must stay together. Raises KubeletRefusal or KubeletHang.
    """
    if needed % group:
        return take_packed(machine, free, needed, spread=spread)
    found = Accumulator(machine, free, needed)
    if found.is_satisfied:
        return found.taken
    if needed > len(found.free):
        raise not_enough(needed, len(found.free))
    nodes = found.nodes()
    counts = {node: len(cpus) for node, cpus in machine.group(found.free, "node").items()}
    for size in _sizes(machine, len(counts), needed, group):
        choice = _best(nodes, counts, needed, group, size)
        if choice:
            _take(found, choice, needed, group, spread)
            return found.taken
    return take_packed(machine, free, needed, spread=spread)


def _sizes(machine: Machine, available: int, needed: int, group: int) -> range:
    """Return the numbers of NUMA nodes to try."""
    groups = (len(machine.cpus) - 1) // group + 1
    per_node = (groups - 1) // len(machine.cpu_nodes) + 1
    groups_needed = (needed - 1) // group + 1
    return range((groups_needed - 1) // per_node + 1, min(groups_needed, available) + 1)


def _combinations(items: Sequence[int], size: int) -> Iterator[_Slice]:
    """Yield the combinations; each may share its array with those before it."""

    def step(left: int, start: int, chosen: _Slice) -> Iterator[_Slice]:
        if left == 0:
            yield chosen
            return
        for number in range(start, len(items) - left + 1):
            yield from step(left - 1, number + 1, chosen.append(items[number]))

    if size >= 1:
        yield from step(size, 0, _Slice([], 0))


def _best(
    nodes: Sequence[int], counts: Mapping[int, int], needed: int, group: int, size: int
) -> _Choice | None:
    best: _Choice | None = None
    share = needed // size // group * group
    for combination in _combinations(nodes, size):
        if best and best.balance == 0:
            break
        chosen = combination.items
        if sum(counts[n] for n in chosen) < needed:
            continue
        if sum(counts[n] // group for n in chosen) * group < needed:
            continue
        if any(counts[n] < share for n in chosen):
            continue
        after = {n: counts[n] - (share if n in chosen else 0) for n in nodes}
        found = _remainder(combination, after, needed - share * size, group)
        if found and (best is None or found.balance < best.balance):
            best = found
    return best


def _remainder(
    combination: _Slice, after: Mapping[int, int], remainder: int, group: int
) -> _Choice | None:
    """Return the best balanced nodes to give what does not divide; None if none can."""
    if remainder == 0:
        return _Choice(combination, None, _deviation(after.values()))
    candidates = [node for node in combination.items if after[node] >= group]
    best: _Choice | None = None
    for size in range(len(candidates), 0, -1):
        for subset in _combinations(candidates, size):
            if sum(after[node] for node in subset.items) < remainder:
                continue
            left = _hand_out(subset.items, after, remainder, group)
            balance = _deviation(left.values())
            if best is None or balance < best.balance:
                best = _Choice(combination, subset, balance)
    return best


def _hand_out(
    subset: Sequence[int], after: Mapping[int, int], remainder: int, group: int
) -> dict[int, int]:
    left = dict(after)
    while remainder > 0:
        before = remainder
        for node in subset:
            if remainder == 0:
                break
            if left[node] >= group:
                left[node] -= group
                remainder -= group
        if remainder == before:
            raise KubeletHang
    return left


def _take(found: Accumulator, choice: _Choice, needed: int, group: int, spread: bool) -> None:
    machine = found.machine
    nodes = choice.nodes.items
    share = needed // len(nodes) // group * group

    def take_from(node: int, count: int) -> None:
        free = [cpu for cpu in found.free if machine.cpus[cpu].node == node]
        try:
            found.take(take_packed(machine, free, count, spread=spread))
        except KubeletRefusal:
            # The kubelet drops this error and counts at the end.
            found.take(())

    for node in nodes:
        take_from(node, share)
    remainder = needed - share * len(nodes)
    while remainder > 0:
        before = remainder
        for node in choice.remainder.items if choice.remainder else ():
            if remainder == 0:
                break
            if sum(machine.cpus[cpu].node == node for cpu in found.free) < group:
                continue
            take_from(node, group)
            remainder -= group
        if remainder == before:
            raise KubeletHang
    if found.needed:
        problem = "not enough" if found.needed > 0 else "too many"
        raise unexpected(f"accounting error, {problem} CPUs allocated, remaining: {found.needed}")


def _deviation(values: Collection[int]) -> float:
    mean = _thousandths(sum(values) / len(values))
    return _thousandths(math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)))


def _thousandths(value: float) -> float:
    """Round as Go's math.Round does: halves away from zero."""
    return math.floor(value * 1000 + 0.5) / 1000
