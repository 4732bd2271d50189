# SPDX-License-Identifier: Apache-2.0
"""Read the running libvirt domains: their CPUs, memory, ports and Nova flavors.

`virsh -r` lists them (read-only, no root needed). With TripleO virsh lives in a container; the
status files of the running domains are read there instead, which needs root. Source: libvirt's
formatdomain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from wirespeed.host.reader import Reader
from wirespeed.model.cpuset import parse_list
from wirespeed.model.host.guest_facts import Flavor, Guest, GuestPort, VcpuPin

VIRSH = ["virsh", "-r", "-c", "qemu:///system"]
STATUS_FOLDER = "/run/libvirt/qemu"
KIB_PER_UNIT = {
    "b": 1 / 1024,
    "KiB": 1,
    "K": 1,
    "MiB": 1024,
    "M": 1024,
    "GiB": 1 << 20,
    "G": 1 << 20,
}


@dataclass(frozen=True, slots=True)
class GuestFacts:
    """The running domains and their flavors."""

    guests: tuple[Guest, ...] | None
    flavors: tuple[Flavor, ...] | None
    """Flavors that Nova (33 and later) wrote into the domains, without duplicates."""


def read_guests(reader: Reader) -> GuestFacts:
    """Return the running domains; guests is None where libvirt is absent or does not answer."""
    documents = _documents(reader)
    if documents is None:
        return GuestFacts(None, None)
    guests, flavors = [], {}
    for where, text in documents.items():
        try:
            domain = _domain(text)
            guests.append(_guest(domain))
            flavor = _flavor(domain)
        except (ArithmeticError, LookupError, ValueError, ET.ParseError) as fault:
            reader.fault(where, f"is not a libvirt domain: {fault}")
            continue
        if flavor:
            flavors[flavor.name] = flavor
    found = tuple(sorted(guests, key=lambda guest: guest.name))
    return GuestFacts(found, tuple(flavors[name] for name in sorted(flavors)) or None)


def _documents(reader: Reader) -> dict[str, str] | None:
    """Return the XML of each running domain, keyed by its source."""
    listed = reader.command([*VIRSH, "list", "--name"], "guests")
    if listed is None:
        return _status_files(reader)
    if listed.exit_code != 0:
        error = listed.stderr.strip().split("\n")[-1]
        if "No such file" not in error and "Connection refused" not in error:
            reader.lacks("guests", error)
        return None
    documents = {}
    for name in listed.stdout.split("\n"):
        if name.strip():
            done = reader.command([*VIRSH, "dumpxml", "--domain", name.strip()], "guests")
            if done is not None and done.exit_code == 0:
                documents[f"virsh dumpxml {name.strip()}"] = done.stdout
            elif done is not None and "Domain not found" not in done.stderr:
                # A domain that ended in between is no longer a guest of this host.
                reader.lacks("guests", f"virsh dumpxml {name.strip()}: {done.stderr.strip()}")
    return documents


def _status_files(reader: Reader) -> dict[str, str] | None:
    if not reader.names(STATUS_FOLDER, fact="guests"):
        return None
    documents = reader.many([f"{STATUS_FOLDER}/*.xml"], "guests")
    if not documents:
        reader.lacks("guests", f"needs virsh, or root to list {STATUS_FOLDER}")
        return None
    return documents


def _domain(text: str) -> ET.Element:
    # libvirt never writes a document type. In a recording it could only be an entity expansion
    # attack.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a document type declaration does not belong there")
    root = ET.fromstring(text)  # noqa: S314
    domain = root.find("domain") if root.tag == "domstatus" else root
    if domain is None or domain.tag != "domain":
        raise ValueError(f"its root is <{root.tag}>")
    return domain


def _guest(domain: ET.Element) -> Guest:
    emulator = domain.find("cputune/emulatorpin")
    memory = domain.find("memory")
    cpu = domain.find("cpu")
    return Guest(
        name=domain.findtext("name") or "",
        vcpus=int(domain.findtext("vcpu") or 0),
        memory_kib=_kib(memory) if memory is not None else 0,
        pins=tuple(
            VcpuPin(int(pin.attrib["vcpu"]), parse_list(pin.attrib["cpuset"]))
            for pin in domain.findall("cputune/vcpupin")
        ),
        emulator_cpus=parse_list(emulator.attrib["cpuset"]) if emulator is not None else None,
        memory_nodes=_memory_nodes(domain),
        huge_page_kib=_huge_page_kib(domain),
        ports=tuple(_port(interface) for interface in domain.findall("devices/interface")),
        host_devices=tuple(
            _address(source)
            for source in domain.findall("devices/hostdev[@type='pci']/source/address")
        ),
        cpu_mode=cpu.get("mode") if cpu is not None else None,
        cpu_model=domain.findtext("cpu/model"),
    )


def _kib(element: ET.Element) -> int:
    unit = element.get("unit", "KiB")
    if unit not in KIB_PER_UNIT:
        raise ValueError(f"unit {unit!r} of <{element.tag}> is unknown")
    return int(int(element.text or 0) * KIB_PER_UNIT[unit])


def _memory_nodes(domain: ET.Element) -> tuple[int, ...]:
    """Return the host's NUMA nodes that provide the guest's memory, one entry each."""
    tunes = domain.findall("numatune/memnode") or domain.findall("numatune/memory")
    return tuple(sorted({node for tune in tunes for node in parse_list(tune.get("nodeset", ""))}))


def _huge_page_kib(domain: ET.Element) -> int | None:
    """Return the smallest huge page size requested, in KiB.

    0: the host's default size. None: no huge pages.
    """
    pages = domain.find("memoryBacking/hugepages")
    if pages is None:
        return None
    sizes = [
        int(int(page.attrib["size"]) * KIB_PER_UNIT.get(page.get("unit", "KiB"), 1))
        for page in pages.findall("page")
    ]
    return min(sizes, default=0)


def _port(interface: ET.Element) -> GuestPort:
    source = interface.find("source")
    driver = interface.find("driver")
    address = interface.find("source/address")
    return GuestPort(
        kind=interface.get("type", ""),
        queues=int(driver.get("queues", "1")) if driver is not None else 1,
        path=source.get("path") if source is not None else None,
        pci=_address(address) if address is not None else None,
    )


def _address(element: ET.Element) -> str:
    """Return a PCI address in the kernel's notation, from libvirt's four attributes."""
    parts = [int(element.get(name, "0"), 16) for name in ("domain", "bus", "slot", "function")]
    return f"{parts[0]:04x}:{parts[1]:02x}:{parts[2]:02x}.{parts[3]:x}"


def _flavor(domain: ET.Element) -> Flavor | None:
    """Return the flavor in Nova's metadata, if this Nova writes extra specs there."""
    by_name = {re.sub(r"^\{.*\}", "", e.tag): e for e in domain.iterfind("metadata//*")}
    flavor, specs = by_name.get("flavor"), by_name.get("extraSpecs")
    if flavor is None or specs is None:
        return None
    sizes = {re.sub(r"^\{.*\}", "", e.tag): e.text or "0" for e in flavor}
    return Flavor(
        name=flavor.get("name", ""),
        vcpus=int(sizes.get("vcpus", "0")),
        memory_mib=int(sizes.get("memory", "0")),
        extra_specs={e.get("name", ""): e.text or "" for e in specs},
    )
