# SPDX-License-Identifier: Apache-2.0
"""Check that the overlay changes what it reports, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as Xml

import pytest

from tests.support import golden
from tests.support.nic import PF, with_nic
from tests.unit.plan.test_bench import host
from wirespeed.bench.guest.overlay import Boot, GuestPort, Offer, Tap, Vf, overlaid
from wirespeed.model.study.spec import Frames, Guest, GuestPages, Sut, Topology, Vnf, Vswitch
from wirespeed.plan.render.libvirt import bench_domains
from wirespeed.session.rig import plan_of

GIVEN = {"opt/wirespeed/host_key": "/run/x/host_key"}
BOOT = Boot("/i/kernel", "/i/initramfs", "/i/root", "console=ttyS0", "wirespeed-root", GIVEN)
PORTS: dict[str, GuestPort] = {
    "02:01:00:00:00:00": "/run/x/vnf0a.sock",
    "02:01:01:00:00:00": "/run/x/vnf0b.sock",
}
VFS: dict[str, GuestPort] = {
    mac: Vf(f"0000:3b:10.{number}", 0x0F + number) for number, mac in enumerate(PORTS, 1)
}
OFFER = Offer("no KVM here", tuple(range(16)), BOOT, PORTS, "/run/x/control", "/run/x/monitor",
              "/log/console")  # fmt: skip
# Where each change may appear: a path of elements, and nothing below or next to it.
PLACES = {
    "domain type": {"/domain@type"},
    "cpu mode": {"/domain/cpu@mode"},
    "os/kernel": {"/domain/os/kernel"},
    "os/initrd": {"/domain/os/initrd"},
    "os/cmdline": {"/domain/os/cmdline"},
    "fw_cfg opt/wirespeed/host_key": {"/domain/sysinfo"},
    "disk source": {"/domain/devices/disk/source@file"},
    "disk driver": {"/domain/devices/disk/driver@type", "/domain/devices/disk/driver@cache",
                    "/domain/devices/disk/readonly"},
    "disk serial": {"/domain/devices/disk/serial"},
    "interface 02:01:00:00:00:00 source": {"/domain/devices/interface/source@path"},
    "interface 02:01:01:00:00:00 source": {"/domain/devices/interface/source@path"},
    "interface 02:01:00:00:00:00": {"/domain/devices/interface", "/domain/devices/hostdev"},
    "interface 02:01:01:00:00:00": {"/domain/devices/interface", "/domain/devices/hostdev"},
    "channel wirespeed.control": {"/domain/devices/channel"},
    "monitor": {"/domain/{http://libvirt.org/schemas/domain/qemu/1.0}commandline"},
    "serial": {"/domain/devices/serial@type", "/domain/devices/serial/source"},
    "console": {"/domain/devices/console"},
    "on_reboot": {"/domain/on_reboot"},
    "vcpupin 1": {"/domain/cputune/vcpupin@cpuset"},
}  # fmt: skip


def rendered(cores: int = 8, kind: str = "pvp", **sut: object) -> str:
    parts = {"vnf": Vnf(placement="guest"), **sut}
    frames = Frames(Topology(kind), sut=Sut(**parts))  # type: ignore[arg-type]
    return bench_domains(plan_of(with_nic(host(cores=cores)), frames))["vnf0"]


def facts_of(element: Xml.Element, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield every attribute and text, with its path."""
    if not isinstance(element.tag, str):
        yield f"{above}/comment", element.text or ""
        return
    path = f"{above}/{element.tag}"
    yield path, (element.text or "").strip()
    yield from ((f"{path}@{name}", value) for name, value in element.attrib.items())
    for child in element:
        yield from facts_of(child, path)


def facts(text: str) -> list[tuple[str, str]]:
    parser = Xml.XMLParser(target=Xml.TreeBuilder(insert_comments=True))  # noqa: S314
    return list(facts_of(Xml.fromstring(text, parser)))  # noqa: S314


