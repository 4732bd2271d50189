# SPDX-License-Identifier: Apache-2.0
"""Check points with counted TCP connections, from the study file to every form of a report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest
from rich.console import Console

from tests.support.fake_rig import FACTS, FakeHost, intervals
from tests.support.sample import Nobody
from tests.unit.report.test_document import problems
from wirespeed.bench.interface import BenchError
from wirespeed.cli.show.show import print_results
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.series import Series, SeriesKind
from wirespeed.model.result.sessions import ACCEPTED, ConnectTimes, Failures, SessionsRun
from wirespeed.model.study.sessions import CLIENT_PORTS
from wirespeed.model.study.spec import TcpSessions, Workload
from wirespeed.report.compare.comparison import Judgement
from wirespeed.report.compare.runs import compare_runs
from wirespeed.report.json.document import document
from wirespeed.report.page.html import html_report
from wirespeed.report.text.answer import answers_of
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.limit_words import limited_by
from wirespeed.report.text.limits import explanations
from wirespeed.report.text.sentence import point_sentence
from wirespeed.report.text.tiles import tiles
from wirespeed.store.codec import encode
from wirespeed.store.headlines import headline
from wirespeed.store.read import read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.store.workloads import decode_workload
from wirespeed.study.errors import StudyError
from wirespeed.study.kinds.sessions import RepeatedSessions
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study

SHORT = ("tcp.seconds=2", "tcp.repeats=2")
TIMES = ConnectTimes(100, 200, 300, 400, 500)


def rate_run(per_s: float, server: float, clients: float, *failures: Failures) -> SessionsRun:
    """Return a run of 2 s without noise."""
    evidence = intervals([False] * 20)
    payload = Series(
        ACCEPTED, "connections", SeriesKind.COUNT, "traffic", evidence.at_ns[1:], (per_s / 10,) * 20
    )
    return SessionsRun(
        per_s, round(per_s * 2), failures, TIMES, 2.1, server, clients, evidence=evidence,
        payload=(payload,),
    )  # fmt: skip


def held_run(held: int, *failures: Failures) -> SessionsRun:
    return SessionsRun(
        float(held), held, failures, TIMES, 3.0, 0.1, 0.1, opening_s=0.5, answered_again=held,
        server_bytes_each=2048.0,
    )  # fmt: skip


@dataclass
class FakeBench:
    """Returns the runs in turn; raises those that are errors."""

    runs: Sequence[SessionsRun | BenchError]
    made: int = 0
    emulated: str | None = None

    def run(self) -> SessionsRun:
        run = self.runs[self.made % len(self.runs)]
        self.made += 1
        if isinstance(run, BenchError):
            raise run
        return run

    def describe(self) -> Mapping[str, object]:
        return {"speed-test server": {"version": "fake 1.0"}}


@dataclass
class Reports(Nobody):
    heard: list[str] = field(default_factory=list)

    def run_ended(self, rates: str, number: int) -> None:
        self.heard.append(f"{number}: {rates}")

    def run_failed(self, why: str) -> None:
        self.heard.append(why)


def workload(*overrides: str) -> TcpSessions:
    found = load_study("sessions", [*SHORT, *overrides]).points[0].workload
    assert isinstance(found, TcpSessions)
    return found


def measured(*runs: SessionsRun | BenchError, mode: str = "rate") -> SearchResult:
    point = RepeatedSessions(workload(f"sessions.mode={mode}"), FakeBench(runs))
    return point.measure(Reports())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """Return a run of the shipped study, read back from a real store."""

    @contextmanager
    def open_own(spec: Workload, _plan: Plan, _name: str) -> Iterator[RepeatedSessions]:
        assert isinstance(spec, TcpSessions)
        rate = spec.sessions.mode == "rate"
        fake = FakeBench([rate_run(20_000, 0.95, 0.5) if rate else held_run(10_000)])
        yield RepeatedSessions(spec, fake)

    rig = replace(FakeHost().rig, open_own=open_own)
    study = load_study("sessions", SHORT)
    with Store(str(tmp_path_factory.mktemp("run") / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin(["wirespeed"], {"wirespeed": "0"}, FACTS))
        run_study(study, writer, rig, Nobody())
        found = headline(store, writer.run_id)
        assert found is not None
        assert (found.figure, found.value, found.unit) == ("sessions", 20_000, "connections/s")
        return read_run(store, writer.run_id)


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["sessions.connections=0", "sessions.mode=concurrent"], "sessions.connections = 0"),
        (["sessions.mode=fast"], "sessions.mode = "),
        (["sessions.opening=0"], "sessions.opening = 0"),
        (["sessions.connections=1", "sessions.mode=concurrent"], "must be 2 to"),
        (
            [f"sessions.connections={2 * CLIENT_PORTS + 1}", "sessions.mode=concurrent"],
            f"a client has {CLIENT_PORTS} ports for one server",
        ),
        (["sessions.connections=5", "sessions.mode=rate"], 'sessions.mode = "rate"'),
        (["tcp.omit_s=3", "sessions.mode=concurrent"], "tcp.omit_s = 3"),
        (["tcp.streams=4"], "tcp.streams = 4: does not apply with [sessions]"),
        (["tcp.tool=iperf3"], "does not apply with [sessions]"),
        (["traffic.frame=128"], "traffic"),
    ],
)
def test_sessions_bad_input_is_named(overrides: list[str], says: str) -> None:
    with pytest.raises(StudyError) as refused:
        load_study("sessions", overrides)
    assert says in str(refused.value.what)


def test_sessions_workload_survives_the_store() -> None:
    found = workload("tcp.path=bridge", "sessions.opening=7")
    assert decode_workload(encode(found)) == found


def test_sessions_points_have_labels_and_tables_of_their_own() -> None:
    points = load_study("sessions").points
    assert [point.label for point in points] == [
        "TCP sessions, rate, over veth",
        "TCP sessions, rate, over bridge",
        "TCP sessions, concurrent, over veth",
        "TCP sessions, concurrent, over bridge",
    ]
    assert len({point.id for point in points}) == 4
    assert points[0].parameters["sessions"]["mode"] == "rate"


def test_sessions_quiet_runs_have_a_clean_rate_and_grade_a() -> None:
    found = measured(rate_run(10_000, 0.95, 0.4), rate_run(12_000, 0.95, 0.4))
    assert found.sessions is not None
    figure = found.sessions.figure
    assert (figure.median, figure.lowest, figure.highest) == (11_000, 10_000, 12_000)
    assert figure.undisturbed == pytest.approx(11_000)
    assert figure.undisturbed_error
    assert found.grade is Grade.A


@pytest.mark.parametrize(
    ("server", "clients", "failures", "limit"),
    [
        (0.95, 0.4, (), "server_busy"),
        (0.4, 0.95, (), "clients_busy"),
        (0.4, 0.4, (), "unknown"),
        (0.4, 0.4, (Failures("no local port", 900),), "no_local_port"),
        (0.95, 0.4, (Failures("timeout", 1),), "server_busy"),
    ],
)
def test_sessions_rate_names_its_limit(
    server: float, clients: float, failures: tuple[Failures, ...], limit: str
) -> None:
    found = measured(rate_run(10_000, server, clients, *failures))
    assert found.sessions is not None
    [verdict] = found.sessions.verdicts
    assert verdict.limited_by == limit
    assert ("Not known" in verdict.sentence) == (limit == "unknown")


def test_sessions_held_runs_that_differ_have_grade_c() -> None:
    found = measured(held_run(10_000), held_run(9_000, Failures("reset", 1000)), mode="concurrent")
    assert (found.grade, found.because) == (Grade.C, ("the runs held 9,000 to 10,000 connections",))
    assert found.sessions is not None
    assert found.sessions.figure.limited_by == "reset"
    assert found.sessions.failures == {"reset": 1000}


def test_sessions_limit_not_reached_is_reported() -> None:
    found = measured(held_run(10_000), mode="concurrent")
    assert found.sessions is not None
    assert found.sessions.figure.limited_by == "connections"
    assert "limit was not reached" in found.sessions.figure.because


def test_sessions_failed_run_is_made_again_and_reported() -> None:
    reports = Reports()
    bench = FakeBench([BenchError("it broke"), rate_run(10_000, 0.5, 0.5)])
    found = RepeatedSessions(workload(), bench).measure(reports)
    assert found.sessions is not None
    assert len(found.sessions.runs) == 2
    assert "it broke" in reports.heard
    assert "1: 10,000 connections/s" in reports.heard


def test_sessions_without_an_answer_are_not_measurable() -> None:
    silent = replace(rate_run(0, 0.1, 0.1, Failures("refused", 7)), answered=0)
    found = measured(silent)
    assert found.sessions is None
    assert found.not_measurable is not None
    assert "refused (7)" in found.not_measurable


def test_sessions_run_follows_the_schema(run: RunRecord) -> None:
    assert problems(document(run)) == []
    assert document(run)["points"][0]["result"]["type"] == "sessions"


def test_sessions_run_is_in_every_form_of_a_report(run: RunRecord) -> None:
    out = io.StringIO()
    print_results(run, Console(file=out, width=250))
    assert "20,000 connections/s" in out.getvalue()
    assert "10,000 concurrent connections" in out.getvalue()
    page = html_report(run)
    assert '<section id="sessions">' in page
    assert "20,000 connections/s" in page
    rows = list(csv.DictReader(io.StringIO(csv_text(run))))
    assert float(rows[0]["sessions_median"]) == 20_000
    assert rows[0]["tcp_path"] == ""
    assert rows[2]["sessions_server_bytes_each"] == "2048.0"
    assert [(tile.value, tile.unit) for tile in tiles(run)] == [
        ("20,000", "connections/s"), ("20,000", "connections/s"),
        ("10,000", "concurrent connections"), ("10,000", "concurrent connections"),
    ]  # fmt: skip
    answer = str(answers_of(run)[0])
    assert answer.startswith("TCP sessions, rate, over veth: 20,000 connections/s of TCP sessions")
    assert "limited by server busy" in answer
    assert "20,000 connections/s in all time (grade A)" in point_sentence(run.points[0])


def test_sessions_run_is_explained(run: RunRecord) -> None:
    [found] = explanations(run.points[0])
    assert found.limit == "server_busy"
    assert any(figure.unit == "connections/s" for figure in found.evidence)


def test_sessions_runs_are_compared_by_their_clean_rates(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    assert result.sessions is not None
    figure = replace(result.sessions.figure, median=10_000, undisturbed=10_000)
    slower = replace(result, sessions=replace(result.sessions, figures=(figure,)))
    other = replace(run, points=(replace(run.points[0], result=slower), *run.points[1:]))
    first, *same = compare_runs(run, other, 0.05).differences
    assert (first.a_fps, first.b_fps, first.unit) == (20_000, 10_000, "connections/s")
    assert first.verdict is Judgement.WORSE
    assert {each.verdict for each in same} == {Judgement.SAME}


def test_sessions_limit_is_in_the_brief_line(run: RunRecord) -> None:
    assert [limited_by(point) for point in run.points[::2]] == ["server busy", "connections"]
