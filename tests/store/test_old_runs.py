# SPDX-License-Identifier: Apache-2.0
"""Runs that an older version stored still open. data/ has what it wrote, on a simulated SUT."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.trial import Trial
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.store import Store

DATA = Path(__file__).parent / "data"


@pytest.fixture
def old_run(tmp_path: Path) -> RunRecord:
    """A run of schema 0001: trials were valid or not."""
    path = tmp_path / "runs.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript((DATA / "run-0001.sql").read_text(encoding="utf-8"))
    connection.close()
    with Store(str(path)) as store:
        assert [summary.id for summary in list_runs(store)] == ["wire-1"]
        return read_run(store, "wire-1", series=True)


def trials(run: RunRecord) -> list[Trial]:
    return [stored.trial for stored in run.points[0].trials]


def test_its_figures_are_kept_and_it_claims_no_grade(old_run: RunRecord) -> None:
    result = old_run.points[0].result
    assert result is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == 2816250.0
    assert (result.grade, result.undisturbed, result.as_is) == (None, None, None)


def test_a_valid_trial_was_quiet_and_an_invalid_one_disturbed(old_run: RunRecord) -> None:
    found = trials(old_run)
    assert [trial.quiet for trial in found[:3]] == [False, True, True]
    assert found[0].disturbed is not None
    assert "was away from its queues" in found[0].disturbed
    assert found[1].disturbed is None
    assert all(trial.gated is None and trial.fault is None for trial in found)
    assert found[1].lost == 7_000_000


def test_where_its_cpus_were_is_kept(old_run: RunRecord) -> None:
    before, after = CpuPlacement(45.0, 1.0), CpuPlacement(46.0, 1.02)
    assert {trial.seen.placement for trial in trials(old_run)} == {(before, after)}
    assert trials(old_run)[1].seen.threads[0].name == "lcore1"
    assert all(stored.series == () for stored in old_run.points[0].trials)
