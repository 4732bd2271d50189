# SPDX-License-Identifier: Apache-2.0
"""Test a PCI function that a process has open: the kernel keeps it until the process ends."""

from __future__ import annotations

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.rollback import RolledBack

HOST, VF = "ssh://lab1", "0000:21:10.0"


def applied() -> tuple[FakeHost, object]:
    """Return a host with the plan, and its state before."""
    host = FakeHost()
    before = host.state()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    return host, before


def undone(host: FakeHost, *, may_reboot: bool = True) -> RolledBack:
    return session.undo(host.reach, HOST, may_reboot=may_reboot, sleep=no_sleep)


def test_open_vswitch_is_made_to_release_the_device() -> None:
    host, before = applied()
    host.opened[VF] = "ovs-vswitchd"
    assert not undone(host, may_reboot=False).failed
    assert not host.opened
    assert not undone(host).failed
    assert host.state() == before


def test_another_process_is_named_and_nothing_waits_for_it() -> None:
    host, before = applied()
    host.opened[VF] = "dpdk-testpmd"
    found = undone(host)
    assert found.failed
    notes = " ".join(result.note for result in found.results if result.failed)
    assert f"{VF} stays with vfio-pci: dpdk-testpmd (process" in notes
    host.opened.clear()
    assert not undone(host).failed
    assert host.state() == before
