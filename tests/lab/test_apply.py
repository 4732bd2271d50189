# SPDX-License-Identifier: Apache-2.0
"""Apply a plan to an emulated server that GRUB boots; reboot, verify and undo it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.shared.scaled_workloads import scaled

from tests.support.lab_node import LabNode
from wirespeed.apply import session
from wirespeed.apply.journal import LOCK
from wirespeed.apply.row import Row
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.plan_file import write_plan
from wirespeed.plan.planner import plan_workload
from wirespeed.remote.reach import reach

MENU = "/boot/grub/grub.cfg"
FILES = (
    MENU,
    "/etc/default/grub.d/60-wirespeed.cfg",
    "/etc/systemd/system/wirespeed-host.service",
    "/var/lib/wirespeed/apply/journal",
)
MOMENTS = 10


@pytest.fixture(scope="module")
def menu_made(lab_node: LabNode) -> None:
    """Replace the first menu of a node with the output of its own update-grub."""
    with lab_node.runner() as runner:
        runner.run(["update-grub"], timeout_s=300.0)
        runner.run(["sync"])


def facts_of(node: LabNode) -> HostFacts:
    with node.runner() as runner:
        return collect(runner)


def files_of(node: LabNode) -> dict[str, str]:
    with node.runner() as runner:
        found = runner.read_many(FILES)
        return {path: got for path, got in found.items() if isinstance(got, str)}


def plan_of(node: LabNode, example: str) -> Plan:
    facts = facts_of(node)
    return plan_workload(scaled(example, facts), [facts])


def failed(rows: tuple[Row, ...] | None) -> list[Row]:
    assert rows is not None
    return [row for row in rows if row.failed]


def test_changes_without_a_reboot_are_undone_without_one(lab_node: LabNode, lab_way: str) -> None:
    """Compare the menu by the plan's words: an emulated CPU takes a minute for one more of it."""
    files, plan = files_of(lab_node), plan_of(lab_node, "s1-bng")
    added = {word.value for word in plan.hosts[0].kernel} - set(files[MENU].split())
    done = session.apply(reach, lab_way, plan, may_reboot=False)
    assert any(result.changed for result in done.results)
    assert done.reboot_due
    applied = files_of(lab_node)
    assert added
    assert added <= set(applied[MENU].split())
    undone = session.undo(reach, lab_way, may_reboot=False)
    assert not undone.failed, undone
    assert not undone.reboot_due
    again = files_of(lab_node)
    assert not added & set(again.pop(MENU).split())
    assert again == {path: text for path, text in files.items() if path != MENU}
    assert applied.keys() > {MENU, *again}


@pytest.mark.lab(whole=True)
@pytest.mark.usefixtures("menu_made")
def test_a_small_plan_is_applied_verified_and_undone(lab_node: LabNode, lab_way: str) -> None:
    files, plan = files_of(lab_node), plan_of(lab_node, "s1-bng")
    done = session.apply(reach, lab_way, plan, may_reboot=True)
    assert failed(done.rows) == []
    again = session.apply(reach, lab_way, plan, may_reboot=True)
    assert [result.name for result in again.results if result.changed] == []
    undone = session.undo(reach, lab_way, may_reboot=True)
    assert not undone.failed, undone
    assert files_of(lab_node) == files


@pytest.fixture
def seed() -> Iterator[int]:
    chosen = int(os.environ.get("WIRESPEED_SEED", random.randrange(1 << 32)))
    print(f"WIRESPEED_SEED={chosen}")
    yield chosen
    print(f"WIRESPEED_SEED={chosen}")


@pytest.mark.usefixtures("menu_made")
@pytest.mark.lab(whole=True)
def test_cut_at_ten_moments_what_comes_next_continues(
    lab_node: LabNode, lab_way: str, seed: int, tmp_path: Path
) -> None:
    """Pull the power, or cut the connection, at random moments of apply or rollback."""
    chance = random.Random(seed)
    files, plan = files_of(lab_node), plan_of(lab_node, "s1-bng")
    plan_file = tmp_path / "plan.json"
    plan_file.write_text(write_plan(plan))
    began = time.monotonic()
    session.apply(reach, lab_way, plan, may_reboot=False)
    whole_s = time.monotonic() - began
    for moment in range(MOMENTS):
        what = chance.choice(("power", "connection"))
        after_s = chance.uniform(0.0, whole_s)
        doing = chance.choice(("apply", "rollback"))
        follows = chance.choice(("apply", "rollback", "verify"))
        print(f"{moment}: {doing}, {what} cut after {after_s:.1f} s, then {follows}")
        _cut(lab_node, plan_file, doing, what, after_s)
        if follows == "apply":
            assert failed(_applied(lab_way, plan).rows) == []
        elif follows == "verify":
            session.verify(reach, lab_way, plan)
    undone = session.undo(reach, lab_way, may_reboot=True)
    assert not undone.failed, undone
    assert files_of(lab_node) == files


def _applied(way: str, plan: Plan) -> session.Applied:
    done = session.apply(reach, way, plan, may_reboot=True)
    if done.rows is not None:
        return done
    host, rows = session.verify(reach, way, plan)
    return session.Applied(host, done.results, done.reboot_due, rows=rows)


def _cut(node: LabNode, plan_file: Path, doing: str, what: str, after_s: float) -> None:
    """Cut a command of another process, unless it ends before."""
    words = [doing, *([str(plan_file)] if doing == "apply" else []), "--host", node.url]
    with subprocess.Popen(
        [sys.executable, "-m", "wirespeed.cli.main", *words],
        env=node.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as running:  # fmt: skip
        try:
            running.wait(after_s)
            print("   done before")
        except subprocess.TimeoutExpired:
            if what == "connection":
                running.kill()
        if what == "power":
            node.lab.node(node.name).kill()
    if what == "power":
        node.power_cycle()
    with node.runner() as runner:
        # The cut command releases the lock once nothing is heard of it.
        runner.run(["flock", LOCK, "true"], timeout_s=60.0)
