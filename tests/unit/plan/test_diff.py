# SPDX-License-Identifier: Apache-2.0
"""Check that a diff reports each change and its effort."""

from __future__ import annotations

from tests.support.examples import empty, example_plan, example_text
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.diff import Difference, Effort, diff_plans, needs_reboot
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload


def changed(*replacements: tuple[str, str]) -> Plan:
    text = example_text("s3-jumbo")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return plan_workload(parse_workload(text, "t"), [empty("s3-r740xd", "s3-r740xd")])


def found(new: Plan) -> dict[str, Difference]:
    old = changed()
    return {d.what: d for d in diff_plans(old, new)}


def test_equal_plans() -> None:
    assert diff_plans(example_plan("s3-jumbo"), example_plan("s3-jumbo")) == ()


def test_socket_memory_needs_a_restart_but_no_reboot() -> None:
    differences = found(changed(("s3-per-port", "tripleo")))
    memory = differences["socket_memory_mib"]
    assert (memory.old, memory.new, memory.effort) == (
        "11264,1024", "3072,1024", Effort.RESTART_OVS,
    )  # fmt: skip
    assert needs_reboot(tuple(differences.values())) == ()


def test_more_pmds_change_live_and_take_cpus_from_guests() -> None:
    differences = found(changed(("{ 0 = 4, 1 = 1 }", "{ 0 = 5, 1 = 1 }")))
    assert differences["pmd_cpus"].effort is Effort.LIVE
    assert differences["cpu_dedicated_set"].effort is Effort.REBUILD
    assert needs_reboot(tuple(differences.values())) == ()


def test_huge_pages_and_isolated_cpus_need_a_reboot() -> None:
    differences = found(
        changed(("count = 164", "count = 128"), ("[cores]", "[cores]\nshared_cores = 1"))
    )
    assert differences["kernel hugepages (1G)"].old == "hugepages=164"
    assert differences["kernel hugepages (1G)"].new == "hugepages=128"
    assert differences["kernel isolcpus"].effort is Effort.REBOOT
    assert needs_reboot(tuple(differences.values())) == ("s3-r740xd",)


def test_guests_and_flavors() -> None:
    differences = diff_plans(
        changed(), changed(("count = 2", "count = 1"), ('thread_policy = "require"', ""))
    )
    gone = {(d.where, d.what, d.old, d.new) for d in differences}
    assert ("guest spirent-1", "host", "s3-r740xd", None) in gone
    assert ("guest spirent", "host", None, "s3-r740xd") in gone
    assert ("flavor spirent", "hw:cpu_thread_policy", "require", None) in gone
    assert all(d.effort is Effort.REBUILD for d in differences)


def test_vfs_must_be_reset() -> None:
    text = example_text("s1-bng")
    host = empty("s1-dppd", "s1-dppd")
    old = plan_workload(parse_workload(text, "t"), [host])
    new = plan_workload(parse_workload(text.replace("vfs = 8", "vfs = 4"), "t"), [host])
    assert [(d.what, d.old, d.new, d.effort) for d in diff_plans(old, new)] == [
        ("NIC 0000:08:00.0 VFs", "8", "4", Effort.RESET_VFS)
    ]
