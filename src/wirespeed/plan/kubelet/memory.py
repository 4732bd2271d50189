# SPDX-License-Identifier: Apache-2.0
"""Give containers memory and huge pages as the kubelet's static Memory Manager policy does.

A NUMA node serves either containers of one node or one fixed group of nodes, never both. Source:
Kubernetes v1.34.1, pkg/kubelet/cm/memorymanager/policy_static.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.plan.kubelet import (
    ContainerRequest,
    ContainerRole,
    KubeletSettings,
    PodRequest,
)
from wirespeed.plan.kubelet.errors import unexpected
from wirespeed.plan.kubelet.hints import Hint, Hints, mask_of, masks, nodes_of
from wirespeed.plan.kubelet.machine import Machine

# Bytes by page size in KiB; 0 is ordinary memory.
Amounts = Mapping[int, int]
ORDINARY = 0


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """Memory of one type for a container; the nodes are filled in ascending order."""

    page_kib: int
    bytes: int
    nodes: tuple[int, ...]


@dataclass(slots=True)
class _Node:
    allocatable: dict[int, int]
    free: dict[int, int]
    group: tuple[int, ...]
    assignments: int = 0


class StaticMemory:
    """Memory of one node, and the blocks of each container."""

    def __init__(self, machine: Machine, settings: KubeletSettings) -> None:
        self._nodes = {node.id: _empty(machine, node.id, settings) for node in machine.nodes}
        self.given: dict[str, dict[str, tuple[MemoryBlock, ...]]] = {}
        # Memory of finished init containers of the pod in admission, by nodes and type.
        self._reuse: dict[tuple[int, int], int] = {}

    def begin(self) -> None:
        """Start the admission of the next pod: nothing is reused of the one before."""
        self._reuse = {}

    def hints(self, pod: PodRequest, container: ContainerRequest | None) -> Hints:
        """Return the hints of a container; of the whole pod for None."""
        if not pod.is_guaranteed:
            return {}
        request = _amounts(container) if container else _of_pod(pod)
        hints = self._hints(request)
        # Without any hint the kubelet returns an empty map, which it reads as no preference.
        return {str(kind): hints for kind in request} if hints else {}

    def _hints(self, request: Amounts) -> list[Hint]:
        smallest = len(self._nodes)
        found = []
        for chosen in masks(sorted(self._nodes)):
            nodes = [self._nodes[node] for node in chosen]
            if any(sum(n.allocatable[k] for n in nodes) < size for k, size in request.items()):
                continue
            smallest = min(smallest, len(chosen))
            if self._is_taken_otherwise(chosen):
                continue
            mask = mask_of(chosen)
            if all(
                sum(n.free[kind] for n in nodes) + self._reuse.get((mask, kind), 0) >= size
                for kind, size in request.items()
            ):
                found.append(chosen)
        return [Hint(mask_of(nodes), len(nodes) == smallest) for nodes in found]

    def _is_taken_otherwise(self, chosen: Sequence[int]) -> bool:
        """Return whether a node serves another group of nodes."""
        if len(chosen) == 1:
            return len(self._nodes[chosen[0]].group) > 1
        return self._breaks_groups(chosen)

    def _breaks_groups(self, chosen: Sequence[int]) -> bool:
        """Return whether nodes that serve something serve another group than this one."""
        return len(chosen) > 1 and any(
            self._nodes[node].assignments and self._nodes[node].group != tuple(chosen)
            for node in chosen
        )

    def allocate(self, pod: PodRequest, container: ContainerRequest, hint: Hint) -> None:
        """Give the container its memory. Raises KubeletRefusal."""
        if not pod.is_guaranteed:
            return
        request = _amounts(container)
        best = hint
        if best.affinity is None:
            best = self._default(request, best.preferred)
        if not self._satisfies(nodes_of(best.affinity or 0), request):
            best = self._extended(request, best)
        nodes = nodes_of(best.affinity or 0)
        if self._breaks_groups(nodes):
            raise unexpected("[memorymanager] preferred hint violates NUMA node allocation")
        blocks = tuple(MemoryBlock(kind, size, nodes) for kind, size in request.items())
        for block in blocks:
            reused = self._reuse.get((mask_of(nodes), block.page_kib), 0)
            self._fill(block, max(0, block.bytes - reused))
        self._update_reuse(container, blocks)
        self.given.setdefault(pod.name, {})[container.name] = blocks
        self._shrink_init_blocks(pod, container, blocks)

    def _default(self, request: Amounts, preferred: bool) -> Hint:
        hints = self._hints(request)
        if not hints:
            raise unexpected(
                "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with "
                "enough memory is available"
            )
        found = _best(hints)
        if preferred and not found.preferred:
            raise unexpected("[memorymanager] failed to find the default preferred hint")
        return found

    def _extended(self, request: Amounts, hint: Hint) -> Hint:
        """Return the best hint that includes this one, which a merge made too narrow."""
        mask = hint.affinity or 0
        hints = [h for h in self._hints(request) if (h.affinity or 0) & mask == mask]
        if not hints:
            raise unexpected(
                "[memorymanager] failed to find NUMA nodes to extend the current topology hint"
            )
        found = _best(hints)
        if hint.preferred and not found.preferred:
            raise unexpected("[memorymanager] failed to find the extended preferred hint")
        return found

    def _satisfies(self, nodes: Sequence[int], request: Amounts) -> bool:
        return all(
            sum(self._nodes[node].free[kind] for node in nodes) >= size
            for kind, size in request.items()
        )

    def _fill(self, block: MemoryBlock, size: int) -> None:
        for number in block.nodes:
            node = self._nodes[number]
            node.assignments += 1
            node.group = block.nodes
            given = min(size, node.free[block.page_kib])
            node.free[block.page_kib] -= given
            size -= given

    def _update_reuse(self, container: ContainerRequest, blocks: Sequence[MemoryBlock]) -> None:
        left = self._reuse
        for block in blocks:
            key = (mask_of(block.nodes), block.page_kib)
            if container.role is ContainerRole.INIT:
                left[key] = max(block.bytes, left.get(key, 0))
            elif left.get(key):
                left[key] = max(0, left[key] - block.bytes)

    def _shrink_init_blocks(
        self, pod: PodRequest, container: ContainerRequest, blocks: Sequence[MemoryBlock]
    ) -> None:
        """Book the reused memory of earlier init containers once, for its new user."""
        given = self.given[pod.name]
        for block in blocks:
            left = block.bytes
            for other in pod.in_order:
                if other.name == container.name or other.role is ContainerRole.APP:
                    break
                if other.role is ContainerRole.SIDECAR or other.name not in given:
                    continue
                after = []
                for old in given[other.name]:
                    used = 0
                    if old.page_kib == block.page_kib and old.nodes == block.nodes:
                        used = min(old.bytes, left)
                    left -= used
                    after.append(MemoryBlock(old.page_kib, old.bytes - used, old.nodes))
                given[other.name] = tuple(after)

    def release(self, pod: str) -> None:
        """Take back all memory of a pod."""
        for blocks in self.given.pop(pod, {}).values():
            for block in blocks:
                size = block.bytes
                for number in block.nodes:
                    node = self._nodes[number]
                    node.assignments -= 1
                    if not node.assignments:
                        node.group = (number,)
                    kind = block.page_kib
                    back = min(size, node.allocatable[kind] - node.free[kind])
                    node.free[kind] += back
                    size -= back


def _empty(machine: Machine, number: int, settings: KubeletSettings) -> _Node:
    node = next(n for n in machine.nodes if n.id == number)
    reserved: dict[int, int] = {}
    for entry in settings.reserved_memory:
        if entry.node == number:
            reserved[entry.page_kib] = reserved.get(entry.page_kib, 0) + entry.bytes
    pages = {size: size * 1024 * count for size, count in node.huge_pages}
    ordinary = node.memory - reserved.get(ORDINARY, 0) - sum(pages.values())
    allocatable = {size: total - reserved.get(size, 0) for size, total in pages.items()}
    allocatable[ORDINARY] = ordinary
    return _Node(allocatable, dict(allocatable), (number,))


def _amounts(container: ContainerRequest) -> dict[int, int]:
    return {ORDINARY: container.memory or 0, **dict(container.huge_pages)}


def _of_pod(pod: PodRequest) -> dict[int, int]:
    at_start: dict[int, int] = {}
    sidecars: dict[int, int] = {}
    apps: dict[int, int] = {}
    for container in pod.in_order:
        for kind, size in _amounts(container).items():
            if container.role is ContainerRole.SIDECAR:
                sidecars[kind] = sidecars.get(kind, 0) + size
            elif container.role is ContainerRole.INIT:
                at_start[kind] = max(at_start.get(kind, 0), sidecars.get(kind, 0) + size)
            else:
                apps[kind] = apps.get(kind, 0) + size
    return {
        kind: max(size + sidecars.get(kind, 0), at_start.get(kind, 0))
        for kind, size in apps.items()
    }


def _best(hints: Sequence[Hint]) -> Hint:
    def rank(hint: Hint) -> tuple[bool, int, int]:
        mask = hint.affinity or 0
        return (not hint.preferred, mask.bit_count(), mask)

    return min(hints, key=rank)
