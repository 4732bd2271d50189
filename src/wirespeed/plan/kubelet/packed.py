# SPDX-License-Identifier: Apache-2.0
"""Take CPUs as the static CPU Manager policy does: whole nodes, sockets and cores first.

Every quirk is kept: sizes are means over the machine, rounded down, and lists are made before
anything of them is taken. Source: Kubernetes v1.34.1,
pkg/kubelet/cm/cpumanager/cpu_assignment.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from wirespeed.plan.kubelet.errors import unexpected
from wirespeed.plan.kubelet.machine import Machine


class Accumulator:
    """Takes `needed` CPUs out of `free`."""

    def __init__(self, machine: Machine, free: Iterable[int], needed: int) -> None:
        self.machine = machine
        self.free = set(free)
        self.needed = needed
        self.taken: set[int] = set()
        self._nodes_first = machine.sockets >= len(machine.cpu_nodes)

    def take(self, cpus: Iterable[int]) -> None:
        chosen = set(cpus)
        self.taken |= chosen
        self.free -= self.taken
        self.needed -= len(chosen)

    @property
    def is_satisfied(self) -> bool:
        return self.needed < 1

    def nodes(self) -> list[int]:
        """Return the NUMA nodes with free CPUs in the kubelet's order."""
        if self._nodes_first:
            return self._sorted("node")
        return [
            node for socket in self.sockets() for node in self._within("socket", socket, "node")
        ]

    def sockets(self) -> list[int]:
        if not self._nodes_first:
            return self._sorted("socket")
        return [s for node in self.nodes() for s in self._within("node", node, "socket")]

    def cores(self) -> list[int]:
        outer, groups = ("socket", self.sockets()) if self._nodes_first else ("node", self.nodes())
        return [core for group in groups for core in self._within(outer, group, "core")]

    def caches(self) -> list[int]:
        return [c for node in self.nodes() for c in self._within("node", node, "cache")]

    def _sorted(self, level: str) -> list[int]:
        return _by_free(self.machine.group(self.free, level))

    def _within(self, outer: str, group: int, level: str) -> list[int]:
        """Return the cores, caches, nodes or sockets of a group, those with least free first."""
        places = self.machine.cpus
        inside = {
            getattr(places[c], level) for c in self.free if getattr(places[c], outer) == group
        }
        free = self.machine.group(self.free, level)
        return _by_free({name: free[name] for name in inside})

    def take_levels(self) -> None:
        """Take whole NUMA nodes and sockets, the smaller of the two last."""
        levels: list[Callable[[], None]] = [self._full_nodes, self._full_sockets]
        for take_full in levels if self._nodes_first else reversed(levels):
            take_full()
            if self.is_satisfied:
                return

    def _full_nodes(self) -> None:
        self._full(self.nodes(), "node", self.machine.by_node, None)

    def _full_sockets(self) -> None:
        per_socket = self.machine.cpus_per_socket
        self._full(self.sockets(), "socket", self.machine.by_socket, per_socket)

    def full_cores(self) -> None:
        """Take whole free cores."""
        self._full(self.cores(), "core", self.machine.by_core, self.machine.cpus_per_core)

    def _full(
        self, order: list[int], level: str, whole: Mapping[int, set[int]], size: int | None
    ) -> None:
        """Take groups that are wholly free, each if that many CPUs are needed.

        size: CPUs of a wholly free group where the kubelet uses the mean of the machine.
        """
        free = self.machine.group(self.free, level)
        wholly = [g for g in order if len(free[g]) == (len(whole[g]) if size is None else size)]
        for group in wholly:
            if self.needed >= len(whole[group]):
                self.take(whole[group])

    def take_caches(self) -> None:
        """Take whole last-level caches, then a part of one that holds the rest."""
        for cache in self.caches():
            if self.needed >= self.machine.cpus_per_cache:
                self._full(self.caches(), "cache", self.machine.by_cache, None)
            if self.is_satisfied:
                return
            self._part_of_cache(cache)
            if self.is_satisfied:
                return

    def _part_of_cache(self, cache: int) -> None:
        per_core = self.machine.cpus_per_core
        places = self.machine.cpus
        cores = sorted({places[cpu].core for cpu in self.free if places[cpu].cache == cache})
        chosen = set(cores[: (self.needed + per_core - 1) // per_core])
        cpus = sorted(cpu for cpu in self.free if places[cpu].core in chosen)
        if self.needed % 2 and per_core > 1 and len(cpus) > self.needed:
            cpus.pop()
        if len(cpus) == self.needed:
            self.take(cpus)

    def remaining(self, spread: bool) -> None:
        """Take single CPUs: of cores that are partly used first, or by number if spread."""
        order: list[int] = []
        for group in self.sockets() if spread else self.cores():
            level = "socket" if spread else "core"
            order += sorted(self.machine.group(self.free, level)[group])
        for cpu in order:
            self.take((cpu,))
            if self.is_satisfied:
                return


def take_packed(
    machine: Machine,
    free: Iterable[int],
    needed: int,
    *,
    spread: bool = False,
    caches: bool = False,
) -> set[int]:
    """Return `needed` CPUs of `free`, packed.

    spread: one thread of each core first (distribute-cpus-across-cores). caches: keep to one
    last-level cache (prefer-align-cpus-by-uncorecache). Raises KubeletRefusal.
    """
    found = Accumulator(machine, free, needed)
    if found.is_satisfied:
        return found.taken
    if needed > len(found.free):
        raise not_enough(needed, len(found.free))
    steps: list[Callable[[], None]] = [found.take_levels]
    if caches:
        steps.append(found.take_caches)
    if not spread:
        steps.append(found.full_cores)
    steps.append(lambda: found.remaining(spread))
    for step in steps:
        step()
        if found.is_satisfied:
            return found.taken
    raise unexpected("failed to allocate cpus")


def not_enough(needed: int, available: int) -> Exception:
    """Return the refusal of a request for more CPUs than are free."""
    return unexpected(
        f"not enough cpus available to satisfy request: requested={needed}, available={available}"
    )


def _by_free(groups: Mapping[int, set[int]]) -> list[int]:
    return sorted(groups, key=lambda group: (len(groups[group]), group))
