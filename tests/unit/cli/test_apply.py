# SPDX-License-Identifier: Apache-2.0
"""Check output, exit codes and rejections of apply, verify and rollback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.apply.checkpoint import FIRED
from wirespeed.apply.journal import PATH
from wirespeed.cli.verbs import apply, rollback, verify
from wirespeed.plan.plan_file import write_plan

HOST = ("--host", "ssh://lab1")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    """Return the host that every address reaches."""
    fake = FakeHost()
    for module in (apply, rollback, verify):
        monkeypatch.setattr(module, "reach", fake.reach)
    return fake


@pytest.fixture
def plan(tmp_path: Path) -> str:
    path = tmp_path / "plan.json"
    path.write_text(write_plan(lab_plan()))
    return str(path)


def test_a_host_must_be_named(wirespeed: Command, plan: str) -> None:
    for words in (("apply", plan), ("verify", plan), ("rollback",)):
        ended = wirespeed(*words)
        assert ended.code == 2
        assert "missing option '--host'" in ended.err


@pytest.mark.parametrize("address", ["compute-1", "http://lab1", ""])
def test_an_address_that_is_none(wirespeed: Command, plan: str, address: str) -> None:
    ended = wirespeed("apply", plan, "--host", address)
    assert ended.code == 2
    assert "neither an ssh address nor localhost" in ended.err


def test_a_plan_of_another_schema(wirespeed: Command, server: FakeHost, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text('{"schema_version": "9.0", "hosts": []}')
    ended = wirespeed("apply", str(path), *HOST)
    assert ended.code == 2
    assert 'schema_version "9.0"' in ended.err
    assert not server.log


def test_a_dry_run_prints_every_change_with_its_reason(
    wirespeed: Command, server: FakeHost, plan: str
) -> None:
    ended = wirespeed("apply", plan, *HOST, "--dry-run")
    assert ended.code == 0
    assert not server.log
    text = " ".join(ended.out.split())
    assert "to change VFs of 0000:21:00.0 is 0 VFs planned 4 VFs; vf 0: mac" in text
    assert "why nic[outside].vfs of the workload" in text
    assert "A reboot is due, for default_hugepagesz=1G" in text


def test_apply_verify_and_rollback(wirespeed: Command, server: FakeHost, plan: str) -> None:
    before = server.state()
    assert wirespeed("verify", plan, *HOST).code == 1
    ended = wirespeed("apply", plan, *HOST)
    assert ended.code == 0
    assert "changes made" in ended.out
    waiting = wirespeed("verify", plan, *HOST)
    assert waiting.code == 1
    assert "needs a reboot cores.isolated" in " ".join(waiting.out.split())
    server.reboot()
    assert wirespeed("apply", plan, *HOST).code == 0
    assert wirespeed("verify", plan, *HOST).code == 0
    assert "lab1: nothing to change" in wirespeed("apply", plan, *HOST).out
    assert "A reboot is due" in wirespeed("rollback", *HOST).out
    server.reboot()
    last = wirespeed("rollback", *HOST).out
    assert "lab1: 14 settings put back of 14" in last
    assert "the facts are those before the first apply" in last
    assert "lab1: nothing to roll back" in wirespeed("rollback", *HOST).out
    assert server.state() == before


def test_json(wirespeed: Command, server: FakeHost, plan: str) -> None:
    made = json.loads(wirespeed("apply", plan, *HOST, "--json").out)
    assert made["schema_version"] == "1.2"
    assert {step["state"] for step in made["steps"]} <= {
        "done", "already so", "needs a reboot", "with exceptions",
    }  # fmt: skip
    assert "intel_iommu=on" in made["reboot_due"]
    rows = json.loads(wirespeed("verify", plan, *HOST, "--json").out)["decisions"]
    assert {"decision", "planned", "found", "verdict", "reason", "note"} == set(rows[0])
    undone = json.loads(wirespeed("rollback", *HOST, "--json").out)
    assert undone["differences"] == [] or undone["differences"][0]["expected"]
    assert server.boots == 1


def test_apply_with_an_unmet_requirement_exits_with_1(
    wirespeed: Command, plan: str, server: FakeHost
) -> None:
    server.ovs = None
    ended = wirespeed("apply", plan, *HOST)
    assert ended.code == 1
    assert "ovs-vsctl is not installed" in ended.out


def test_rollback_damaged_journal_is_printed_and_ends_with_1(
    wirespeed: Command, server: FakeHost, plan: str
) -> None:
    assert wirespeed("apply", plan, *HOST).code == 0
    server.disk.sync_all()
    lines = server.disk.disk[PATH].split("\n")
    lines[3] = "\0" * len(lines[3])
    server.disk.disk[PATH] = "\n".join(lines)
    ended = wirespeed("rollback", *HOST, "--reboot")
    assert ended.code == 1
    text = " ".join(ended.out.split())
    assert "lab1: 13 settings put back of 13" in text
    assert "not undone: /var/lib/wirespeed/apply/journal: line 4 is damaged" in text
    assert "The journal stays." in text


def test_verify_that_could_not_check_ends_with_1(
    wirespeed: Command, server: FakeHost, plan: str
) -> None:
    wirespeed("apply", plan, *HOST, "--reboot")
    assert wirespeed("verify", plan, *HOST).code == 0
    server.appctl = False
    ended = wirespeed("verify", plan, *HOST)
    assert ended.code == 1
    text = " ".join(ended.out.split())
    assert "not checked audit WS13 rxq-across-nodes" in text
    assert "2 not checked" in text


def test_apply_journal_of_another_host_ends_with_1(
    wirespeed: Command, server: FakeHost, plan: str
) -> None:
    assert wirespeed("apply", plan, *HOST).code == 0
    server.kernel.board = "another"
    server.kernel.changed()
    for words in (("apply", plan), ("verify", plan), ("rollback",)):
        ended = wirespeed(*words, *HOST)
        assert ended.code == 1
        assert "is of another host: /sys/class/dmi/id/product_uuid was" in ended.err


def test_apply_reports_settings_that_a_timer_did_not_undo(
    wirespeed: Command, server: FakeHost, plan: str
) -> None:
    assert wirespeed("apply", plan, *HOST).code == 0
    server.disk.write(FIRED, "")
    ended = wirespeed("apply", plan, *HOST)
    assert "not undone by the timer: VFs of 0000:21:00.0: is 4 VFs" in " ".join(ended.out.split())
    server.disk.write(FIRED, "")
    told = json.loads(wirespeed("apply", plan, *HOST, "--json").out)
    assert not told["undone_before"]
    assert any(said.startswith("VFs of 0000:21:00.0") for said in told["not_undone_before"])
