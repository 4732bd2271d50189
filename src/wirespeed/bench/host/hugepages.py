# SPDX-License-Identifier: Apache-2.0
"""Reserve the huge pages that a run needs: add only the shortfall, and return it afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wirespeed.bench.host.changes import POOLS_LOCK, HugePagesAdded
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import BenchError
from wirespeed.model.plan.plan import HugePages
from wirespeed.remote.interface import Runner


@contextmanager
def reserved(host: Host, wanted: Sequence[HugePages]) -> Iterator[None]:
    """Ensure that each node has the wanted pages free; add the shortfall to its pool.

    Programs that take the pages must start in the body. Until then no other run may count the pages
    as free or return pages of its own: it waits. Raises BenchError when adding pages needs root, or
    when the kernel has too little contiguous memory.
    """
    if not wanted:
        yield
        return
    with host.runner.lock(POOLS_LOCK):
        for pages in wanted:
            _reserve_on_node(host, pages)
        yield


def _reserve_on_node(host: Host, wanted: HugePages) -> None:
    runner = host.runner
    pool = HugePagesAdded(wanted.node, wanted.size_kib, 0).pool
    size = f"{wanted.size_kib} KiB"
    try:
        free = max(0, _read(runner, pool, "free_hugepages") - _promised(runner, wanted.size_kib))
        total = _read(runner, pool, "nr_hugepages")
    except FileNotFoundError:
        raise BenchError(
            f"NUMA node {wanted.node} has no huge pages of {size}: {pool} does not exist",
            "`ls /sys/kernel/mm/hugepages` lists the sizes this kernel has.",
        ) from None
    short = wanted.count - free
    if short <= 0:
        return
    number = host.note(HugePagesAdded(wanted.node, wanted.size_kib, short))
    try:
        runner.write(f"{pool}/nr_hugepages", str(total + short))
    except PermissionError:
        host.forget(number)
        raise BenchError(
            f"NUMA node {wanted.node} has {free} free huge pages of {size}; the bench needs "
            f"{wanted.count}, and only root may reserve more",
            "Run as root, or use the `wire` topology, which needs no huge pages.",
        ) from None
    got = _read(runner, pool, "nr_hugepages") - total
    if got < short:
        runner.write(f"{pool}/nr_hugepages", str(total))
        host.forget(number)
        raise BenchError(
            f"NUMA node {wanted.node} has {free} free huge pages of {size} and the kernel could "
            f"make only {got} more; the bench needs {wanted.count}",
            "Free memory on this node, or reserve huge pages at boot "
            f"(kernel command line: hugepagesz={wanted.size_kib}K hugepages={wanted.count}).",
        )


def _read(runner: Runner, pool: str, name: str) -> int:
    return int(runner.read(f"{pool}/{name}"))


def _promised(runner: Runner, size_kib: int) -> int:
    """Return pages that are counted as free, but reserved for mappings not yet touched.

    PostgreSQL has such mappings. The kernel does not report their node, so all may be here.
    """
    try:
        return int(runner.read(f"/sys/kernel/mm/hugepages/hugepages-{size_kib}kB/resv_hugepages"))
    except FileNotFoundError:
        return 0
