# SPDX-License-Identifier: Apache-2.0
"""In which order does Nova go through the cores of a node, and through the threads of a core?

Nova keeps a node's cores as a Python set of tuples and a core's threads as a set of integers, and
takes the first ones. It "sorts" the cores, but sets compare by inclusion, so that their order stays
that of the set. It looks arbitrary and is the same in every process: CPython hashes integers and
tuples of them alike everywhere (64-bit, since 3.8). So the same sets are made here.

Source: nova/virt/libvirt/driver.py _get_host_numa_topology, seen in Nova 26.2 as it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache


def cores_in_order(cores: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The cores (each its threads) of one node as Nova goes through them."""
    of_cpus = sorted((cpu, tuple(core)) for core in cores for cpu in core)
    return tuple({tuple(set(core)) for _, core in of_cpus})


@cache
def threads_in_order(mask: int) -> tuple[int, ...]:
    """The CPUs of a mask (one core's) as Nova takes them."""
    return tuple({bit for bit in range(mask.bit_length()) if mask >> bit & 1})
