# SPDX-License-Identifier: Apache-2.0
"""Compute the number of huge pages of a host and of each NUMA node."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.model.host.facts import HostFacts

SMALL_KIB = 4
# x86-64: every CPU with long mode has 2 MiB pages; one with the flag pdpe1gb also has 1 GiB pages.
X86_HUGE_KIB = 2048
X86_GIGANTIC_KIB = 1024 * 1024

# TripleO keeps 4 GiB for the host; JetPack 28672 MiB (20 GiB host, 8 GiB kernel).
TRIPLEO_HOST_GIB = 4
JETPACK_HOST_MIB = 28672

# S3 figure 5 shows a node with 140 MB free (audit rule 27).
NODE_FLOOR_MIB = 1024


def offers_pages(facts: HostFacts, size_kib: int) -> bool:
    """Return whether the host can have pages of this size.

    The kernel lists its sizes even if no page is reserved. Without such a list (an old kernel, a
    file written by hand) the CPU's flags decide. Without flags every size is offered.
    """
    listed = {pool.size_kib for node in facts.nodes for pool in node.huge_pages}
    if listed:
        return size_kib in listed | {SMALL_KIB}
    if not facts.cpu_flags:
        return True
    gigantic = {X86_GIGANTIC_KIB} if "pdpe1gb" in facts.cpu_flags else set()
    return size_kib in {SMALL_KIB, X86_HUGE_KIB} | gigantic


def tripleo_count(memory_gib: int, percent: int) -> int:
    """Return TripleO's 1 GiB pages of a host: int((GB - 4) * percent), 192 GB at 50% = 94."""
    return int((memory_gib - TRIPLEO_HOST_GIB) * percent / 100)


def jetpack_count(memory_mib: int) -> int:
    """Return JetPack's 1 GiB pages of a host: (196608 - 28672) / 1024 = 164.

    JetPack divides without rounding, so S3's command line reads hugepages=164.0.
    """
    return (memory_mib - JETPACK_HOST_MIB) // 1024


def node_reserve_mib(host_reserve_mib: int, nodes: int) -> int:
    """Return the small pages in MiB that each node keeps: an even share, at least 1 GiB."""
    return max(NODE_FLOOR_MIB, -(-host_reserve_mib // nodes))


def spread_evenly(count: int, nodes: tuple[int, ...]) -> dict[int, int]:
    """Return the pages of each node as the kernel spreads hugepages=N.

    Every node gets an equal share, the first nodes one more page for the remainder.
    """
    each, rest = divmod(count, len(nodes))
    return {node: each + (index < rest) for index, node in enumerate(nodes)}


def hugepages_argument(counts: Mapping[int, int], kernel_release: str) -> str:
    """Return the value of hugepages= for these counts of one size.

    Equal counts are written as their sum, which the kernel spreads evenly. Unequal counts need
    node:count pairs (Linux 5.16 and later). An older kernel gets the largest count on every node.
    """
    if len(set(counts.values())) == 1:
        return str(sum(counts.values()))
    if understands_node_counts(kernel_release):
        return ",".join(f"{node}:{count}" for node, count in sorted(counts.items()) if count)
    return str(max(counts.values()) * len(counts))


def understands_node_counts(kernel_release: str) -> bool:
    """Return whether the kernel supports hugepages=0:8,1:4 (since 5.16)."""
    numbers = kernel_release.partition("-")[0].split(".")
    try:
        return (int(numbers[0]), int(numbers[1])) >= (5, 16)
    except (ValueError, IndexError):
        return False
