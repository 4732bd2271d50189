# SPDX-License-Identifier: Apache-2.0
"""Rank the hosts on which a guest fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from wirespeed.plan.placement.host import HostShape, HostUse
from wirespeed.plan.placement.request import GuestRequest

# Nova's PCIWeigher (nova/scheduler/weights/pci.py, release 34) counts devices up to this number.
NOVA_MAX_DEVICES = 100


class ClassView(Protocol):
    def shape(self, number: int) -> HostShape: ...
    def use(self, number: int) -> HostUse: ...
    def first_host(self, number: int) -> int: ...


def tight_score(shape: HostShape, after: HostUse, requests: Sequence[GuestRequest]) -> float:
    """Return the share of the host that would remain free; lower is better.

    A host with devices or labels that the guests do not need is kept for guests that do.
    """
    free = pinning = 0
    pages = 0.0
    for cell, use in zip(shape.cells, after.cells, strict=True):
        free += use.free.bit_count()
        pinning += cell.pinning.bit_count()
        totals = sum(t * s for t, s in zip(cell.page_totals, cell.page_sizes, strict=True))
        left = sum(p * s for p, s in zip(use.pages_free, cell.page_sizes, strict=True))
        pages += left / totals if totals else 0.0
    score = free / pinning if pinning else 0.0
    score += pages / len(shape.cells)
    wants_devices = any(request.devices for request in requests)
    devices = sum(after.devices_free)
    if devices:
        score += 0.5 * devices / (devices + 8) if wants_devices else 10.0
    wanted = frozenset().union(*(request.labels for request in requests))
    return score + 0.1 * len(shape.labels - wanted)


def size_of(requests: Sequence[GuestRequest], shapes: Sequence[HostShape]) -> float:
    """Return the guests' largest share of an average host: pinned or floating CPUs, or memory."""
    hosts = len(shapes) or 1
    pinning = sum(c.pinning.bit_count() for s in shapes for c in s.cells) / hosts or 1.0
    floating = sum(c.floating.bit_count() * s.cpu_ratio for s in shapes for c in s.cells) / hosts
    memory = sum(c.memory_mib for s in shapes for c in s.cells) / hosts or 1.0
    pins = sum(request.pinned_count for request in requests)
    floats = sum(len(cell.floating) for request in requests for cell in request.cells)
    mib = sum(request.memory_mib for request in requests)
    return max(pins / pinning, floats / (floating or 1.0), mib / memory)


def nova_choice(fitting: Sequence[int], classes: ClassView) -> int | None:
    """Return the class that Nova would choose.

    Nova's RAM, CPU and PCI weighers count, each normalised, with weight 1. Among equal weights Nova
    takes the host listed first.
    """
    if not fitting:
        return None
    raw = [_nova_weights(classes.shape(n), classes.use(n)) for n in fitting]
    total = [0.0] * len(fitting)
    for position in range(3):
        column = [weights[position] for weights in raw]
        low = min(column) if position == 2 else 0.0
        span = max(column) - low
        if span > 0:
            total = [t + (value - low) / span for t, value in zip(total, column, strict=True)]
    ranked = zip(total, (classes.first_host(n) for n in fitting), fitting, strict=True)
    return min(ranked, key=lambda entry: (-entry[0], entry[1]))[2]


def _nova_weights(shape: HostShape, use: HostUse) -> tuple[float, float, float]:
    """Return free RAM in MiB, free vCPUs, and a value that falls with free PCI devices."""
    ram = sum(c.memory_mib - u.memory_used_mib for c, u in zip(shape.cells, use.cells, strict=True))
    cpus = 0.0
    for cell, used in zip(shape.cells, use.cells, strict=True):
        everything = (cell.floating | cell.pinning).bit_count()
        pinned = (cell.pinning & ~used.free).bit_count()
        cpus += everything * shape.cpu_ratio - used.cpus_used - pinned
    devices = min(sum(use.devices_free), NOVA_MAX_DEVICES - 1)
    return max(0.0, ram), max(0.0, cpus), float(NOVA_MAX_DEVICES - devices)
