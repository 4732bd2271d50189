# SPDX-License-Identifier: Apache-2.0
"""Apply the examples' workloads to the simulated host, reboot it, and restore it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.shared.scaled_workloads import EXAMPLES, LARGE_PAGE_KIB, SMALL_PAGE_KIB, scaled

from tests.hosts.server import Nic
from tests.support.fake_host import FakeHost, no_sleep
from tests.support.fake_kernel import LAB
from wirespeed.apply import session
from wirespeed.apply.row import Row, Verdict
from wirespeed.host.collect import collect
from wirespeed.plan.planner import plan_workload

HOST = "ssh://lab1"
# Two ports with VFs, as the emulated server has them.
PORTS = tuple(
    Nic(f"0000:{bus}:00.0", 1, "8086", "10c9", "igb", f"ens{bus}", sriov_total=7, vf_device="10ca")
    for bus in (21, 22)
)


@pytest.mark.parametrize("page_kib", [SMALL_PAGE_KIB, LARGE_PAGE_KIB])
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_decision_is_applied_kept_and_restored(example: str, page_kib: int) -> None:
    host = FakeHost(server=replace(LAB, nics=(LAB.nics[0], *PORTS)), found_now=2048)
    before = host.state()
    with host.reach(HOST, sudo=False) as runner:
        facts = collect(runner)
    plan = plan_workload(scaled(example, facts, page_kib), [facts])
    assert any(placed.guests for placed in plan.hosts), plan.unplaced
    done = session.apply(host.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    assert failed(done.rows or ()) == []
    host.reboot()
    _, rows = session.verify(host.reach, HOST, plan)
    assert failed(rows) == []
    absent = {row.note.partition(":")[0] for row in rows if row.verdict is Verdict.ABSENT}
    for why in absent:
        assert any(known in why for known in (
            "no nova.conf here", "does not run", "the kernel or the device refuses",
            "not a plan's to decide", "no DPDK port", "EDAC",
        )), why  # fmt: skip
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed
    assert host.state() == before


def failed(rows: tuple[Row, ...]) -> list[Row]:
    return [row for row in rows if row.failed]
