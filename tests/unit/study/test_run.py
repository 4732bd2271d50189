# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.fake_rig import FACTS, FakeHost
from tests.support.sample import Nobody
from wirespeed.bench.interface import BenchError, TcpBench
from wirespeed.explain.explain import explain
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.spec import Frames, TcpStreams, Workload
from wirespeed.model.study.study import Study
from wirespeed.report.text.limits import measured
from wirespeed.store.read import read_run
from wirespeed.store.records import PointState, RunRecord
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.interface import Rig
from wirespeed.study.kinds.tcp import RepeatedTcp
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "runs.sqlite")) as opened:
        yield opened


@pytest.fixture
def study() -> Study:
    return load_study("wire", ["vary.sut.impair.rate_fps=[1e6, 2e6]"])


def start(store: Store, study: Study) -> RunWriter:
    return RunWriter.start(store, study, Origin(["wirespeed"], {"wirespeed": "0"}, FACTS))


def states(record: RunRecord) -> list[PointState]:
    return [point.state for point in record.points]


def loads_of_first_point(record: RunRecord) -> list[float]:
    return [stored.trial.intended_load_fps for stored in record.points[0].trials]


def test_every_point_is_measured_and_stored_with_its_trials(store: Store, study: Study) -> None:
    host, writer = FakeHost(), start(store, study)
    run_study(study, writer, host.rig, Nobody())
    record = read_run(store, writer.run_id)
    assert record.complete
    assert record.finished_at is not None
    for point, capacity_fps in zip(record.points, (1e6, 2e6), strict=True):
        assert point.result is not None
        assert point.result.ndr is not None
        assert point.result.ndr.lower is not None
        assert point.result.ndr.lower.load_fps == pytest.approx(capacity_fps, rel=0.005)
        assert len(point.trials) > 5
        assert point.plan is not None
        assert point.bench == {"generator": {"version": "fake 1.0"}}
        assert point.sut is not None
        assert point.sut.kind == "reference"
        found = measured(point, FACTS)
        assert found is not None
        assert point.explanations == explain(found) != ()
    assert host.closed == len(host.opened) == 2


@pytest.mark.parametrize("ways", [1, 2])
def test_virtual_ports_are_held_to_a_link_where_the_study_says_so(store: Store, ways: int) -> None:
    """Check a link of 100 Mbit/s: 148,810 frames/s of 64 octets in each direction."""
    line_rate_fps = ways * 1e8 / (84 * 8)
    both = f"topology.bidirectional={'true' if ways == 2 else 'false'}"
    study = load_study("wire", [both, "traffic.link_bps=1e8", "traffic.link_bound=true",
                                "sut.impair.rate_fps=1e6"])  # fmt: skip
    writer = start(store, study)
    run_study(study, writer, FakeHost().rig, Nobody())
    [point] = read_run(store, writer.run_id).points
    assert max(stored.trial.intended_load_fps for stored in point.trials) == line_rate_fps
    assert point.result is not None
    assert point.result.limited_by == "link"
    assert point.result.mrr_fps == pytest.approx(line_rate_fps, rel=0.01)


def test_emulation_is_stored_with_the_result(store: Store, study: Study) -> None:
    writer = start(store, study)
    run_study(study, writer, FakeHost(emulated="guests: no KVM").rig, Nobody())
    found = [point.result for point in read_run(store, writer.run_id).points]
    assert [result and result.emulated for result in found] == ["guests: no KVM"] * 2


class Broken(BenchError):
    pass


def break_at(trial: int, error: BaseException) -> FakeHost:
    def before(number: int) -> None:
        if number == trial:
            raise error

    return FakeHost(before_trial=before)


def test_a_bench_that_breaks_ends_the_run_and_keeps_what_was_measured(
    store: Store, study: Study
) -> None:
    host, writer = break_at(3, Broken("the vSwitch ended")), start(store, study)
    with pytest.raises(Broken):
        run_study(study, writer, host.rig, Nobody())
    record = read_run(store, writer.run_id)
    assert host.closed == 1
    assert states(record) == [PointState.FAILED, PointState.PENDING]
    assert record.points[0].error == "the vSwitch ended"
    assert record.points[0].result is None
    assert len(record.points[0].trials) == 3


def test_resume_measures_what_is_not_complete_and_nothing_else(store: Store, study: Study) -> None:
    writer = start(store, study)
    first = FakeHost()

    class StopAfterFirst(Nobody):
        def point_complete(self, point: object, result: object) -> None:  # noqa: ARG002
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(study, writer, first.rig, StopAfterFirst())
    before = read_run(store, writer.run_id).points[0]

    second = FakeHost()
    run_study(study, writer, second.rig, Nobody())
    record = read_run(store, writer.run_id)
    assert record.complete
    assert [s.sut.impair.rate_fps for s in second.opened if isinstance(s, Frames)] == [2e6]
    assert record.points[0] == before