@pytest.mark.parametrize(
    "offer",
    [
        OFFER,
        replace(OFFER, no_kvm=None),
        replace(OFFER, cpus=(0, 1)),
        replace(OFFER, ports={mac: Tap(f"tap{i}") for i, mac in enumerate(PORTS)}),
        replace(OFFER, ports=VFS),
    ],
    ids=["emulated", "with KVM", "two CPUs", "taps", "VFs"],
)
def test_every_change_of_the_domain_is_listed_and_no_other(offer: Offer) -> None:
    match offer.ports["02:01:00:00:00:00"]:
        case Tap():
            before = rendered(vswitch=Vswitch(kind="linux-bridge"))
        case Vf():
            before = rendered(kind="sriov", ports=(PF,))
        case _:
            before = rendered()
    text, changes = overlaid(before, offer)
    differing = {where for where, _ in set(facts(before)) ^ set(facts(text))}
    allowed = set[str]().union(*(PLACES[change.where] for change in changes))
    unsaid = {p for p in differing if not any(p.startswith(place) for place in allowed)}
    assert not unsaid
    for change in changes:
        assert any(p.startswith(tuple(PLACES[change.where])) for p in differing), change
        assert change.was != change.now
        assert change.because


def test_with_kvm_the_cpu_is_the_hosts_own() -> None:
    text, changes = overlaid(rendered(), replace(OFFER, no_kvm=None))
    assert "host-passthrough" in text
    assert not {"domain type", "cpu mode"} & {change.where for change in changes}


def test_a_pin_to_a_cpu_that_is_not_there_is_moved_to_one_that_is() -> None:
    _, changes = overlaid(rendered(), replace(OFFER, cpus=(0, 1)))
    [moved] = [change for change in changes if change.where.startswith("vcpupin")]
    assert moved.was == "3"
    assert moved.now in ("0", "1")


def test_a_domain_that_lacks_what_is_changed_is_an_error() -> None:
    with pytest.raises(ValueError, match="no serial"):
        overlaid(rendered().replace("<serial type='pty'/>", ""), OFFER)


@pytest.mark.parametrize("name", ["vnf0", "memfd"])
def test_the_bench_renders_guests_as_deployments_are(name: str) -> None:
    guest = Guest(pages=GuestPages.MEMFD) if name == "memfd" else None
    frames = Frames(Topology("pvp"), sut=Sut(vnf=Vnf(placement="guest")), guest=guest)
    golden.check(f"bench/{name}.xml", bench_domains(plan_of(host(cores=8), frames))["vnf0"])


def test_a_vf_is_a_device_of_its_own_that_libvirt_does_not_set() -> None:
    text, changes = overlaid(rendered(kind="sriov", ports=(PF,)), replace(OFFER, ports=VFS))
    assert "<interface" not in text
    devices = Xml.fromstring(text).findall("devices/hostdev")  # noqa: S314  written by us
    for device, vf in zip(devices, VFS.values(), strict=True):
        assert isinstance(vf, Vf)
        assert device.get("managed") == "no"
        on_host, in_guest = (device.find(path) for path in ("source/address", "address"))
        assert on_host is not None
        assert in_guest is not None
        assert address(on_host) == vf.address
        assert address(in_guest) == vf.guest_address
    [first, second] = [change for change in changes if change.where.startswith("interface")]
    assert first.was == second.was == "network hostdev-ens1f0"
    assert "0000:3b:10.1, managed no" in first.now


def address(element: Xml.Element) -> str:
    domain, bus, slot, function = (
        int(element.get(key, ""), 16) for key in ("domain", "bus", "slot", "function")
    )
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function}"


def test_a_vf_next_to_vhost_user_in_one_guest() -> None:
    """No topology has both yet; a deployment's guest may."""
    macs = list(PORTS)
    mixed = {macs[0]: VFS[macs[0]], macs[1]: PORTS[macs[1]]}
    text, changes = overlaid(rendered(), replace(OFFER, ports=mixed))
    assert (text.count("<hostdev"), text.count("<interface")) == (1, 1)
    where = [change.where for change in changes if change.where.startswith("interface")]
    assert where == [f"interface {macs[0]}", f"interface {macs[1]} source"]


def test_the_overlaid_domain() -> None:
    text, changes = overlaid(rendered(), OFFER)
    told = "".join(f"{change}\n" for change in changes)
    golden.check("bench/vnf0-started.xml", text)
    golden.check("bench/vnf0-changes.txt", told)
