# SPDX-License-Identifier: Apache-2.0
"""Reserve the huge pages that a run needs: add only the shortfall, and return it afterwards."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wirespeed.bench.host.changes import POOLS_LOCK, HugePagesAdded
from wirespeed.bench.host.container import in_container
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


def check_reservable(runner: Runner, wanted: Sequence[HugePages]) -> None:
    """Raise BenchError where the pages are not free and this user cannot add them. Changes nothing.

    Only the kernel knows how many it can make when it is asked.
    """
    for pages in wanted:
        free, pool = _free(runner, pages)
        if pages.count > free:
            # Without it access(2) reports neither a read-only mount nor a user namespace.
            writable = runner.run(["test", "-w", f"{pool}/nr_hugepages"], check=False)
            if writable.exit_code != 0:
                raise _not_allowed(runner, pages, free)


def _free(runner: Runner, wanted: HugePages) -> tuple[int, str]:
    """Return the pages of the node that are free and promised to nobody, and the pool's folder."""
    pool = HugePagesAdded(wanted.node, wanted.size_kib, 0).pool
    try:
        free = _read(runner, pool, "free_hugepages") - _promised(runner, wanted.size_kib)
    except FileNotFoundError:
        raise BenchError(
            f"NUMA node {wanted.node} has no huge pages of {wanted.size_kib} KiB: {pool} does not "
            "exist",
            "`ls /sys/kernel/mm/hugepages` lists the sizes this kernel has.",
        ) from None
    return max(0, free), pool


def _not_allowed(runner: Runner, wanted: HugePages, free: int) -> BenchError:
    if in_container(runner):
        who, step = (
            "a container may reserve no more",
            f"Reserve them on its host (`sysctl vm.nr_hugepages={wanted.count}` for 2 MiB pages) "
            "and start it with `-v /dev/hugepages:/dev/hugepages --cap-add IPC_LOCK`.",
        )
    else:
        who = "only root may reserve more"
        step = "Run as root, or use the `wire` topology, which needs no huge pages."
    return BenchError(
        f"NUMA node {wanted.node} has {free} free huge pages of {wanted.size_kib} KiB; the bench "
        f"needs {wanted.count}, and {who}",
        step,
    )


def _reserve_on_node(host: Host, wanted: HugePages) -> None:
    runner = host.runner
    free, pool = _free(runner, wanted)
    size = f"{wanted.size_kib} KiB"
    total = _read(runner, pool, "nr_hugepages")
    short = wanted.count - free
    if short <= 0:
        return
    number = host.note(HugePagesAdded(wanted.node, wanted.size_kib, short))
    try:
        runner.write(f"{pool}/nr_hugepages", str(total + short))
    except OSError as fault:
        host.forget(number)
        if fault.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        raise _not_allowed(runner, wanted, free) from None
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
