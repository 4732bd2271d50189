# SPDX-License-Identifier: Apache-2.0
"""Reproduce the order in which Nova uses the cores of a node and the threads of a core.

Nova keeps a node's cores as a Python set of tuples and a core's threads as a set of integers. It
takes the first ones. It "sorts" the cores, but sets compare by inclusion, so the order of the set
remains. That order looks arbitrary but is the same in every process. CPython hashes integers and
tuples of them alike everywhere (64-bit, since 3.8). This module therefore builds the same sets.

Source: nova/virt/libvirt/driver.py _get_host_numa_topology, observed in a running Nova 26.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache


def cores_in_order(cores: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the cores (each its threads) of one node in Nova's order."""
    of_cpus = sorted((cpu, tuple(core)) for core in cores for cpu in core)
    return tuple({tuple(set(core)) for _, core in of_cpus})


# Numbers that collide in a small set swap places with each set built from it. A core passes through
# six: libvirt's text, a tuple, the CPUs for guests, the object's field, its JSON, and the field
# again.
_SETS = 6


@cache
def threads_in_order(core: int, free: int) -> tuple[int, ...]:
    """Return a core's free CPUs in the order in which Nova takes them.

    core, free: CPU masks.
    """
    order = [bit for bit in range(core.bit_length()) if core >> bit & 1]
    for _ in range(_SETS):
        order = list(set(order))
    return tuple({cpu for cpu in order if free >> cpu & 1})
