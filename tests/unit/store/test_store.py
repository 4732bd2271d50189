# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.support.fake_rig import FACTS, PLAN
from tests.support.sample import AUDIT, MadeUp
from wirespeed.model.errors import BadInput
from wirespeed.model.result.evidence import (
    DirectionWindows,
    Disturbance,
    DisturbanceKind,
    Evidence,
    Source,
    Windows,
)
from wirespeed.model.result.explanation import EvidenceFigure, ExpectedGain, Explanation, Proposal
from wirespeed.model.result.observation import LatencyRows
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.sut import SutDescription
from wirespeed.store import schema
from wirespeed.store.errors import Damaged, NoStore, NoSuchRun, StoreError
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import PointState
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.store.trials import decode_trial, encode_trial
from wirespeed.store.url import store_url
from wirespeed.study.load import load_study

ORIGIN = Origin(["wirespeed", "run", "wire"], {"wirespeed": "0.1.0"}, FACTS, (AUDIT,))
SUT = SutDescription("my-switch", "my own switch", "its only port", more_cpus="sut.vswitch.cpus")
EXPLANATIONS = (
    Explanation(
        "rx_ring_full", "The ring was full.",
        (EvidenceFigure("dropped", 12, "frames", "trial 3"),),
        Proposal("Give it more CPUs.", "sut.vswitch.cpus"),
        ExpectedGain(1e6, "frames/s", "the PDR minus the NDR"),
    ),
    Explanation("frame_cost", "A frame takes 126 ns."),
)  # fmt: skip


def start(store: Store) -> tuple[RunWriter, str]:
    study = load_study("wire")
    return RunWriter.start(store, study, ORIGIN), study.points[0].id


def searched() -> tuple[SearchResult, list[Trial]]:
    """Return a result with everything that a search finds, and noisy trials with series."""
    made = MadeUp(load_study("wire").points[0].workload, Grade.C, seed=1)
    return made.search(), made.trials


def stripped(trial: Trial) -> Trial:
    """Return the part of a trial that the store keeps next to the series."""
    evidence = dataclasses.replace(trial.observation.evidence, contention=())
    seen = dataclasses.replace(
        trial.observation, evidence=evidence, windows=None, latency_rows=None
    )
    return dataclasses.replace(trial, observation=seen, series=())


def test_a_stored_run_is_read_back_equal(store_name: str) -> None:
    result, trials = searched()
    with Store(store_name) as store:
        writer, point_id = start(store)
        writer.begin_point(point_id, PLAN, SUT)
        writer.add_bench(point_id, {"versions": {"Open vSwitch": "3.1.0"}})
        for trial in trials:
            writer.add_trial(point_id, trial)
        writer.complete_point(point_id, result, EXPLANATIONS)
        writer.finish()
    with Store(store_name) as store:
        record = read_run(store, writer.run_id, series=True)
    (point,) = record.points
    assert [stored.trial for stored in point.trials] == [stripped(trial) for trial in trials]
    assert any(trial.observation.evidence.disturbances for trial in trials)
    for stored, trial in zip(point.trials, trials, strict=True):
        assert stored.series == tuple(sorted(trial.series, key=lambda one: one.name))
    assert point.result == dataclasses.replace(result, trials=())
    assert point.plan == PLAN
    assert point.sut == SUT
    assert point.explanations == EXPLANATIONS
    assert record.audits == (AUDIT,)
    assert point.bench == {"versions": {"Open vSwitch": "3.1.0"}}
    assert point.workload == load_study("wire").points[0].workload
    assert record.host == FACTS
    assert record.command == ("wirespeed", "run", "wire")
    assert record.complete


def test_decode_trial_keeps_the_count_of_events_and_reads_records_without_one() -> None:
    disturbance = Disturbance(1, 0, 9, DisturbanceKind.LATE, Source.SCHEDULE, "sut", 5)
    (trial, *_) = searched()[1]
    evidence = Evidence((disturbance,))
    trial = dataclasses.replace(
        trial, observation=dataclasses.replace(trial.observation, evidence=evidence)
    )
    record = encode_trial(trial)
    assert decode_trial(record).observation.evidence.disturbances == (disturbance,)
    del record["observation"]["evidence"]["disturbances"][0]["count"]
    [read] = decode_trial(record).observation.evidence.disturbances
    assert read == dataclasses.replace(disturbance, count=1)


def test_series_are_read_only_where_they_are_asked_for(tmp_path: Path) -> None:
    _, trials = searched()
    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer, point_id = start(store)
        writer.begin_point(point_id, PLAN, SUT)
        writer.add_trial(point_id, trials[-1])
        (stored,) = read_run(store, writer.run_id).points[0].trials
        (whole,) = read_run(store, writer.run_id, series=True).points[0].trials
    assert stored.series == ()
    assert whole.series
    assert whole.trial == stored.trial