def test_the_trials_of_an_attempt_that_broke_do_not_count(store: Store, study: Study) -> None:
    writer = start(store, study)
    with pytest.raises(Broken):
        run_study(study, writer, break_at(4, Broken("gone")).rig, Nobody())
    run_study(study, writer, FakeHost().rig, Nobody())
    resumed = read_run(store, writer.run_id)

    other = start(store, study)
    run_study(study, other, FakeHost().rig, Nobody())
    undisturbed = read_run(store, other.run_id)
    assert loads_of_first_point(resumed) == loads_of_first_point(undisturbed)


@pytest.fixture
def tcp_study(tmp_path: Path) -> str:
    path = tmp_path / "tcp.toml"
    path.write_text('[tcp]\npath = "ovs"\nstreams = 4\nseconds = 2\nrepeats = 2\n')
    return str(path)


def test_a_tcp_point_runs_as_often_as_asked_and_its_result_is_stored(
    store: Store, tcp_study: str
) -> None:
    study = load_study(tcp_study, ["tcp.repeats=3"])
    host, writer = FakeHost(), start(store, study)
    run_study(study, writer, host.rig, Nobody())
    [point] = read_run(store, writer.run_id).points
    assert point.result is not None
    assert point.result.tcp is not None
    assert len(point.result.tcp.runs) == 3
    assert point.result.tcp.figures[0].median_bps == pytest.approx(11e9 * 1.04)
    assert point.result.tcp.runs[0].directions[0].series[0][1].at_us == 250_000
    assert host.closed == 1


def test_a_tcp_point_that_broke_is_measured_again_and_complete_ones_are_not(
    store: Store, tcp_study: str
) -> None:
    study = load_study(tcp_study, ["vary.tcp.message_bytes=[64, 128]"])
    writer = start(store, study)

    def breaks(number: int) -> None:
        if len(broken.opened) == 2 and number == 0:
            raise BenchError("the speed test failed", "")

    broken = FakeHost(before_trial=breaks)
    with pytest.raises(BenchError):
        run_study(study, writer, broken.rig, Nobody())
    assert broken.closed == 2
    assert states(read_run(store, writer.run_id)) == [PointState.COMPLETE, PointState.FAILED]
    whole = FakeHost()
    run_study(study, writer, whole.rig, Nobody())
    assert [spec.tcp.message_bytes for spec in whole.opened if isinstance(spec, TcpStreams)] == [
        128
    ]
    assert read_run(store, writer.run_id).complete


def starved(host: FakeHost, runs: range) -> Rig:
    """Return the host's rig with failing TCP runs.

    In `runs` a client counts next to no time; the run before the first of them fails.
    """

    @contextmanager
    def open_own(spec: Workload, plan: Plan, name: str) -> Iterator[RepeatedTcp]:
        assert isinstance(spec, TcpStreams)
        with host.open_tcp(spec, plan, name) as bench:
            yield RepeatedTcp(spec.tcp, Starved(bench, runs))

    return replace(host.rig, open_own=open_own)


@dataclass
class Starved:
    bench: TcpBench
    runs: range
    number: int = 0

    def run(self) -> TcpRun:
        run = self.bench.run()
        self.number += 1
        if self.number == self.runs.start:
            raise BenchError("the speed test failed: Broken pipe")
        if self.number - 1 not in self.runs:
            return run
        return replace(
            run, directions=tuple(replace(way, bits_per_second=1e15) for way in run.directions)
        )

    def describe(self) -> Mapping[str, object]:
        return self.bench.describe()

    @property
    def emulated(self) -> str | None:
        return self.bench.emulated


def test_a_tcp_run_that_says_nothing_is_repeated_and_reported(store: Store, tcp_study: str) -> None:
    study = load_study(tcp_study, [])
    writer = start(store, study)
    run_study(study, writer, starved(FakeHost(), range(2, 3)), Nobody())
    [point] = read_run(store, writer.run_id).points
    assert point.result is not None
    assert point.result.tcp is not None
    assert len(point.result.tcp.runs) == 2
    failed, *starving = point.result.tcp.discarded
    assert failed == "the speed test failed: Broken pipe"
    assert ["instead of 2 s" in why for why in starving] == [True]
    assert point.result.tcp.total_bps < 1e12


def test_a_tcp_point_without_a_run_that_counts_is_not_measurable_and_the_study_goes_on(
    store: Store, tcp_study: str
) -> None:
    study = load_study(tcp_study, ["vary.tcp.message_bytes=[64, 128]"])
    writer = start(store, study)
    run_study(study, writer, starved(FakeHost(), range(100)), Nobody())
    record = read_run(store, writer.run_id)
    assert states(record) == [PointState.COMPLETE] * 2
    for point in record.points:
        assert point.result is not None
        assert point.result.tcp is None
        assert (point.result.not_measurable or "").startswith(
            "none of 4 runs has a rate; the last: a "
        )
        assert len(point.result.notes) == 4
