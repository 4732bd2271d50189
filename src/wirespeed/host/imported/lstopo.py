# SPDX-License-Identifier: Apache-2.0
"""Read a host's topology from XML of hwloc 2 or 3: `lstopo --of xml`.

What the file has becomes the files of /sys with the same content, so that it is read as any host
is. Source: hwloc2.dtd and topology-xml.c of hwloc 2.0 to 2.12; hwloc's bitmap_snprintf for sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirespeed.host.imported.xml_tree import Element, Unsafe, parse
from wirespeed.model.cpuset import MAX_CPU, format_list
from wirespeed.model.errors import BadInput
from wirespeed.model.input.text import printable
from wirespeed.remote.archived import ArchivedRunner
from wirespeed.remote.file_tree import FileTree
from wirespeed.remote.pci import SYS_PCI

_NEXT = "Write it with `lstopo --of xml FILE.xml`."
_CPU, _NODE = "/sys/devices/system/cpu", "/sys/devices/system/node"
_CACHE_KINDS = {"0": "Unified", "1": "Data", "2": "Instruction"}
# HWLOC_OBJ_OSDEV_NETWORK, which hwloc 3 made a bit.
_NETWORK = {"2": "2", "3": "16"}
# Names of hwloc's information about a machine, and the files that it is read from.
_INFOS = {
    "HostName": "/proc/sys/kernel/hostname",
    "OSRelease": "/proc/sys/kernel/osrelease",
    "DMISysVendor": "/sys/class/dmi/id/sys_vendor",
    "DMIProductName": "/sys/class/dmi/id/product_name",
    "DMIBIOSVersion": "/sys/class/dmi/id/bios_version",
    "DMIBIOSDate": "/sys/class/dmi/id/bios_date",
}
_LACKING = {
    "free_memory": "the XML of lstopo has no free memory",
    "cpu_flags": "the XML of lstopo has no feature flags of CPUs",
    "governors": "the XML of lstopo has no frequency governors",
    "pci": "the XML of lstopo has no drivers, VFs, IOMMU groups and widths of links",
}
# A number of an attribute has at most as many digits.
_DIGITS = 18
# NR_CPUS and MAX_NUMNODES of x86, levels of caches, and the largest ordinary page of arm64.
_CPUS, _NODES, _CACHES, _ORDINARY_KIB = 8192, 1024, 10, 64


def read_lstopo(content: bytes, name: str, host: str) -> tuple[ArchivedRunner, Mapping[str, str]]:
    """Return the host, and the facts that no such file has, with reasons. Raises BadInput.

    name: of the file, in errors. host: name of a host whose name is not in the file.
    """
    try:
        root = parse(content)
        version = root.get("version")
        if root.tag != "topology" or version[:1] not in _NETWORK:
            what = f"is <{root.tag}> of version {version or 1}, not a topology of hwloc 2 or later"
            raise Unsafe(what)
        return _host(root, FileTree(name), host)
    except Unsafe as fault:
        raise BadInput(f"{name}: {printable(str(fault), 200)}", _NEXT) from None


def _host(root: Element, tree: FileTree, host: str) -> tuple[ArchivedRunner, Mapping[str, str]]:
    objects = [(each, above) for each, above in root.walk() if each.tag == "object"]
    cpus = {_number(each, "os_index") for each, _ in objects if _is(each, "PU")}
    if not objects or not cpus or len(cpus) > _CPUS or max(cpus) > MAX_CPU:
        raise Unsafe(f"has {len(cpus)} PUs of at most {_CPUS}, numbered up to {MAX_CPU}")
    _write_cpus(tree, objects, _Sets(cpus))
    nodes = _write_nodes(tree, objects, root, _Sets(cpus))
    _write_devices(tree, objects, _NETWORK[root.get("version")[:1]], nodes)
    for each, _ in root.walk():
        if each.tag == "info" and each.get("name") in _INFOS:
            tree.add(_INFOS[each.get("name")], f"{each.get('value')}\n")
    models = [each.get("value") for each, _ in root.walk() if each.get("name") == "CPUModel"]
    if models:
        tree.add("/proc/cpuinfo", f"model name\t: {printable(models[0])}\n")
    lacking = dict(_LACKING)
    if hidden := set(_set(objects[0][0], "complete_cpuset")) - cpus:
        lacking["cpus"] = f"lstopo was not allowed to use CPUs {format_list(hidden)}"
    if any(_is(each, "NUMANode") and not each.get("local_memory") for each, _ in objects):
        lacking["nodes"] = "the XML of lstopo has no memory of a NUMA node"
    return ArchivedRunner(tree, host, "the XML of lstopo"), lacking


class _Sets:
    """The CPUs of objects as the kernel lists them: of those that the file has."""

    def __init__(self, cpus: set[int]) -> None:
        self.cpus = cpus
        self._lists: dict[int, str] = {}

    def of(self, element: Element) -> str:
        """Return the list; each is made once, since thousands of CPUs share a cache."""
        if id(element) not in self._lists:
            found = self.cpus.intersection(_set(element, "cpuset"))
            self._lists[id(element)] = format_list(found) + "\n"
        return self._lists[id(element)]


_Placed = tuple[Element, tuple[Element, ...]]


def _write_cpus(tree: FileTree, objects: list[_Placed], sets: _Sets) -> None:
    """Add the CPUs with their cores, packages and caches."""
    for unit, above in objects:
        if not _is(unit, "PU"):
            continue
        cpu = _number(unit, "os_index")
        core, package = _nearest(above, "Core"), _nearest(above, "Package")
        folder = f"{_CPU}/cpu{cpu}/topology"
        tree.add(f"{folder}/thread_siblings_list", sets.of(core) if core else f"{cpu}\n")
        # A core without a number is the only one of its CPU, as the kernel numbers it.
        number = _number(core, "os_index") if core and core.get("os_index") else cpu
        tree.add(f"{folder}/core_id", f"{number}\n")
        place = _number(package, "os_index") if package and package.get("os_index") else 0
        tree.add(f"{folder}/physical_package_id", f"{place}\n")
        caches = [each for each in reversed(above) if each.get("cache_size")]
        for index, cache in enumerate(caches[:_CACHES]):
            _write_cache(tree, f"{_CPU}/cpu{cpu}/cache/index{index}", cache, sets)
    for name in ("present", "online"):
        tree.add(f"{_CPU}/{name}", format_list(sets.cpus) + "\n")


def _write_cache(tree: FileTree, folder: str, cache: Element, sets: _Sets) -> None:
    kind = _CACHE_KINDS.get(cache.get("cache_type"), "Unified")
    tree.add(f"{folder}/level", f"{_number(cache, 'depth')}\n")
    tree.add(f"{folder}/type", f"{kind}\n")
    tree.add(f"{folder}/size", f"{_number(cache, 'cache_size') >> 10}K\n")
    tree.add(f"{folder}/shared_cpu_list", sets.of(cache))


def _write_nodes(
    tree: FileTree, objects: list[_Placed], root: Element, sets: _Sets
) -> tuple[int, ...]:
    """Add the NUMA nodes with memory and pools of huge pages. Returns their numbers."""
    found = {_number(each, "os_index"): each for each, _ in objects if _is(each, "NUMANode")}
    nodes = tuple(sorted(found))
    if len(nodes) > _NODES:
        raise Unsafe(f"has {len(nodes)} NUMA nodes, more than {_NODES}")
    distances = _distances(root, nodes)
    for node in nodes:
        folder = f"{_NODE}/node{node}"
        memory = found[node].get("local_memory") and _number(found[node], "local_memory")
        tree.add(f"{folder}/cpulist", sets.of(found[node]))
        # The file has no free memory, which is noted; the kernel's file always has a number.
        total = f"Node {node} MemTotal: {int(memory or 0) >> 10} kB\n"
        tree.add(f"{folder}/meminfo", f"{total}Node {node} MemFree: 0 kB\n")
        tree.add(f"{folder}/distance", " ".join(str(distances[node, to]) for to in nodes) + "\n")
        _write_pools(tree, folder, found[node])
    return nodes


def _write_pools(tree: FileTree, folder: str, node: Element) -> None:
    for page in node.children:
        kib = _number(page, "size") >> 10 if page.tag == "page_type" else 0
        # The smallest type is the kernel's ordinary page.
        if kib > _ORDINARY_KIB:
            pool = f"{folder}/hugepages/hugepages-{kib}kB"
            tree.add(f"{pool}/nr_hugepages", f"{_number(page, 'count')}\n")
            tree.add(f"{pool}/free_hugepages", "0\n")


def _distances(root: Element, nodes: tuple[int, ...]) -> Mapping[tuple[int, int], int]:
    """Return the distances of the firmware; of a file without them, those of ACPI's default."""
    for table in root.children:
        values = [int(v) for v in _words(table, "u64values") if v.isdigit() and len(v) < _DIGITS]
        places = [int(i) for i in _words(table, "indexes") if i.isdigit() and len(i) < _DIGITS]
        if table.get("name") == "NUMALatency" and sorted(places) == list(nodes):
            pairs = [(one, to) for one in places for to in places]
            if len(values) == len(pairs):
                return dict(zip(pairs, values, strict=True))
    return {(one, to): 10 if one == to else 20 for one in nodes for to in nodes}