def test_windows_and_rows_of_latency_are_not_part_of_a_stored_trial() -> None:
    trial = searched()[1][-1]
    direction = DirectionWindows("up", (8000,) * 1000, (0,) * 1000, (8000,) * 1000, (9.5,) * 1000)
    windows = Windows(0, 1_000_000, (direction,))
    observation = dataclasses.replace(
        trial.observation, windows=windows, latency_rows=LatencyRows(0, 10, (((900, 3),),))
    )
    assert encode_trial(dataclasses.replace(trial, observation=observation)) == encode_trial(trial)


def test_runs_are_numbered_by_study(store_name: str) -> None:
    with Store(store_name) as store:
        first, second = start(store)[0].run_id, start(store)[0].run_id
        stem, number = first.rsplit("-", 1)
        assert stem == "wire"
        assert second == f"wire-{int(number) + 1}"
        assert [s.id for s in list_runs(store)][:2] == [second, first]
        assert read_run(store, "latest").id == second


def test_a_point_without_its_result_is_not_complete(store_name: str) -> None:
    # `kill -9` in the middle of a point leaves this state.
    _, trials = searched()
    with Store(store_name) as store:
        writer, point_id = start(store)
        writer.begin_point(point_id, PLAN, SUT)
        writer.add_trial(point_id, trials[0])
    with Store(store_name) as store:
        record = read_run(store, writer.run_id)
        assert RunWriter(store, writer.run_id).complete_points() == frozenset()
    assert record.points[0].state is PointState.RUNNING
    assert not record.complete
    assert [s.trial for s in record.points[0].trials] == [stripped(trials[0])]


def test_a_newer_database_is_refused_and_left_alone(store_name: str) -> None:
    with Store(store_name) as store:
        start(store)
        with store.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    try:
        with pytest.raises(StoreError, match=r"9999.*newer") as error:
            Store(store_name)
        assert "Update wirespeed" in error.value.next_step
    finally:
        _set_schema(store_name, "0008")
    with Store(store_name) as store:
        assert list_runs(store)


def _set_schema(store_name: str, revision: str) -> None:
    engine = create_engine(store_url(store_name))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
    engine.dispose()


def test_the_migrations_make_the_tables_that_the_code_uses(store_name: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from wirespeed.store.tables import METADATA

    with Store(store_name) as store, store.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_revisions_are_those_of_the_migrations() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    script = ScriptDirectory.from_config(config)
    assert schema.revisions() == {each.revision for each in script.walk_revisions()}
    assert max(schema.revisions()) == script.get_current_head()


def test_store_with_two_versions_is_damaged(store_name: str) -> None:
    with Store(store_name) as store, store.begin() as connection:
        connection.execute(text("INSERT INTO alembic_version VALUES ('0001')"))
    try:
        with pytest.raises(Damaged, match="it has more than one schema version"):
            Store(store_name)
    finally:
        engine = create_engine(store_url(store_name))
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM alembic_version WHERE version_num = '0001'"))
        engine.dispose()


def test_an_unknown_run_names_the_nearest(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.sqlite")) as store:
        run_id = start(store)[0].run_id
        with pytest.raises(NoSuchRun, match="wire-7") as error:
            read_run(store, "wire-7")
    assert run_id in error.value.next_step


def test_no_runs_at_all(tmp_path: Path) -> None:
    with (
        Store(str(tmp_path / "runs.sqlite")) as store,
        pytest.raises(NoSuchRun, match="no run yet"),
    ):
        read_run(store, "latest")


def test_something_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, please do not touch them\n" * 30)
    with pytest.raises(NoStore, match=r"notes\.txt: the file is no SQLite database") as failure:
        Store(str(path))
    assert failure.value.exit_code == 2
    assert path.read_text().startswith("these are my notes")


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    named = f"postgresql://nobody@/wirespeed?host={tmp_path}"
    with pytest.raises(StoreError) as failure:
        Store(named)
    assert failure.value.what.startswith("store postgresql://nobody@/wirespeed?host=")


class TestUrl:
    def test_without_a_name_it_is_in_the_xdg_data_directory(self) -> None:
        url = store_url(None, {"XDG_DATA_HOME": "/data"})
        assert url.database == "/data/wirespeed/wirespeed.sqlite"

    def test_the_environment_names_it_and_the_option_wins(self) -> None:
        env = {"WIRESPEED_STORE": "/elsewhere/runs.sqlite"}
        assert store_url(None, env).database == "/elsewhere/runs.sqlite"
        assert store_url("/mine.sqlite", env).database == "/mine.sqlite"

    @pytest.mark.parametrize("name", ["mysql://host/db", "http://host/", "sqlite://"])
    def test_other_databases_are_refused(self, name: str) -> None:
        with pytest.raises(BadInput, match="--store"):
            store_url(name, {})

    def test_a_password_is_not_shown(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError) as error:
            Store(f"postgresql://me:secret@/db?host={tmp_path}")
        assert "secret" not in str(error.value)
