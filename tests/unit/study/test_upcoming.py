# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.fake_rig import FACTS, FakeBench, FakeHost
from tests.support.sample import Nobody
from wirespeed.bench.interface import BenchError
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.spec import Frames
from wirespeed.model.study.study import Study
from wirespeed.store.read import read_run
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.interface import Rig
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study

AT = {"n": CpuPlacement(45.0, 1.0), "f": CpuPlacement(210.0, 1.0)}


class PlacedBench(FakeBench):
    at: CpuPlacement | None = None

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        found = super().measure(load_fps, duration_s)
        return found if self.at is None else replace(found, placement=(self.at, self.at))


@dataclass
class MovedHost:
    """A host whose n-th measured point has the placement of the n-th letter."""

    placements: str
    fails_at: int = -1
    opened: int = 0

    @property
    def rig(self) -> Rig:
        return replace(FakeHost().rig, open_bench=self._open)

    @contextmanager
    def _open(self, _spec: Frames, _plan: Plan, _name: str) -> Iterator[FakeBench]:
        if self.opened == self.fails_at:
            raise BenchError("the bench broke", "Mend it.")
        bench = PlacedBench(1e6)
        bench.at = AT.get(self.placements[self.opened])
        self.opened += 1
        yield bench


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[search]\nkind = "mrr"\n[topology]\nkind = "wire"\n[sut]\nimpair.rate_fps = 1e6\n'
        "[vary]\ntraffic.frame = [64, 128]\n"
        '[design]\nrepeats = 3\norder = "random"\nseed = 3\n'
    )
    return load_study(str(path))


def measured(store: Store, writer: RunWriter) -> list[str]:
    """Return the IDs of the points in the run's order of measuring."""
    points = [p for p in read_run(store, writer.run_id).points if p.result is not None]
    return [point.id for point in sorted(points, key=lambda point: point.started_at or "")]


def run(study: Study, host: MovedHost, store: Store, writer: RunWriter | None = None) -> RunWriter:
    writer = writer or RunWriter.start(store, study, Origin(["wirespeed"], {}, FACTS))
    run_study(study, writer, host.rig, Nobody())
    return writer


@pytest.mark.parametrize("placements", ["nnnnnn", "ffffff", "------"])
def test_run_one_placement_keeps_the_planned_order(
    tmp_path: Path, study: Study, placements: str
) -> None:
    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer = run(study, MovedHost(placements), store)
        assert measured(store, writer) == [point.id for point in study.in_order]


def test_run_after_a_move_takes_what_the_placement_lacks(tmp_path: Path, study: Study) -> None:
    planned = [point.id for point in study.in_order]
    first = planned[0]
    assert planned[1] == first, "of this seed the plan begins with the same point twice"
    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer = run(study, MovedHost("nfffff"), store)
        found = measured(store, writer)
    assert sorted(found) == sorted(planned)
    assert found[:2] == [first, first]
    assert found[2] != first, "far has no result of the other point"


def test_run_resumed_knows_the_placements_of_before(tmp_path: Path, study: Study) -> None:
    host = MovedHost("nfffff", fails_at=3)
    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin(["wirespeed"], {}, FACTS))
        with pytest.raises(BenchError):
            run(study, host, store, writer)
        done = writer.placements()
        assert sorted(kind for kinds in done.values() for kind in kinds) == [
            "across caches", "across caches", "one cache",
        ]  # fmt: skip
        host.fails_at = -1
        run(study, host, store, writer)
        assert len(measured(store, writer)) == 6