def _words(table: Element, tag: str) -> Iterator[str]:
    for each in table.children:
        if each.tag == tag:
            yield from each.text.split()


def _write_devices(
    tree: FileTree, objects: list[_Placed], network: str, nodes: tuple[int, ...]
) -> None:
    for device, above in objects:
        words = device.get("pci_type").split()
        if not _is(device, "PCIDev") or len(words) < 2:
            continue
        folder = f"{SYS_PCI}/{printable(device.get('pci_busid').replace('/', '_'), 20)}"
        vendor, _, model = words[1].strip("[]").partition(":")
        # It hangs below the object whose CPUs and nodes are next to it.
        near = next((each for each in reversed(above) if each.get("nodeset")), None)
        local = [node for node in (_set(near, "nodeset") if near else ()) if node in nodes]
        files = {"class": f"0x{words[0]}00", "vendor": f"0x{vendor}", "device": f"0x{model}",
                 "numa_node": str(local[0]) if len(local) == 1 else "-1"}  # fmt: skip
        for name, text in files.items():
            tree.add(f"{folder}/{name}", f"{text}\n")
        for each, _ in device.walk():
            if _is(each, "OSDev") and each.get("osdev_type") == network:
                tree.add(f"{folder}/net/{each.get('name').replace('/', '_')}", {})


def _is(element: Element, kind: str) -> bool:
    return element.get("type") == kind


def _nearest(above: tuple[Element, ...], kind: str) -> Element | None:
    return next((each for each in reversed(above) if _is(each, kind)), None)


def _number(element: Element, name: str) -> int:
    text = element.get(name)
    if not text.isdecimal() or not text.isascii() or len(text) > _DIGITS:
        kind = element.get("type") or element.tag
        raise Unsafe(f"{name} of {kind} is {text[:40]!r}, not a whole number")
    return int(text)


def _set(element: Element, name: str) -> tuple[int, ...]:
    """Return the numbers of a set: words of 32 bits in hexadecimal, the highest first."""
    text = element.get(name)
    value = 0
    for word in text.split(","):
        try:
            # hwloc writes nothing for a word of zeros.
            bits = int(word or "0", 16)
        except ValueError:
            bits = -1
        if not 0 <= bits < 1 << 32 or value.bit_length() > MAX_CPU:
            raise Unsafe(f"{name} {text[:40]!r} is not a set of numbers")
        value = value << 32 | bits
    return tuple(bit for bit in range(value.bit_length()) if value >> bit & 1)
