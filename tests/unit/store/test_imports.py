# SPDX-License-Identifier: Apache-2.0
"""Test that a host's runs are imported whole, once, and again when they have grown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.support.fake_rig import PLAN
from tests.unit.store.test_store import SUT, searched, start
from wirespeed.model.errors import BadInput
from wirespeed.model.result.trial import Stage
from wirespeed.store.errors import StoreError
from wirespeed.store.figures import measured
from wirespeed.store.imports import import_runs
from wirespeed.store.labels import note_run, rename_run, tag_run
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.run_writer import RunWriter
from wirespeed.store.store import Store


def measure(writer: RunWriter, point: str) -> None:
    result, trials = searched()
    writer.begin_point(point, PLAN, SUT)
    for trial in trials:
        writer.add_trial(point, trial)
    writer.complete_point(point, result, ())
    writer.finish()


def content(run: RunRecord) -> RunRecord:
    """Return the run without its number, which each store assigns."""
    return replace(run, id="")


def test_a_run_is_copied_whole_and_once(store_name: str, tmp_path: Path) -> None:
    with Store(str(tmp_path / "there.sqlite")) as there, Store(store_name) as here:
        writer, point = start(there)
        measure(writer, point)
        before = len(list_runs(here))
        assert import_runs(here, there, "compute-1") == 1
        assert import_runs(here, there, "compute-1") == 0
        # Another host, with a run of the same id and time.
        assert import_runs(here, there, "compute-2") == 1
        copies = [run.id for run in list_runs(here)][: len(list_runs(here)) - before]
        original = read_run(there, writer.run_id, series=True)
        assert original.points[0].trials[0].packed
        for copy in copies:
            assert content(read_run(here, copy, series=True)) == content(original)


def test_a_run_that_has_grown_replaces_its_copy(tmp_path: Path) -> None:
    with (
        Store(str(tmp_path / "there.sqlite")) as there,
        Store(str(tmp_path / "all.sqlite")) as here,
    ):
        writer, point = start(there)
        assert import_runs(here, there, "a") == 1
        (copy,) = list_runs(here)
        assert copy.complete == 0
        measure(writer, point)
        assert import_runs(here, there, "a") == 1
        (grown,) = list_runs(here)
        assert (grown.id, grown.complete) == (copy.id, 1)


def test_import_keeps_the_labels_of_this_store(tmp_path: Path) -> None:
    with (
        Store(str(tmp_path / "there.sqlite")) as there,
        Store(str(tmp_path / "all.sqlite")) as here,
    ):
        writer, point = start(there)
        rename_run(there, writer.run_id, "theirs")
        import_runs(here, there, "a")
        (copy,) = list_runs(here)
        assert (copy.name, copy.tags, copy.note) == (None, (), None)
        rename_run(here, copy.id, "ours")
        tag_run(here, copy.id, "lab")
        note_run(here, copy.id, "C-states off")
        measure(writer, point)
        import_runs(here, there, "a")
        (grown,) = list_runs(here)
        assert grown.complete == 1
        assert (grown.name, grown.tags, grown.note) == ("ours", ("lab",), "C-states off")


def test_figures_belong_to_the_host_that_the_fleet_names(store_name: str, tmp_path: Path) -> None:
    with Store(str(tmp_path / "there.sqlite")) as there, Store(store_name) as here:
        writer, point = start(there)
        measure(writer, point)
        import_runs(here, there, "compute-7")
        found = {one.name: one for one in measured(here).figures if one.host == "compute-7"}
        result = read_run(there, writer.run_id).points[0].result
    assert result is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert found["NDR"].value == result.ndr.lower.load_fps / 1e6
    assert found["NDR"].low <= found["NDR"].value <= found["NDR"].high
    assert found["NDR"].study == "wire"


def test_trials_at_a_constant_load_are_repeats(store_name: str, tmp_path: Path) -> None:
    with Store(str(tmp_path / "there.sqlite")) as there, Store(store_name) as here:
        writer, point = start(there)
        trials = searched()[1][:3]
        writer.begin_point(point, PLAN, SUT)
        for trial in trials:
            writer.add_trial(point, replace(trial, stage=Stage.CONSTANT))
            writer.add_trial(point, trial)
        import_runs(here, there, "burnt")
        found = [one for one in measured(here).repeats if one.host == "burnt"]
    constant = [trial for trial in trials if trial.stage is Stage.CONSTANT]
    assert len(found) == 3 + len(constant)
    assert found[0].rate_fps == trials[0].forwarding_fps
    assert found[0].loss == trials[0].loss_ratio


@pytest.mark.parametrize("damage", ["no database", "a newer schema"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "runs.sqlite"
    if damage == "no database":
        path.write_text("This is no database, whatever its name says.\n" * 100)
    else:
        with Store(str(path)) as store, store.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises((BadInput, StoreError), match=r"runs\.sqlite"):
        Store(str(path))
