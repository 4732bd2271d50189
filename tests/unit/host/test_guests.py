# SPDX-License-Identifier: Apache-2.0
"""Test the domains that virsh and libvirt's status files describe, valid and malformed."""

from __future__ import annotations

import pytest

from tests.hosts.domain import Domain
from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.guests import GuestFacts, read_guests
from wirespeed.host.reader import HostUnreadable, Reader
from wirespeed.model.host.guest_facts import Guest

DOMAIN = Domain("vnf", 2, 2048, pins={0: 4, 1: 24}, emulator="0,20", node=1)
LIST = ("virsh", "-r", "-c", "qemu:///system", "list", "--name")
STATUS = "/run/libvirt/qemu"


def only_guest(facts: GuestFacts) -> Guest:
    (guest,) = facts.guests or ()
    return guest


def host_with(xml: str) -> FakeRunner:
    fake = FakeRunner()
    fake.answer(LIST, "vnf\n\n")
    fake.answer((*LIST[:4], "dumpxml", "--domain", "vnf"), xml)
    return fake


def test_pins_memory_and_pages() -> None:
    guest = only_guest(read_guests(Reader(host_with(DOMAIN.xml()))))
    assert [(pin.vcpu, pin.cpus) for pin in guest.pins] == [(0, (4,)), (1, (24,))]
    assert (guest.emulator_cpus, guest.memory_nodes) == ((0, 20), (1,))
    assert (guest.memory_kib, guest.huge_page_kib) == (2048 * 1024, 1 << 20)


def test_sizes_in_other_units() -> None:
    xml = DOMAIN.xml().replace("<memory unit='KiB'>2097152", "<memory unit='GiB'>2")
    assert only_guest(read_guests(Reader(host_with(xml)))).memory_kib == 2 << 20


def test_a_domain_that_ended_in_between_is_no_guest() -> None:
    fake = host_with("")
    fake.answer((*LIST[:4], "dumpxml", "--domain", "vnf"), "", "error: failed to get domain", 1)
    assert read_guests(Reader(fake)) == GuestFacts((), None)


def test_without_virsh_the_status_files_are_read() -> None:
    fake = FakeRunner(files={f"{STATUS}/vnf.xml": f"<domstatus>{DOMAIN.xml()}</domstatus>"})
    assert only_guest(read_guests(Reader(fake))).name == "vnf"


def test_without_virsh_and_without_rights_guests_are_unknown() -> None:
    reader = Reader(FakeRunner(files={f"{STATUS}/driver.pid": "1\n"}))
    assert read_guests(reader).guests is None
    assert [m.fact for m in reader.missing] == ["guests"]


def test_without_libvirt_there_are_no_guests_to_know() -> None:
    reader = Reader(FakeRunner())
    assert read_guests(reader) == GuestFacts(None, None)
    assert reader.missing == ()


@pytest.mark.parametrize(
    "xml",
    [
        "<domain",
        "<network/>",
        '<!DOCTYPE d [<!ENTITY a "aaaa">]><domain><name>&a;</name></domain>',
        DOMAIN.xml().replace("cpuset='4'", "cpuset='four'"),
        DOMAIN.xml().replace("unit='KiB'>2", "unit='parsec'>2"),
        DOMAIN.xml().replace("<vcpu placement='static'>2", "<vcpu placement='static'>two"),
    ],
)
def test_a_document_that_is_no_domain_is_a_fault(xml: str) -> None:
    reader = Reader(host_with(xml))
    read_guests(reader)
    with pytest.raises(HostUnreadable, match="virsh dumpxml vnf: is not a libvirt domain"):
        reader.raise_faults()


def test_metadata_without_extra_specs_gives_no_flavors() -> None:
    xml = Domain("vnf", 1, 1024, specs={}).xml().replace("extraSpecs>", "other>")
    assert read_guests(Reader(host_with(xml))).flavors is None
