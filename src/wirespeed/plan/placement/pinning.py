# SPDX-License-Identifier: Apache-2.0
"""Choose the host CPUs of a guest node under a thread policy.

The semantics are those of Nova's _pack_instance_onto_cores (nova/virt/hardware.py, release 34):
emptier cores first, siblings together. The threads of a core are in Nova's order (nova_order.py),
the cores in that of the cell. None means that the policy cannot be met.
"""

from __future__ import annotations

from wirespeed.model.plan.policy import ThreadPolicy
from wirespeed.plan.placement.host import CellShape
from wirespeed.plan.placement.nova_order import threads_in_order

Pinning = tuple[tuple[int, ...], int, int]  # pins, reserved mask, taken mask


def pin_cell(
    cell: CellShape, free: int, count: int, policy: ThreadPolicy | None, reserve: int
) -> Pinning | None:
    """Return CPUs for `count` vCPUs and `reserve` (0 or 1) CPUs for emulator threads."""
    if policy is None or policy is ThreadPolicy.PREFER:
        return _prefer(cell, free, count, reserve)
    if policy is ThreadPolicy.REQUIRE:
        return _require(cell, free, count, reserve)
    if policy is ThreadPolicy.ISOLATE:
        return _isolate(cell, free, count, reserve)
    if policy is ThreadPolicy.SEPARATE:
        return _separate(cell, free, count, reserve)
    return _prefer(cell, free, count, reserve) if cell.threads == 1 else None


def _prefer(cell: CellShape, free: int, count: int, reserve: int) -> Pinning | None:
    """Pin to siblings if enough cores have them free, otherwise to any free CPUs."""
    if free.bit_count() < count + reserve or (reserve and not count):
        return None
    threads = _threads_that_suffice(cell, free, count, 1)
    cores = cell.cores
    pins = _take(cores, free, threads, count) if threads else _lowest(cores, free, count)
    return _with_reserve(cell, free, pins, reserve)


def _require(cell: CellShape, free: int, count: int, reserve: int) -> Pinning | None:
    """Pin to siblings only; an odd count leaves one sibling unused."""
    if cell.threads < 2 or free.bit_count() < count + reserve or (reserve and not count):
        return None
    threads = _threads_that_suffice(cell, free, count, 2)
    if not threads:
        return None
    return _with_reserve(cell, free, _take(cell.cores, free, threads, count), reserve)


def _isolate(cell: CellShape, free: int, count: int, reserve: int) -> Pinning | None:
    """Pin one vCPU per core and leave its siblings unused.

    It needs SMT off, or Nova's legacy vcpu_pin_set. With legacy settings both CPU sets are equal;
    otherwise Nova refuses SMT hosts (bug 1889633).
    """
    if not count or (cell.threads > 1 and cell.pinning != cell.floating):
        return None
    whole = [core for core in cell.cores if core & free == core]
    whole = [core for core in whole if core.bit_count() == cell.threads]
    if len(whole) < count + reserve:
        return None
    pins = tuple(threads_in_order(core, core)[0] for core in whole[:count])
    taken = 0
    for core in whole[: count + reserve]:
        taken |= core
    reserved = 1 << threads_in_order(whole[count], free)[0] if reserve else 0
    return pins, reserved, taken


def _separate(cell: CellShape, free: int, count: int, reserve: int) -> Pinning | None:
    """Pin every vCPU to a core of its own; other guests may get the siblings (S1).

    Cores with a sibling in use are taken first.
    """
    usable = sorted(
        (core & free for core in cell.cores if core & free), key=lambda core: core.bit_count()
    )
    if len(usable) < count or free.bit_count() < count + reserve or (reserve and not count):
        return None
    return _with_reserve(
        cell, free, tuple(threads_in_order(core, core)[0] for core in usable[:count]), reserve
    )


def _threads_that_suffice(cell: CellShape, free: int, count: int, least: int) -> int:
    """Return the largest number of threads per core for which enough cores qualify, or 0."""
    for threads in range(cell.threads, least - 1, -1):
        cores = 0
        for core in cell.cores:
            cores += (core & free).bit_count() >= threads
        # Nova skips a group without cores.
        if cores and threads * cores >= count:
            return threads
    return 0


def _take(cores: tuple[int, ...], free: int, threads: int, count: int) -> tuple[int, ...]:
    """Return the first `count` CPUs, at most `threads` from each core with that number free."""
    pins: list[int] = []
    if not count:
        return ()
    for core in cores:
        usable = core & free
        if usable.bit_count() < threads:
            continue
        for cpu in threads_in_order(core, usable)[:threads]:
            pins.append(cpu)
            if len(pins) == count:
                return tuple(pins)
    raise AssertionError("counted before: enough cores take part")


def _lowest(cores: tuple[int, ...], free: int, count: int) -> tuple[int, ...]:
    """Return the first `count` free CPUs, core after core."""
    pins: list[int] = []
    for core in cores:
        if len(pins) >= count:
            break
        pins += threads_in_order(core, core & free)
    return tuple(pins[:count])


def _with_reserve(cell: CellShape, free: int, pins: tuple[int, ...], reserve: int) -> Pinning:
    """Add the emulator's CPU: the first CPU still free, in core order."""
    taken = 0
    for cpu in pins:
        taken |= 1 << cpu
    if not reserve:
        return pins, 0, taken
    reserved = 1 << _lowest(cell.cores, free & ~taken, 1)[0]
    return pins, reserved, taken | reserved
