# SPDX-License-Identifier: Apache-2.0
"""Test that the benchmark compares a value that a rule rejects with one that it wants."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import audit_pairs
from benchmarks.audit_pairs import Setting, compared, effect, settings

from tests.hosts.fake_runner import FakeRunner
from tests.unit.audit.good_host import good_facts, with_facts
from wirespeed.audit.engine import run_rule
from wirespeed.audit.evidence import effects_in
from wirespeed.audit.registry import rule_named
from wirespeed.experiment.turns import Answer, Rates
from wirespeed.host.housekeeping import read_housekeeping
from wirespeed.host.reader import Reader
from wirespeed.model.host.finding import Status

DATA = Path(audit_pairs.__file__).parents[1] / "src/wirespeed/audit/data/measured.csv"
HOST = good_facts()
ALL = list(settings(set(HOST.online_cpus), set(HOST.kernel.isolated)))


def status(setting: Setting, value: str) -> Status:
    runner = FakeRunner(name="host")
    # Of a choice, the kernel puts the selected word into brackets.
    text = f"[{value}]" if setting.path.endswith("/enabled") else value
    runner.files |= {setting.path: text, "/proc/sys/kernel/sched_rt_period_us": "1000000"}
    facts = with_facts(housekeeping=read_housekeeping(Reader(runner)))
    (finding,) = run_rule(rule_named(setting.rule), facts)
    return finding.status


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.rule)
def test_audit_pairs_levels_are_rejected_and_wanted_by_the_rule(setting: Setting) -> None:
    assert status(setting, setting.rejected) is Status.FAILED
    assert status(setting, setting.wanted) is Status.PASSED


def test_audit_pairs_workqueues_stay_where_all_cpus_poll() -> None:
    assert [each.rule for each in settings({0, 1}, {0, 1})] == [e.rule for e in ALL[:-1]]


def test_audit_pairs_rows_are_those_of_the_data_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setting = ALL[3]
    levels: list[str] = []

    def measure(_point: object, files: dict[str, str]) -> Rates:
        levels.append(files[setting.path])
        return {None: (1.1 if levels[-1] == setting.wanted else 1.0) * (1e6 + len(levels))}

    monkeypatch.setattr(audit_pairs, "rates_of", measure)
    found = compared(setting, None)  # type: ignore[arg-type]
    assert found.answer is Answer.MORE
    assert levels[:4] == ["1", "10", "10", "1"]
    row = effect(setting, found, HOST)
    header = DATA.read_text(encoding="utf-8").splitlines()[0]
    text = f"{header}\n{audit_pairs.csv_rows([row])}"
    assert effects_in(text) == {"WS61": row}
    assert row.effect_percent == pytest.approx(10, abs=0.1)
