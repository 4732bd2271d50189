# SPDX-License-Identifier: Apache-2.0
"""Test that runs of older versions still open. data/ has their stores, from a simulated SUT."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fake_rig import FakeTcpBench
from wirespeed.measure.tcp import summarise
from wirespeed.model.cpus import CpuPlacement, PlacementKind
from wirespeed.model.result.result import TCP, SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.design import StudyForm
from wirespeed.model.study.spec import Frames, VnfPages, VnfThreads
from wirespeed.model.study.tcp import Tcp
from wirespeed.store.codec import encode
from wirespeed.store.figures import measured
from wirespeed.store.placements import with_placement
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.results import decode_result
from wirespeed.store.store import Store
from wirespeed.store.trials import decode_trial, encode_trial
from wirespeed.store.workloads import decode_workload

DATA = Path(__file__).parent / "data"


def opened(name: str, directory: Path) -> Store:
    """Open a store that an older version wrote."""
    path = directory / f"{name}.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((DATA / f"{name}.sql").read_text(encoding="utf-8"))
    return Store(str(path))


@pytest.fixture
def old_run(tmp_path: Path) -> RunRecord:
    """Return a run of schema 0001: trials were valid or invalid."""
    with opened("run-0001", tmp_path) as store:
        assert [summary.id for summary in list_runs(store)] == ["wire-1"]
        return read_run(store, "wire-1", series=True)


@pytest.fixture
def gated_run(tmp_path: Path) -> RunRecord:
    """Return a run of schema 0002: pvp on a noisy host, with accepted frames named "sent"."""
    with opened("run-0002", tmp_path) as store:
        return read_run(store, "quickstart-1", series=True)


def trials(run: RunRecord) -> list[Trial]:
    return [stored.trial for stored in run.points[0].trials]


def test_an_old_run_keeps_its_rates_and_has_no_grade(old_run: RunRecord) -> None:
    result = old_run.points[0].result
    assert result is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == 2816250.0
    assert (result.grade, result.undisturbed, result.as_is) == (None, None, None)


def test_a_valid_trial_was_quiet_and_an_invalid_one_noisy(old_run: RunRecord) -> None:
    found = trials(old_run)
    assert [trial.quiet for trial in found[:3]] == [False, True, True]
    assert found[0].disturbed is not None
    assert "was away from its queues" in found[0].disturbed
    assert found[1].disturbed is None
    assert all(trial.gated is None and trial.fault is None for trial in found)
    assert found[1].lost == 7_000_000


def test_an_old_run_keeps_its_cpu_placement(old_run: RunRecord) -> None:
    before, after = CpuPlacement(45.0, 1.0), CpuPlacement(46.0, 1.02)
    assert {trial.observation.placement for trial in trials(old_run)} == {(before, after)}
    assert trials(old_run)[1].observation.threads[0].name == "lcore1"
    assert all(stored.series == () for stored in old_run.points[0].trials)


def test_old_result_gets_its_placement_from_its_trials(old_run: RunRecord) -> None:
    result = old_run.points[0].result
    assert result is not None
    assert (result.placement, result.placement_pairs) == (PlacementKind.ONE_CACHE, ())


def test_old_result_of_two_placements_has_none(old_run: RunRecord) -> None:
    far = CpuPlacement(210.0, 1.0)
    result = old_run.points[0].result
    assert result is not None
    bare = replace(result, placement=None)

    def elsewhere(trial: Trial) -> Trial:
        return replace(trial, observation=replace(trial.observation, placement=(far, far)))

    found = trials(old_run)
    mixed = [elsewhere(trial) if trial.stage is Stage.MRR else trial for trial in found]
    assert with_placement(bare, mixed).placement is (
        None if mixed != found else PlacementKind.ONE_CACHE
    )
    everywhere = [elsewhere(trial) for trial in found]
    assert with_placement(bare, everywhere).placement is PlacementKind.ACROSS_CACHES


def test_old_figures_of_a_fleet_have_the_placement_of_their_trials(tmp_path: Path) -> None:
    with opened("run-0001", tmp_path) as store:
        assert {figure.placement for figure in measured(store).figures} == {PlacementKind.ONE_CACHE}


def test_the_old_key_sent_is_read_as_accepted(old_run: RunRecord, gated_run: RunRecord) -> None:
    for trial in (*trials(old_run), *trials(gated_run)):
        assert trial.observation.total("accepted") == trial.offered > 0
    encoded = encode_trial(trials(gated_run)[1])
    (direction,) = encoded["observation"]["directions"]
    direction["sent"] = direction.pop("accepted") - 1000
    assert decode_trial(encoded).observation.total("refused") == 1000


def test_an_old_run_has_no_audit_and_gets_a_sut_description(
    old_run: RunRecord, gated_run: RunRecord
) -> None:
    # Explanations and audits are of their time; a SUT's description is a fact.
    for run, kind in ((old_run, "reference"), (gated_run, "ovs-dpdk")):
        assert run.audits is None
        (point,) = run.points
        assert point.explanations is None
        assert point.sut is not None
        assert point.sut.kind == kind


def test_an_old_tcp_run_still_opens(tmp_path: Path) -> None:
    with opened("run-0002", tmp_path) as store:
        (point,) = read_run(store, "s0-speedtest-1").points
    assert point.result is not None
    assert point.result.tcp is not None
    assert point.result.tcp.figures[0].limited_by == "path"
    assert point.sut is not None
    assert (point.sut.kind, point.has_vswitch) == ("ovs-dpdk", True)


def test_names_that_have_changed_since_are_still_read(old_run: RunRecord) -> None:
    trial = trials(old_run)[1]
    stored = encode_trial(trial)
    stored["seen"] = stored.pop("observation")
    assert decode_trial(stored) == trial

    run = FakeTcpBench(Tcp()).run()
    result = SearchResult(TCP, False, (), tcp=summarise([run], Tcp()))
    encoded = encode(result)
    for each in encoded["tcp"]["runs"]:
        each["ways"] = each.pop("directions")
    assert decode_result(encoded) == result


@pytest.mark.parametrize(
    ("tuning", "pages", "threads"),
    [
        ("none", VnfPages.SMALL, VnfThreads.ANYWHERE),
        ("huge-pages", VnfPages.HUGE, VnfThreads.ANYWHERE),
        ("node", VnfPages.HUGE, VnfThreads.NODE),
        ("cores", VnfPages.HUGE, VnfThreads.PINNED),
    ],
)
def test_tuning_steps_are_read_as_pages_and_threads(
    tuning: str, pages: VnfPages, threads: VnfThreads
) -> None:
    record = encode(Frames())
    record["sut"]["vnf"] = {"kind": "bng", "tuning": tuning}
    workload = decode_workload(record)
    assert isinstance(workload, Frames)
    assert (workload.sut.vnf.pages, workload.sut.vnf.threads) == (pages, threads)


def test_points_of_older_runs_are_measured_once_without_factors(old_run: RunRecord) -> None:
    [point, *_] = old_run.points
    assert (point.key, point.repeat, point.factors) == (point.id, 1, ())
    assert old_run.form == StudyForm()
