# SPDX-License-Identifier: Apache-2.0
"""Test that every decision of a plan is compared with the host, and differences are found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.row import Verdict
from wirespeed.plan.decisions import decisions, dotted

HOST = "ssh://lab1"
PF = "0000:21:00.0"


def as_planned() -> FakeHost:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    return host


def differing(host: FakeHost) -> set[str]:
    _, rows = session.verify(host.reach, HOST, lab_plan())
    return {row.decision for row in rows if row.failed}


def test_every_decision_has_a_row() -> None:
    _, rows = session.verify(as_planned().reach, HOST, lab_plan())
    named = [row.decision.partition(" ")[0] for row in rows]
    for where, decision in decisions(lab_plan().hosts[0]):
        wanted = dotted(where)
        assert wanted in named, decision
    assert named.count("kernel") == len(lab_plan().hosts[0].kernel)


def test_verify_changes_nothing() -> None:
    host = as_planned()
    asked = host.changes
    session.verify(host.reach, HOST, lab_plan())
    assert host.changes == asked


def test_before_apply_nothing_is_as_planned() -> None:
    host = FakeHost()
    _, rows = session.verify(host.reach, HOST, lab_plan())
    ok = {row.decision for row in rows if row.verdict is Verdict.OK}
    assert not {"huge_pages", "cores.isolated", f"nics[{PF}].vfs", "vswitch.pmd_cpus"} & ok
    assert not host.log


def test_after_apply_without_a_reboot_that_is_what_lacks() -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    _, rows = session.verify(host.reach, HOST, lab_plan())
    verdicts = {row.decision: row.verdict for row in rows}
    assert verdicts["cores.isolated"] is Verdict.REBOOT
    assert verdicts["kernel isolcpus"] is Verdict.REBOOT
    assert verdicts["nics[0000:03:00.0].driver"] is Verdict.REBOOT
    assert verdicts[f"nics[{PF}].vfs"] is Verdict.OK


DISTURBED: dict[str, tuple[Callable[[FakeHost], object], str]] = {
    "pages": (
        lambda h: h.kernel.write(
            "/sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages", "1"),
        "huge_pages",
    ),
    "governor": (
        lambda h: h.kernel.write(
            "/sys/devices/system/cpu/cpu5/cpufreq/scaling_governor", "schedutil"),
        "cores.isolated: CPU frequency governors",
    ),
    "interrupt": (
        lambda h: h.kernel.write("/proc/irq/40/smp_affinity_list", "5"),
        "cores.housekeeping: interrupt affinities",
    ),
    "VFs": (
        lambda h: h.kernel.write(f"/sys/bus/pci/devices/{PF}/sriov_numvfs", "0"),
        f"nics[{PF}].vfs",
    ),
    "VLAN": (
        lambda h: h.kernel.set_vf("ens33", 1, "vlan", "51"),
        f"nics[{PF}].vfs: VFs of {PF}",
    ),
    "driver": (
        lambda h: h.kernel.write("/sys/bus/pci/devices/0000:03:00.0/driver/unbind", "0000:03:00.0"),
        "nics[0000:03:00.0].driver",
    ),
    "PMDs": (
        lambda h: h.ovs and h.ovs.other_config.update({"pmd-cpu-mask": "0x2"}),
        "vswitch.pmd_cpus",
    ),
    "queues": (
        lambda h: h.ovs and h.ovs.interfaces["dpdk0"]["options"].update({"n_rxq": "7"}),
        "vswitch.rx_queues",
    ),
    "unit": (
        lambda h: h.disk.remove("/etc/systemd/system/wirespeed-host.service"),
        "file /etc/systemd/system/wirespeed-host.service",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DISTURBED)
def test_a_setting_changed_after_apply_is_reported(what: str) -> None:
    host = as_planned()
    assert differing(host) == set()
    disturb, row = DISTURBED[what]
    disturb(host)
    assert row in differing(host)


def test_a_device_without_trust_is_never_reported_as_trusted() -> None:
    host = FakeHost(trust=False)
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    assert done.rows is not None
    row = next(row for row in done.rows if row.decision == f"nics[{PF}].vfs: VFs of {PF}")
    assert row.verdict is Verdict.ABSENT
    assert "refuses vf 0 trust: None, vf 1 trust: None" in row.note


def test_without_cpufreq_the_governors_are_not_here() -> None:
    from dataclasses import replace

    from tests.support.fake_kernel import LAB

    host = FakeHost(server=replace(LAB, governor=None))
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    assert done.rows is not None
    row = next(row for row in done.rows if row.decision.endswith("governors"))
    assert (row.verdict, row.note) == (
        Verdict.ABSENT, "the kernel does not control the frequency (no cpufreq)",
    )  # fmt: skip


def test_a_host_without_open_vswitch_differs() -> None:
    host = FakeHost(ovs=None)
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    assert done.rows is not None
    assert "vswitch.pmd_cpus" in {row.decision for row in done.rows if row.failed}
    said = next(r for r in done.results if r.name == "Open vSwitch other_config")
    assert said.failed
    assert "ovs-vsctl is not installed" in said.note


def test_interrupts_that_the_kernel_keeps_where_they_are_may_stay_there() -> None:
    host = as_planned()
    _, rows = session.verify(host.reach, HOST, lab_plan())
    (finding,) = [row for row in rows if row.decision.startswith("audit WS32")]
    assert finding.verdict is Verdict.ABSENT
    assert "refuses 25 (nvme0q6): 5, 9 (acpi): 0-15" in finding.note
    host.kernel.write("/proc/irq/40/smp_affinity_list", "5")
    _, rows = session.verify(host.reach, HOST, lab_plan())
    (finding,) = [row for row in rows if row.decision.startswith("audit WS32")]
    assert finding.verdict is Verdict.DIFFERS


def test_verify_rules_that_could_not_be_checked_are_named_and_fail() -> None:
    host = as_planned()
    host.appctl = False
    _, rows = session.verify(host.reach, HOST, lab_plan())
    unchecked = {row.decision: row for row in rows if row.verdict is Verdict.UNCHECKED}
    assert set(unchecked) == {"audit WS13 rxq-across-nodes", "audit WS18 queues-not-configured"}
    assert {row.note for row in unchecked.values()} == {"needs ovs-appctl"}
    assert all(row.failed for row in unchecked.values())


def test_verify_unchecked_rule_that_no_plan_answers_is_not_here() -> None:
    _, rows = session.verify(as_planned().reach, HOST, lab_plan())
    [row] = [row for row in rows if row.decision.startswith("audit WS49")]
    assert (row.verdict, row.failed) == (Verdict.ABSENT, False)
    assert "; not checked: needs the kind of traffic of guests" in row.note


def test_verify_memory_channels_without_edac_are_not_here() -> None:
    host = as_planned()
    host.kernel.hidden = frozenset({"dimm_location", "size"})
    host.kernel.changed()
    _, rows = session.verify(host.reach, HOST, lab_plan())
    [row] = [row for row in rows if row.decision.startswith("audit WS23")]
    assert (row.verdict, row.failed) == (Verdict.ABSENT, False)
    assert "EDAC" in row.note


def test_verify_guests_that_cannot_be_listed_are_not_checked() -> None:
    host = as_planned()
    host.libvirt_fault = "error: failed to connect to the hypervisor"
    _, rows = session.verify(host.reach, HOST, lab_plan())
    row = next(row for row in rows if row.decision == "guests[router-1].cpus")
    assert row.verdict is Verdict.UNCHECKED
    assert "failed to connect to the hypervisor" in row.note


def test_apply_planned_vfs_that_the_host_does_not_have_fail() -> None:
    host = as_planned()
    host.kernel.hidden = frozenset({"sriov_numvfs"})
    host.kernel.changed()
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert done.failed
    [result] = [result for result in done.results if result.name == f"VFs of {PF}"]
    assert result.failed
    assert f"{PF} makes no VFs" in result.note
    assert f"nics[{PF}].vfs: VFs of {PF}" in differing(host)


def test_apply_vfs_without_addresses_are_named() -> None:
    # Linux before 4.15 has no sriov_offset.
    host = FakeHost()
    host.kernel.hidden = frozenset({"sriov_offset", "sriov_stride"})
    host.kernel.changed()
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    [result] = [result for result in done.results if result.name == f"VFs of {PF}"]
    assert result.failed
    assert "does not tell the addresses of its VFs" in result.note


def test_apply_open_vswitch_survives_a_power_loss_at_its_end() -> None:
    host = as_planned()
    assert host.ovs is not None
    made = host.ovs.copy()
    host.ovs.other_config["pmd-cpu-mask"] = "0x2"
    host.ovs.interfaces["dpdk0"]["options"]["n_rxq"] = "7"
    host.ovs.sync()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    host.lose_power(keep=False)
    assert host.ovs == made
