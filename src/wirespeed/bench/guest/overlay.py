# SPDX-License-Identifier: Apache-2.0
"""Adapt the domain that the plan renders so that it starts on this host. Pure.

Only what the host lacks and what the bench needs for control is changed. Each change is reported
with its reason and stored in the result, which so shows what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from wirespeed.image.machine import CONTROL_PORT
from wirespeed.model.cpuset import format_list, parse_list

Element = Xml.Element

# libvirt's name of words that go to QEMU as they are.
_QEMU = "http://libvirt.org/schemas/domain/qemu/1.0"
Xml.register_namespace("qemu", _QEMU)


@dataclass(frozen=True, slots=True)
class Boot:
    """Files and settings that a guest boots from."""

    kernel: str
    initrd: str
    root: str
    command_line: str
    serial: str
    """Serial number of the disk, by which the guest finds it."""
    files: Mapping[str, str]
    """Content passed to the guest by fw_cfg, by name."""


@dataclass(frozen=True, slots=True)
class Tap:
    """Existing network interface of the host that becomes a port of the guest."""

    interface: str


@dataclass(frozen=True, slots=True)
class Vf:
    """Virtual function, bound to vfio-pci, that becomes a port of the guest."""

    address: str
    """PCI address on the host."""
    slot: int
    """Slot on the guest's root bus, for a guest whose kernel has no driver for the VF."""

    @property
    def guest_address(self) -> str:
        return f"0000:00:{self.slot:02x}.0"


# Attachment of a guest's NIC: the path of a vhost-user socket, or one of these.
GuestPort = str | Tap | Vf


@dataclass(frozen=True, slots=True)
class Offer:
    """Resources of this host for the domain."""

    no_kvm: str | None
    """Reason against KVM; None if it is used."""
    cpus: tuple[int, ...]
    """CPUs that may be used."""
    boot: Boot
    ports: Mapping[str, GuestPort]
    """Attachment of each NIC, by MAC address."""
    control: str
    """Path of the control port's socket."""
    monitor: str
    """Path of the socket of a monitor that is the bench's own."""
    console: str
    """Path of the first serial port's log."""


@dataclass(frozen=True, slots=True)
class DomainChange:
    """One difference between the rendered and the started domain.

    was and now are "" for something added or removed.
    """

    where: str
    was: str
    now: str
    because: str

    def __str__(self) -> str:
        change = f"{self.was or 'nothing'} -> {self.now or 'nothing'}"
        return f"{self.where}: {change}: {self.because}"


def overlaid(rendered: str, offer: Offer) -> tuple[str, tuple[DomainChange, ...]]:
    """Return the domain to start, and its differences from the rendered one."""
    with_comments = Xml.XMLParser(  # noqa: S314  rendered by us
        target=Xml.TreeBuilder(insert_comments=True)
    )
    domain = Xml.fromstring(rendered, with_comments)  # noqa: S314  rendered by us
    steps: tuple[Callable[[Element, Offer], Iterator[DomainChange]], ...] = (
        _accelerator, _pins, _boot, _given, _disk, _ports, _control, _console, _end, _monitor,
    )  # fmt: skip
    changes = tuple(change for step in steps for change in step(domain, offer))
    Xml.indent(domain)
    return Xml.tostring(domain, encoding="unicode") + "\n", changes


