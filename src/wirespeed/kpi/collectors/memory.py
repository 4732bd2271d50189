# SPDX-License-Identifier: Apache-2.0
"""Collect free memory and huge pages of each NUMA node."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.files import Texts, file_source
from wirespeed.kpi.interface import NUMBER, OCTETS, Missing, Name, Source, gauge
from wirespeed.remote.interface import Runner

_NODE = "/sys/devices/system/node/node"
_MEMORY = f"{_NODE}[0-9]*/meminfo"
_PAGES = f"{_NODE}[0-9]*/hugepages/hugepages-*kB/"
_LINE = re.compile(r"Node (\d+) (MemTotal|MemFree):\s+(\d+) kB")
_POOL = re.compile(r"node(\d+)/hugepages/hugepages-(\d+)kB/(nr|free)_hugepages$")
_KEYS = {
    "MemTotal": "memory_size_bytes", "MemFree": "memory_free_bytes",
    "nr": "huge_pages", "free": "huge_pages_free",
}  # fmt: skip


class MemoryCollector:
    name = "memory"
    cheap = True
    metrics = (
        gauge("memory_size_bytes", OCTETS, "node", "Memory of a NUMA node", _MEMORY,
              term="Memory total"),
        gauge("memory_free_bytes", OCTETS, "node", "Free memory of a NUMA node", _MEMORY,
              term="Memory free, sampled"),
        gauge("huge_pages", NUMBER, "node size_kib", "Huge pages of a node", _PAGES),
        gauge("huge_pages_free", NUMBER, "node size_kib", "Free huge pages of a node", _PAGES),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        paths = runner.glob(_MEMORY, f"{_PAGES}nr_hugepages", f"{_PAGES}free_hugepages")
        if not paths:
            return Missing(f"{_NODE}*: the kernel lists no NUMA node")
        return file_source(self.name, runner, paths, parse)


def parse(texts: Texts) -> Mapping[Name, int]:
    """Return memory in octets and pages by node."""
    found: dict[Name, int] = {}
    for path, text in texts.items():
        if pool := _POOL.search(path):
            node, size_kib, which = pool.groups()
            found[_KEYS[which], (node, size_kib)] = int(text)
        else:
            for node, which, kib in _LINE.findall(text):
                found[_KEYS[which], (node,)] = int(kib) * 1024
    return found
