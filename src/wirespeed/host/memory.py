# SPDX-License-Identifier: Apache-2.0
"""How much memory, which huge pages and how many memory channels does each NUMA node have?

Source: Documentation/admin-guide/mm/hugetlbpage.rst, ABI/stable/sysfs-devices-node, and the EDAC
drivers for the channels (dimm_location), which need no root, unlike SMBIOS tables.
"""

from __future__ import annotations

import re

from wirespeed.host.reader import Files, Reader
from wirespeed.model.facts import HugePagePool, NumaNode

SYS_NODE = "/sys/devices/system/node"
SYS_HUGEPAGES = "/sys/kernel/mm/hugepages"
EDAC = "/sys/devices/system/edac/mc"


def read_nodes(reader: Reader, online: tuple[int, ...]) -> tuple[NumaNode, ...]:
    """The NUMA nodes; a kernel without NUMA support shows as one node with every online CPU."""
    files = reader.many(
        [f"{SYS_NODE}/node[0-9]*/{name}" for name in ("cpulist", "distance", "meminfo")], "nodes"
    )
    ids = sorted({int(path.split("/")[-2].removeprefix("node")) for path in files})
    if not ids:
        return (_only_node(reader, online),)
    pools = _pools(reader, f"{SYS_NODE}/node[0-9]*/hugepages")
    return tuple(_node(reader, files, node, pools) for node in ids)


def _node(
    reader: Reader, files: Files, node: int, pools: dict[str, tuple[HugePagePool, ...]]
) -> NumaNode:
    base = f"{SYS_NODE}/node{node}"
    distance = f"{base}/distance"
    return NumaNode(
        id=node,
        cpus=reader.cpus(files, f"{base}/cpulist"),
        memory_kib=_kib(reader, files, f"{base}/meminfo", "MemTotal"),
        free_kib=_kib(reader, files, f"{base}/meminfo", "MemFree"),
        distances=tuple(
            reader.number({distance: text}, distance, 10)
            for text in files.get(distance, "10").split()
        ),
        huge_pages=pools.get(f"{base}/hugepages", ()),
    )


def _only_node(reader: Reader, online: tuple[int, ...]) -> NumaNode:
    files = reader.files(["/proc/meminfo"], "nodes")
    total, free = (_kib(reader, files, "/proc/meminfo", n) for n in ("MemTotal", "MemFree"))
    return NumaNode(
        0, online, total, free, (10,), _pools(reader, SYS_HUGEPAGES).get(SYS_HUGEPAGES, ())
    )


def _kib(reader: Reader, files: Files, path: str, name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", files.get(path, ""))
    if path in files and not found:
        reader.fault(path, f"has no {name} line in kB")
    return int(found[1]) if found else 0


def _pools(reader: Reader, folder: str) -> dict[str, tuple[HugePagePool, ...]]:
    """The pools below each folder that matches, by folder, smallest page first."""
    names = ("nr_hugepages", "free_hugepages")
    files = reader.many([f"{folder}/hugepages-*kB/{name}" for name in names], "huge_pages")
    found: dict[str, list[HugePagePool]] = {}
    for path in sorted(p for p in files if p.endswith("/nr_hugepages")):
        base, pool, _ = path.rsplit("/", 2)
        size_kib = int(pool.removeprefix("hugepages-").removesuffix("kB"))
        total = reader.number(files, path, 0)
        free = reader.number(files, f"{base}/{pool}/free_hugepages", 0)
        found.setdefault(base, []).append(HugePagePool(size_kib, total, free))
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
        if name == "dimm_location" and channel and reader.number(files, f"{base}/size", 0):
            controller = path.removeprefix(f"{EDAC}/").split("/")[0]
            channels.add((controller, int(channel[1])))
    if not channels:
        reader.lacks("memory_channels", f"needs the platform's EDAC driver (nothing in {EDAC})")
        return None
    return len(channels)