def _accelerator(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    if offer.no_kvm is None:
        return
    was = domain.get("type", "")
    domain.set("type", "qemu")
    yield DomainChange("domain type", was, "qemu", offer.no_kvm)
    cpu = _child(domain, "cpu")
    was = cpu.get("mode", "")
    cpu.set("mode", "maximum")
    yield DomainChange("cpu mode", was, "maximum", "an emulated CPU has the features QEMU has")


def _pins(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    """Replace each CPU that is absent by an available one, in turn."""
    for number, pin in enumerate(domain.findall("cputune/*[@cpuset]")):
        was = pin.get("cpuset", "")
        there = [cpu for cpu in parse_list(was) if cpu in offer.cpus]
        now = format_list(there or [offer.cpus[number % len(offer.cpus)]])
        if now != was:
            pin.set("cpuset", now)
            which = f"{pin.tag} {pin.get('vcpu', '')}".strip()
            yield DomainChange(which, was, now, "this host has no such CPU")


def _boot(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    os, boot = _child(domain, "os"), offer.boot
    because = "the guest's image has no boot loader"
    for name, text in (
        ("kernel", boot.kernel), ("initrd", boot.initrd), ("cmdline", boot.command_line),
    ):  # fmt: skip
        Xml.SubElement(os, name).text = text
        yield DomainChange(f"os/{name}", "", text, because)


def _given(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    """Add fw_cfg keys that belong to this start, not to an image."""
    info = Xml.Element("sysinfo", type="fwcfg")
    for name, file in offer.boot.files.items():
        Xml.SubElement(info, "entry", name=name, file=file)
        yield DomainChange(f"fw_cfg {name}", "", file, "the guest is controlled over ssh")
    if offer.boot.files:
        domain.insert(list(domain).index(_child(domain, "os")), info)


def _disk(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    disk = _child(domain, "devices/disk")
    source, driver = _child(disk, "source"), _child(disk, "driver")
    because = "the bench's image, which no guest changes"
    was, now = source.get("file", ""), offer.boot.root
    source.set("file", now)
    yield DomainChange("disk source", was, now, because)
    was = f"{driver.get('type')}, {driver.get('cache')}"
    driver.attrib.pop("cache", None)
    driver.set("type", "raw")
    Xml.SubElement(disk, "readonly")
    yield DomainChange("disk driver", was, "raw, read only", because)
    Xml.SubElement(disk, "serial").text = offer.boot.serial
    yield DomainChange("disk serial", "", offer.boot.serial, "the guest finds its root by it")


def _ports(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    for interface in domain.findall("devices/interface"):
        mac = _child(interface, "mac").get("address", "")
        port = offer.ports.get(mac)
        if isinstance(port, Tap):
            yield _tap(interface, mac, port)
        elif isinstance(port, Vf):
            yield _vf(_child(domain, "devices"), interface, mac, port)
        elif port is not None:
            source = _child(interface, "source")
            was = source.get("path", "")
            source.set("path", port)
            yield DomainChange(f"interface {mac} source", was, port, "the bench's own vSwitch")


def _tap(interface: Element, mac: str, tap: Tap) -> DomainChange:
    was = f"{interface.get('type')} {_child(interface, 'source').get('bridge', '')}"
    interface.set("type", "ethernet")
    for name in ("source", "virtualport"):
        if (found := interface.find(name)) is not None:
            interface.remove(found)
    interface.append(Xml.Element("target", dev=tap.interface, managed="no"))
    driver = _child(interface, "driver")
    driver.set("name", "qemu")
    now = f"ethernet {tap.interface}, driver qemu"
    return DomainChange(f"interface {mac}", was.strip(), now, "the bench's own bridge has the tap")


def _vf(devices: Element, interface: Element, mac: str, vf: Vf) -> DomainChange:
    """Attach a VF as a plain PCI device.

    As an <interface>, libvirt would set its address and VLAN without a journal entry.
    """
    was = f"{interface.get('type')} {_child(interface, 'source').get('network', '')}"
    device = Xml.Element("hostdev", mode="subsystem", type="pci", managed="no")
    Xml.SubElement(device, "driver", name="vfio")
    source = Xml.SubElement(device, "source")
    domain, bus, slot, function = re.split("[:.]", vf.address)
    Xml.SubElement(source, "address", domain=f"0x{domain}", bus=f"0x{bus}", slot=f"0x{slot}",
                   function=f"0x{function}")  # fmt: skip
    Xml.SubElement(device, "address", type="pci", domain="0x0000", bus="0x00",
                   slot=f"0x{vf.slot:02x}", function="0x0")  # fmt: skip
    devices[list(devices).index(interface)] = device
    now = f"hostdev {vf.address}, managed no, in slot {vf.slot:#04x}"
    because = "the bench itself has made this VF, set its address and VLAN, and bound it"
    return DomainChange(f"interface {mac}", was.strip(), now, because)


def _control(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    channel = Xml.SubElement(_child(domain, "devices"), "channel", type="unix")
    Xml.SubElement(channel, "source", mode="bind", path=offer.control)
    Xml.SubElement(channel, "target", type="virtio", name=CONTROL_PORT)
    because = "the guest has no network that it could be controlled over"
    yield DomainChange(f"channel {CONTROL_PORT}", "", offer.control, because)


def _console(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    devices = _child(domain, "devices")
    serial, console = _child(devices, "serial"), _child(devices, "console")
    was = serial.get("type", "")
    serial.set("type", "file")
    Xml.SubElement(serial, "source", path=offer.console)
    because = "its last lines tell why a guest ended"
    yield DomainChange("serial", was, f"file {offer.console}", because)
    was = console.get("type", "")
    devices.remove(console)
    yield DomainChange("console", was, "", "it is the serial port, which is a file")


def _end(domain: Element, _offer: Offer) -> Iterator[DomainChange]:
    """End a guest that panics or reboots, so that nothing waits for it."""
    after = list(domain).index(_child(domain, "clock"))
    reboot = Xml.Element("on_reboot")
    reboot.text = "destroy"
    domain.insert(after + 1, reboot)
    yield DomainChange("on_reboot", "", "destroy", "a guest that panics is to end, not to go on")


def _monitor(domain: Element, offer: Offer) -> Iterator[DomainChange]:
    """Add a second QMP monitor, because libvirt does not share its own."""
    words = Xml.SubElement(domain, f"{{{_QEMU}}}commandline")
    for word in ("-qmp", f"unix:{offer.monitor},server=on,wait=off"):
        Xml.SubElement(words, f"{{{_QEMU}}}arg", value=word)
    yield DomainChange("monitor", "", offer.monitor, "what changes of the guest is noticed")


def _child(parent: Element, path: str) -> Element:
    """Return the child element. Raises ValueError where the template has none."""
    found = parent.find(path)
    if found is None:
        raise ValueError(f"the rendered domain has no {path} in its <{parent.tag}>")
    return found
