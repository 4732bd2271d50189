# SPDX-License-Identifier: Apache-2.0
"""Read the memory, the huge pages and the memory channels of each NUMA node.

Source: Documentation/admin-guide/mm/hugetlbpage.rst and memory-hotplug.rst,
ABI/stable/sysfs-devices-node, and the EDAC drivers for the channels (dimm_location), which need no
root, unlike SMBIOS tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirespeed.host.reader import Files, Reader, whole
from wirespeed.model.host.facts import HugePagePool, NumaNode

SYS_NODE = "/sys/devices/system/node"
SYS_MEMORY = "/sys/devices/system/memory"
SYS_HUGEPAGES = "/sys/kernel/mm/hugepages"
EDAC = "/sys/devices/system/edac/mc"
# edac_layer_name in Linux's edac_mc.c has the words; a driver without channels has other layers.
_LOCATION = re.compile(r"(?:(?:branch|channel|slot|csrow|memory) [0-9]{1,9} ?)+")


def read_nodes(reader: Reader, online: tuple[int, ...]) -> tuple[NumaNode, ...]:
    """Return the NUMA nodes; a kernel without NUMA support has one node with every online CPU."""
    files = reader.many(
        [f"{SYS_NODE}/node[0-9]*/{name}" for name in ("cpulist", "distance", "meminfo")], "nodes"
    )
    ids = sorted({int(path.split("/")[-2].removeprefix("node")) for path in files})
    if not ids:
        return (_only_node(reader, online),)
    pools = _pools(reader, f"{SYS_NODE}/node[0-9]*/hugepages")
    blocks = _blocks_of_nodes(reader)
    return tuple(_node(reader, files, node, pools, blocks) for node in ids)


def _node(
    reader: Reader,
    files: Files,
    node: int,
    pools: Mapping[str, tuple[HugePagePool, ...]],
    all_blocks: Mapping[int, _Blocks],
) -> NumaNode:
    blocks = all_blocks.get(node, _Blocks())
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
        installed_kib=blocks.installed_kib,
        online_kib=blocks.online_kib,
    )


def _only_node(reader: Reader, online: tuple[int, ...]) -> NumaNode:
    files = reader.files(["/proc/meminfo"], "nodes")
    total, free = (_kib(reader, files, "/proc/meminfo", n) for n in ("MemTotal", "MemFree"))
    pools = _pools(reader, SYS_HUGEPAGES).get(SYS_HUGEPAGES, ())
    states = reader.many([f"{SYS_MEMORY}/memory[0-9]*/state"], "memory_blocks")
    blocks = _count_blocks(states.values(), _block_kib(reader))
    return NumaNode(0, online, total, free, (10,), pools, blocks.installed_kib, blocks.online_kib)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Sizes of a node's memory blocks; None where the kernel has none."""

    installed_kib: int | None = None
    online_kib: int | None = None


def _blocks_of_nodes(reader: Reader) -> dict[int, _Blocks]:
    """Count the memory blocks of each node. A block that spans two nodes counts in both."""
    files = reader.many([f"{SYS_NODE}/node[0-9]*/memory[0-9]*/state"], "memory_blocks")
    size_kib = _block_kib(reader)
    states: dict[int, list[str]] = {}
    for path, state in files.items():
        node = int(path.removeprefix(f"{SYS_NODE}/node").partition("/")[0])
        states.setdefault(node, []).append(state)
    return {node: _count_blocks(found, size_kib) for node, found in states.items()}


def _count_blocks(states: Iterable[str], size_kib: int) -> _Blocks:
    """Add up memory blocks.

    The kernel takes the memory of a "going-offline" block away, so that state counts as offline.
    """
    found = list(states)
    if not found or not size_kib:
        return _Blocks()
    return _Blocks(len(found) * size_kib, found.count("online") * size_kib)


def _block_kib(reader: Reader) -> int:
    path = f"{SYS_MEMORY}/block_size_bytes"
    return reader.number(reader.files([path], "memory_blocks"), path, 0, base=16) // 1024


def _kib(reader: Reader, files: Files, path: str, name: str) -> int:
    found = re.search(rf"{name}:\s+([0-9]{{1,18}}) kB", files.get(path, ""))
    if path in files and not found:
        reader.fault(path, f"has no {name} line in kB")
    return int(found[1]) if found else 0


def _pools(reader: Reader, folder: str) -> dict[str, tuple[HugePagePool, ...]]:
    """Return the pools below each folder that matches, by folder, smallest page first."""
    names = ("nr_hugepages", "free_hugepages")
    files = reader.many([f"{folder}/hugepages-*kB/{name}" for name in names], "huge_pages")
    found: dict[str, list[HugePagePool]] = {}
    for path in sorted(files):
        base, pool, name = path.rsplit("/", 2)
        size_kib = whole(pool.removeprefix("hugepages-").removesuffix("kB"))
        if size_kib is None:
            reader.lacks("huge_pages", f"{path} is no path of a kernel")
        elif name == "nr_hugepages":
            total = reader.number(files, path, 0)
            free = reader.number(files, f"{base}/{pool}/free_hugepages", 0)
            found.setdefault(base, []).append(HugePagePool(size_kib, total, free))
    return {base: tuple(sorted(p, key=lambda pool: pool.size_kib)) for base, p in found.items()}


def read_memory_channels(reader: Reader) -> int | None:
    """Count the memory channels that hold a DIMM, over all controllers; None without EDAC data."""
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
        if name != "dimm_location" or not reader.number(files, f"{base}/size", 0):
            continue
        for place in reader.matches("memory_channels", path, text, _LOCATION, "a DIMM's place"):
            controller = path.removeprefix(f"{EDAC}/").split("/")[0]
            channels |= {(controller, n) for n in re.findall(r"channel ([0-9]+)", place[0])}
    if not channels:
        reader.lacks("memory_channels", f"needs the platform's EDAC driver (nothing in {EDAC})")
        return None
    return len(channels)
