# SPDX-License-Identifier: Apache-2.0
"""How much memory, which huge pages and how many memory channels does each NUMA node have?

Source: Documentation/admin-guide/mm/hugetlbpage.rst, ABI/stable/sysfs-devices-node, and the EDAC
drivers for the channels (dimm_location), which need no root, unlike SMBIOS tables.
"""

from __future__ import annotations

import re

from wirespeed.host.reader import Reader
from wirespeed.model.cpuset import parse_list
from wirespeed.model.facts import HugePagePool, NumaNode

SYS_NODE = "/sys/devices/system/node"
EDAC = "/sys/devices/system/edac/mc"


def read_nodes(reader: Reader, online: tuple[int, ...]) -> tuple[NumaNode, ...]:
    """The NUMA nodes; a kernel without NUMA support shows as one node with every online CPU."""
    files = reader.many(
        [f"{SYS_NODE}/node[0-9]*/{name}" for name in ("cpulist", "distance", "meminfo")], "nodes"
    )
    ids = sorted({int(re.findall(r"/node(\d+)/", path)[0]) for path in files})
    if not ids:
        return (_only_node(reader, online),)
    pools = _pools(reader, f"{SYS_NODE}/node[0-9]*/hugepages")
    nodes = []
    for node in ids:
        base = f"{SYS_NODE}/node{node}"
        memory = files.get(f"{base}/meminfo", "")
        nodes.append(
            NumaNode(
                id=node,
                cpus=parse_list(files.get(f"{base}/cpulist", "")),
                memory_kib=_kib(memory, "MemTotal"),
                free_kib=_kib(memory, "MemFree"),
                distances=tuple(int(d) for d in files.get(f"{base}/distance", "10").split()),
                huge_pages=pools.get(f"{base}/hugepages", ()),
            )
        )
    return tuple(nodes)


def _only_node(reader: Reader, online: tuple[int, ...]) -> NumaNode:
    memory = reader.text("/proc/meminfo", "nodes") or ""
    pools = _pools(reader, "/sys/kernel/mm/hugepages").get("/sys/kernel/mm/hugepages", ())
    return NumaNode(0, online, _kib(memory, "MemTotal"), _kib(memory, "MemFree"), (10,), pools)


def _kib(meminfo: str, name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", meminfo)
    return int(found[1]) if found else 0


def _pools(reader: Reader, folder: str) -> dict[str, tuple[HugePagePool, ...]]:
    """The pools below each folder that matches, by folder, smallest page first."""
    names = ("nr_hugepages", "free_hugepages")
    files = reader.many([f"{folder}/hugepages-*kB/{name}" for name in names], "huge_pages")
    found: dict[str, list[HugePagePool]] = {}
    for path in sorted(p for p in files if p.endswith("/nr_hugepages")):
        base, pool, _ = path.rsplit("/", 2)
        size_kib = int(pool.removeprefix("hugepages-").removesuffix("kB"))
        free = int(files.get(f"{base}/{pool}/free_hugepages", "0"))
        found.setdefault(base, []).append(HugePagePool(size_kib, int(files[path]), free))
    return {base: tuple(sorted(p, key=lambda pool: pool.size_kib)) for base, p in found.items()}


def read_memory_channels(reader: Reader) -> int | None:
    """How many memory channels hold a DIMM, over all controllers; None where EDAC cannot say."""
    files = reader.many(
        [
            f"{EDAC}/mc[0-9]*/{kind}[0-9]*/{name}"
            for kind in ("dimm", "rank")
            for name in ("dimm_location", "size")
        ],
        "memory_channels",
    )
    channels = set()
    for path, text in files.items():
        base, name = path.rsplit("/", 1)
        channel = re.search(r"channel (\d+)", text)
        if name == "dimm_location" and channel and files.get(f"{base}/size", "0") != "0":
            controller = path.removeprefix(EDAC).split("/")[1]
            channels.add((controller, int(channel[1])))
    if not channels:
        reader.lacks("memory_channels", f"needs the platform's EDAC driver (nothing in {EDAC})")
        return None
    return len(channels)
