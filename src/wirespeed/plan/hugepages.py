# SPDX-License-Identifier: Apache-2.0
"""How many huge pages does a host get, and on which NUMA node?"""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.model.facts import HostFacts

SMALL_KIB = 4
# x86-64: every CPU with long mode has 2 MiB pages, one with the flag pdpe1gb 1 GiB pages as well.
X86_HUGE_KIB = 2048
X86_GIGANTIC_KIB = 1024 * 1024

# TripleO keeps 4 GiB for the host; JetPack 28672 MiB (20 GiB host, 8 GiB kernel).
TRIPLEO_HOST_GIB = 4
JETPACK_HOST_MIB = 28672

# Never leave a node less than this: S3 figure 5 shows a node with 140 MB free (audit rule 27).
NODE_FLOOR_MIB = 1024


def offers_pages(facts: HostFacts, size_kib: int) -> bool:
    """Whether the host can have pages of this size.

    The kernel lists its sizes even where no page is reserved. For a host without such a list (an
    old kernel, a file written by hand) the CPU's flags decide; without flags every size is offered.
    """
    listed = {pool.size_kib for node in facts.nodes for pool in node.huge_pages}
    if listed:
        return size_kib in listed | {SMALL_KIB}
    if not facts.cpu_flags:
        return True
    gigantic = {X86_GIGANTIC_KIB} if "pdpe1gb" in facts.cpu_flags else set()
    return size_kib in {SMALL_KIB, X86_HUGE_KIB} | gigantic


def tripleo_count(memory_gib: int, percent: int) -> int:
    """TripleO's derived 1 GiB pages of a host: int((GB - 4) * percent), 192 GB at 50 % = 94."""
    return int((memory_gib - TRIPLEO_HOST_GIB) * percent / 100)


def jetpack_count(memory_mib: int) -> int:
    """JetPack's 1 GiB pages of a host: (196608 - 28672) / 1024 = 164.

    JetPack divides without rounding, so that S3's command line reads hugepages=164.0.
    """
    return (memory_mib - JETPACK_HOST_MIB) // 1024


def node_reserve_mib(host_reserve_mib: int, nodes: int) -> int:
    """What each node keeps in small pages for the host: an even share, at least 1 GiB."""
    return max(NODE_FLOOR_MIB, -(-host_reserve_mib // nodes))


def spread_evenly(count: int, nodes: tuple[int, ...]) -> dict[int, int]:
    """How the kernel spreads hugepages=N: evenly, the remainder on the first nodes."""
    each, rest = divmod(count, len(nodes))
    return {node: each + (index < rest) for index, node in enumerate(nodes)}


def hugepages_argument(counts: Mapping[int, int], kernel_release: str) -> str:
    """The value of hugepages= for these counts of one size.

    Equal counts are written as their sum, which the kernel spreads evenly. Unequal ones need
    node:count pairs (Linux 5.16 and later); an older kernel gets the largest count on every node.
    """
    if len(set(counts.values())) == 1:
        return str(sum(counts.values()))
    if understands_node_counts(kernel_release):
        return ",".join(f"{node}:{count}" for node, count in sorted(counts.items()) if count)
    return str(max(counts.values()) * len(counts))


def understands_node_counts(kernel_release: str) -> bool:
    """Whether the kernel reads hugepages=0:8,1:4 (since 5.16)."""
    numbers = kernel_release.partition("-")[0].split(".")
    try:
        return (int(numbers[0]), int(numbers[1])) >= (5, 16)
    except (ValueError, IndexError):
        return False
