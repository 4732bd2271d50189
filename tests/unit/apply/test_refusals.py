# SPDX-License-Identifier: Apache-2.0
"""Test that a forbidden change is refused with its reason and without any change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost, no_sleep, renamed
from tests.support.fake_kernel import LAB
from tests.support.fake_runner import FakeRunner
from wirespeed.apply import session
from wirespeed.apply.make import NotWritable
from wirespeed.apply.refuse import OtherHost
from wirespeed.apply.target import Refused
from wirespeed.model.plan.plan import GuestPlan

HOST = "ssh://lab1"
DOMAIN = """<domain type='kvm'><name>{name}</name><vcpu>1</vcpu><memory>1048576</memory>
<cputune><vcpupin vcpu='0' cpuset='{cpu}'/></cputune><devices>{devices}</devices></domain>"""
VF = """<hostdev type='pci'><source><address domain='0x0000' bus='0x21' slot='0x10'
function='0x0'/></source></hostdev>"""


def refused(host: FakeHost, kind: type[Exception] = Refused) -> str:
    """Return the error of apply; check that the host has not changed."""
    before = host.state()
    with pytest.raises(kind) as fault:
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert host.state() == before
    return str(fault.value)


def test_a_plan_for_another_host() -> None:
    host = FakeHost()
    renamed(host, "other")
    assert "the plan is for lab1; this host is other" in refused(host, OtherHost)


def test_a_host_with_other_cpus_and_devices_names_all_that_differs() -> None:
    lacking = replace(LAB, cores_per_socket=2, nics=LAB.nics[:2])
    said = refused(FakeHost(server=lacking), OtherHost)
    assert "CPUs of NUMA node 0: planned 0-3,8-11, here 0-1,4-5" in said
    assert "PCI 0000:21:00.0: planned 8086:10c9, here no network device" in said


def test_a_device_of_another_kind() -> None:
    other = replace(LAB, nics=(*LAB.nics[:2], replace(LAB.nics[2], device="1521")))
    assert "planned 8086:10c9, here 8086:1521" in refused(FakeHost(server=other), OtherHost)


def test_the_interface_of_the_default_route() -> None:
    host = FakeHost(server=replace(LAB, default_route="ens3"))
    assert "ens3 carries the default route; changing driver of 0000:03:00.0" in refused(host)


def ssh_session(host: FakeHost, interface: str) -> None:
    """Log a user in over this interface; sudo has dropped SSH_CONNECTION."""
    host.sockets = (
        '0 0 192.0.2.1:22 192.0.2.7:5000 users:(("sshd",pid=7,fd=4))\n'
        '0 0 192.0.2.1:40000 192.0.2.8:5672 users:(("rsyslogd",pid=8,fd=4))\n'
    )
    host.addresses = {"192.0.2.1": interface}
    host.route_to_all = interface


@pytest.mark.parametrize("address", [HOST, "localhost"])
def test_apply_interface_of_an_ssh_session_is_refused(address: str) -> None:
    host = FakeHost()
    ssh_session(host, "ens33")
    before = host.state()
    with pytest.raises(Refused) as fault:
        session.apply(host.reach, address, lab_plan(), may_reboot=False)
    assert host.state() == before
    said = str(fault.value)
    assert "ens33 carries an ssh session from 192.0.2.7; changing VFs of 0000:21:00.0" in said
    assert "choose another port in [[nic]]" in said


def test_apply_vf_of_an_ssh_session_is_refused() -> None:
    # The PF keeps its VFs; the VF of the session would go to a guest.
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    vf = host.kernel.functions["0000:21:10.0"]
    vf.driver, vf.override, vf.interface = "igbvf", "", "ens33v0"
    host.kernel.changed()
    ssh_session(host, "ens33v0")
    assert "ens33v0 carries an ssh session from 192.0.2.7" in refused(host)


def test_rollback_interface_of_an_ssh_session_is_refused() -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    ssh_session(host, "ens33")
    before = host.state()
    with pytest.raises(Refused, match=r"ens33 carries an ssh session from 192\.0\.2\.7"):
        session.undo(host.reach, HOST, may_reboot=False)
    assert host.state() == before


def test_a_running_guest_on_the_cpus_of_the_switch() -> None:
    vswitch = lab_plan().hosts[0].vswitch
    assert vswitch is not None
    cpu = vswitch.pmd_cpus.value[0]
    host = FakeHost(domains={"old": DOMAIN.format(name="old", cpu=cpu, devices="")})
    assert f"running guest old would lose CPUs {cpu}" in refused(host)


def test_a_running_guest_with_a_vf() -> None:
    host = FakeHost(domains={"old": DOMAIN.format(name="old", cpu=0, devices=VF)})
    host.kernel.write("/sys/bus/pci/devices/0000:21:00.0/sriov_numvfs", "1")
    assert "running guest old would lose 0000:21:10.0" in refused(host)


def test_a_guest_of_the_plan_keeps_running() -> None:
    guest: GuestPlan = lab_plan().hosts[0].guests[0]
    name, cpu = guest.name, guest.cpus.value[0]
    host = FakeHost(domains={name: DOMAIN.format(name=name, cpu=cpu, devices="")})
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert not any(result.failed for result in done.results)


def test_a_reboot_that_would_end_a_guest() -> None:
    guest = lab_plan().hosts[0].guests[0]
    domain = DOMAIN.format(name=guest.name, cpu=guest.cpus.value[0], devices="")
    host = FakeHost(domains={guest.name: domain})
    before = host.state()
    with pytest.raises(Refused, match="a reboot would end running guests: router-1"):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=True)
    assert host.state() == before


def test_pages_in_use() -> None:
    host = FakeHost()
    pool = "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB"
    host.found_now = 8
    host.boot()
    host.kernel.write(f"{pool}/nr_hugepages", "8")
    host.kernel.files[f"{pool}/free_hugepages"] = "1\n"
    assert "7 pages of 1048576 KiB on node 1 are in use, the plan leaves 1" in refused(host)


def test_a_user_without_sudo() -> None:
    said = refused(FakeHost(user="1000", sudo=False))
    assert "user 1000 on lab1 may not change that host" in said
    assert "sudo: a password is required" in said


def test_a_user_with_sudo_is_root() -> None:
    host = FakeHost(user="1000", sudo=True)
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert not any(result.failed for result in done.results)


def test_a_full_disk() -> None:
    host = FakeHost()
    host.disk.room = 1 << 20
    assert "1024 KiB left on the file system of /var/lib" in refused(host)


def test_another_apply_that_runs() -> None:
    host = FakeHost()
    with host.reach(HOST, sudo=False) as other, other.lock("/run/wirespeed-apply.lock"):
        assert "another apply or rollback is running" in refused(host)


def test_this_machine_is_not_rebooted_under_the_command() -> None:
    with pytest.raises(Refused, match="--reboot would end this command"):
        session.apply(FakeHost().reach, "localhost", lab_plan(), may_reboot=True)


def test_rollback_leaves_a_running_guest_its_vf() -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    host.domains["new"] = DOMAIN.format(name="new", cpu=0, devices=VF)
    before = host.state()
    with pytest.raises(Refused, match=r"running guest new would lose 0000:21:10\.0"):
        session.undo(host.reach, HOST, may_reboot=False)
    assert host.state() == before


def test_a_disk_that_fills_up_stops_and_the_next_rollback_undoes() -> None:
    host = FakeHost()
    before = host.state()
    host.disk.room = 5 << 20
    with pytest.raises(NotWritable, match="No space left"):
        _fill(host)
    host.disk.room = None
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed
    assert host.state() == before


def _fill(host: FakeHost) -> None:
    """Fill the disk after the journal has begun."""
    with host.reach(HOST, sudo=True) as runner:
        write = type(runner).write

        def short(self: FakeRunner, path: str, text: str) -> None:
            if path.startswith("/etc/"):
                host.disk.room = 10
            write(self, path, text)

        type(runner).write = short  # type: ignore[method-assign]
        try:
            session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
        finally:
            type(runner).write = write  # type: ignore[method-assign]
