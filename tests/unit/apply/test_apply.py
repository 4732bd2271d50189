# SPDX-License-Identifier: Apache-2.0
"""Apply a plan, apply it again, verify it and roll it back on a simulated host."""

from __future__ import annotations

import json

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost, no_sleep
from tests.support.fake_kernel import NO_MAC
from wirespeed.apply import session
from wirespeed.apply.steps.vfs import vf_addresses
from wirespeed.remote.pci import driver_of

HOST, PF = "ssh://lab1", "0000:21:00.0"
GIVEN = (lab_plan().hosts[0].guests[0].ports[0].mac, 50, "vfio-pci")


def applied(host: FakeHost) -> session.Applied:
    return session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)


def test_apply_and_reboot_make_the_host_what_its_plan_says() -> None:
    host = FakeHost()
    done = applied(host)
    assert done.rows is not None
    failed = [row for row in done.rows if row.failed]
    assert failed == []
    assert host.boots == 2


def test_rollback_brings_everything_back() -> None:
    host = FakeHost()
    before = host.state()
    applied(host)
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed
    assert host.state() == before


def test_pages_in_use_go_with_the_reboot() -> None:
    # A running Open vSwitch keeps its pages.
    host = FakeHost()
    before = host.state()
    applied(host)
    host.kernel.pages_in_use = {pool: 1 for pool, count in host.kernel.pages.items() if count}
    assert host.kernel.pages_in_use
    first = session.undo(host.reach, HOST, may_reboot=False, sleep=no_sleep)
    assert [r.state for r in first.results if "huge pages" in r.name and r.state.waits]
    assert not first.failed
    assert first.reboot_due
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed
    assert host.state() == before


def test_vfs_of_a_nova_host_are_made_without_mac_and_vlan() -> None:
    # Nova takes another VF of the port than the plan names: no MAC address is set on two VFs.
    host = FakeHost()
    assert _first_vf(host) == GIVEN
    host = FakeHost()
    host.disk.folders |= {"/etc/nova"}
    host.disk.write("/etc/nova/nova.conf", "[compute]\n")
    host.disk.sync_all()
    assert _first_vf(host) == (NO_MAC, 0, "")


def _first_vf(host: FakeHost) -> tuple[str, int, str]:
    """Return MAC, VLAN and driver after apply, with all VFs made."""
    assert [result.name for result in applied(host).results if result.failed] == []
    with host.reach(HOST, sudo=True) as runner:
        [link] = json.loads(runner.run(["ip", "-json", "link", "show", "dev", "ens33"]).stdout)
        assert len(link["vfinfo_list"]) == 4
        vf = link["vfinfo_list"][0]
        driver = driver_of(runner, vf_addresses(runner, PF)[0])
    [vlan] = vf["vlan_list"]
    return vf["address"], vlan.get("vlan", 0), driver or ""
