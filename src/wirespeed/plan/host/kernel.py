# SPDX-License-Identifier: Apache-2.0
"""Derive the kernel command line, with a reason for each argument (S3 table 4, S0, S1)."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Decision, HugePages
from wirespeed.plan.sizing.huge_pages import hugepages_argument, understands_node_counts

_SIZE_WORDS = {2048: "2M", 1048576: "1G"}


def kernel_arguments(
    facts: HostFacts,
    isolated: Sequence[int],
    pages: Sequence[HugePages],
    default_page_kib: int,
    extra: Sequence[str],
) -> tuple[Decision[str], ...]:
    """Return the arguments in the required order: each hugepagesz= before its hugepages=."""
    words = _page_words(facts, pages, default_page_kib)
    words.append(Decision(f"{_iommu_word(facts)}=on", "passthrough and vfio need the IOMMU (S1)"))
    words.append(Decision("iommu=pt", "no translation for the host's own devices (S3)"))
    cpus = format_list(isolated)
    if cpus:
        words += [
            Decision(f"isolcpus={cpus}", "no other task on the CPUs of PMDs and guests (S0, S3)"),
            Decision("nohz=on", "lets nohz_full stop the tick (S3)"),
            Decision(f"nohz_full={cpus}", "no timer tick on them; equal to isolcpus (S3)"),
            Decision(f"rcu_nocbs={cpus}", "no RCU callbacks on them; equal to isolcpus (S3)"),
        ]
    words.append(Decision("skew_tick=1", "ticks of the other CPUs do not contend (S3)"))
    if not is_amd(facts):
        words.append(Decision("intel_pstate=disable", "no frequency changes by the driver (S3)"))
    words.append(Decision("nosoftlockup", "a polling CPU is not a locked one (S3)"))
    words += [Decision(word, "kernel.extra of the workload") for word in extra]
    return tuple(words)


def _page_words(
    facts: HostFacts, pages: Sequence[HugePages], default_kib: int
) -> list[Decision[str]]:
    words = []
    sizes = sorted({page.size_kib for page in pages if page.count}, reverse=True)
    if sizes:
        default = size_word(default_kib if default_kib in sizes else sizes[0])
        words.append(Decision(f"default_hugepagesz={default}", "what mounts and DPDK take (S3)"))
    for size in sizes:
        counts = {page.node: page.count for page in pages if page.size_kib == size}
        per_node = ", ".join(f"node {node}: {count}" for node, count in sorted(counts.items()))
        argument = hugepages_argument(counts, facts.kernel.release)
        why = f"whole number (S3 wrote 164.0); {per_node}"
        if len(set(counts.values())) > 1 and not understands_node_counts(facts.kernel.release):
            why += f"; {facts.kernel.release} has no node:count, so all nodes get the largest count"
        words.append(Decision(f"hugepagesz={size_word(size)}", "the size of the next count"))
        words.append(Decision(f"hugepages={argument}", why))
    return words


def size_word(size_kib: int) -> str:
    """Return the kernel's spelling of a huge page size: 2M, 1G."""
    return _SIZE_WORDS.get(size_kib, f"{size_kib}K")


def is_amd(facts: HostFacts) -> bool:
    return "AMD" in facts.cpu_model


def _iommu_word(facts: HostFacts) -> str:
    return "amd_iommu" if is_amd(facts) else "intel_iommu"
