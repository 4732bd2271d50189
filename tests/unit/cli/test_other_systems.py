# SPDX-License-Identifier: Apache-2.0
"""Take recorded RHEL, Ubuntu and SLES hosts through all commands, and apply to simulated ones."""

from __future__ import annotations

import configparser
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.hosts.other_systems import OTHER_SYSTEMS, OtherSystem
from tests.support.apply_plans import SMALL, plan_for
from tests.support.distribution_words import words_of_others
from tests.support.fake_host import FakeHost, no_sleep
from tests.unit.cli.conftest import Command
from wirespeed.apply import session
from wirespeed.apply.steps.boot_unit import PLANNED
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Finding, Status
from wirespeed.model.host.operating_system import family_of
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.render.targets import render
from wirespeed.plan.workload.file import parse_workload
from wirespeed.remote.recorded import RecordedRunner

HOST = "ssh://lab1"
EACH = pytest.mark.parametrize("system", OTHER_SYSTEMS, ids=lambda system: system.name)
NAMED = {
    "rhel-9-tuned": "Red Hat Enterprise Linux 9.4",
    "rhel-10": "Red Hat Enterprise Linux 10.0",
    "ubuntu-22.04": "Ubuntu 22.04",
    "ubuntu-24.04-tuned": "Ubuntu 24.04",
    "sles-15": "SLES 15.6",
}


@cache
def facts_of(system: OtherSystem) -> HostFacts:
    return collect(system.runner())


def plan_of(system: OtherSystem) -> Plan:
    return plan_workload(parse_workload(SMALL, "small.toml"), [facts_of(system)])


def failed(system: OtherSystem) -> dict[str, Finding]:
    """Return the failed findings against its plan, by their rule; of several one."""
    report = audit(Subject(facts_of(system), plan_of(system)), all_rules())
    return {f.rule: f for f in report.findings if f.status is Status.FAILED}


@EACH
def test_recording_of_another_system_names_it(
    system: OtherSystem, tmp_path: Path, wirespeed: Command
) -> None:
    system.record(tmp_path / "host")
    read = collect(RecordedRunner.open(str(tmp_path / "host")))
    assert read == facts_of(system)
    assert read.operating_system is not None
    assert family_of(read.operating_system) is system.family
    ended = wirespeed("inspect", "--recorded", str(tmp_path / "host"))
    assert ended.code == 0, ended.err
    assert NAMED[system.name] in " ".join(ended.out.split())


@EACH
def test_audit_of_another_system_has_its_commands(system: OtherSystem) -> None:
    found = failed(system)
    commands = "\n".join(line for each in found.values() for line in each.fix)
    assert found
    assert words_of_others(commands, system.family) == set()
    assert ("WS69" in found) == ("mitigations=off" in facts_of(system).kernel.cmdline)


def test_audit_of_rhel_with_tuned_knows_what_its_profile_sets() -> None:
    tuned = facts_of(OTHER_SYSTEMS[0]).tuned
    assert tuned is not None
    assert tuned.profiles == ("cpu-partitioning",)
    assert tuned.sets("cpu.governor")
    assert tuned.sets("bootloader.cmdline*")
    assert facts_of(OTHER_SYSTEMS[1]).tuned is not None
    assert "tuned (profile cpu-partitioning)" in failed(OTHER_SYSTEMS[0])["WS70"].found


@EACH
def test_rendered_files_of_another_system_are_its_own(system: OtherSystem) -> None:
    plan = plan_of(system)
    assert not plan.unplaced
    for path, text in render(plan).items():
        assert words_of_others(text, system.family) == set(), path
        match Path(path).suffix:
            case ".sh" | ".cfg":
                check = ["bash", "-n"]
                done = subprocess.run(
                    check, input=text, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, done.stderr
            case ".conf" | ".ini":
                configparser.RawConfigParser(strict=False).read_string(text)
            case ".yml" | ".yaml":
                loader = type("Loader", (yaml.CSafeLoader,), {})
                loader.add_constructor("!unsafe", lambda _, node: node.value)
                yaml.load(text, loader)  # noqa: S506 (a subclass of the safe loader)


@EACH
def test_apply_to_another_system_is_previewed_made_and_undone(system: OtherSystem) -> None:
    host = system.host()
    before = host.state()
    plan = plan_for(host)
    assert plan.hosts[0].family is system.family
    changes = host.changes
    preview = session.preview(host.reach, HOST, plan, will_reboot=True)
    assert not preview.failed
    assert host.state() == before
    applied = session.apply(host.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    assert [row for row in applied.rows or () if row.failed] == []
    assert not applied.failed
    assert host.changes > changes
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed, undone
    assert host.state() == before


@EACH
def test_unit_of_apply_is_one_of_systemd(system: OtherSystem, tmp_path: Path) -> None:
    host: FakeHost = system.host()
    session.apply(host.reach, HOST, plan_for(host), may_reboot=True, sleep=no_sleep)
    text = host.disk.read(f"/etc/systemd/system/{PLANNED.unit}")
    assert text is not None
    unit = tmp_path / PLANNED.unit
    # The script is on the simulated host.
    unit.write_text(text.replace(PLANNED.script, "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert PLANNED.unit not in done.stderr, done.stderr
