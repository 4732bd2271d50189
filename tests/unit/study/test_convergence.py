# SPDX-License-Identifier: Apache-2.0
"""Check points whose router converges, from the study file to every form of a report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest
from rich.console import Console

from tests.support.fake_rig import FACTS, FakeHost
from tests.support.sample import Nobody
from tests.unit.report.test_document import problems
from wirespeed.bench.interface import BenchError
from wirespeed.cli.show.show import print_results
from wirespeed.measure.convergence import summarise
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.convergence import ConvergenceRun, SlowPrefix, Spread
from wirespeed.model.study.convergence import EventKind
from wirespeed.model.study.spec import RouterConvergence, Workload
from wirespeed.report.json.document import document
from wirespeed.report.page.html import html_report
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.limits import explanations
from wirespeed.report.text.sentence import point_sentence
from wirespeed.store.codec import encode
from wirespeed.store.headlines import headline
from wirespeed.store.read import read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.store.workloads import decode_workload
from wirespeed.study.errors import StudyError
from wirespeed.study.kinds.convergence import RepeatedEvents
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study

STUDY = "router-convergence"
SHORT = ("convergence.repeats=1",)


def happened(kind: EventKind, protocol_ms: float, forwarding_ms: float) -> ConvergenceRun:
    both = protocol_ms + forwarding_ms
    return ConvergenceRun(
        kind, 200, 1.0, 200, 200, 0, Spread(both, both + 5, both + 9), 900, 0, 0, 0, 4.5, 9.0,
        (SlowPrefix("10.9.8.0/24", both + 9, both + 10),), Spread(both, both, both),
        Spread(protocol_ms, protocol_ms, protocol_ms),
        Spread(forwarding_ms, forwarding_ms, forwarding_ms),
    )  # fmt: skip


@dataclass
class FakeBench:
    """Events that the daemon limits, but a link's; `broken` fails."""

    broken: EventKind | None = None
    emulated: str | None = None

    def run(self, kind: EventKind) -> ConvergenceRun:
        if kind is self.broken:
            raise BenchError("the router waits for the first paths")
        slow = kind is EventKind.LINK_DOWN
        return happened(kind, 3.0 if slow else 80.0, 40.0 if slow else 2.0)

    def describe(self) -> Mapping[str, object]:
        return {"routes": {"version": "fake 1.0"}}


@dataclass
class Reports(Nobody):
    heard: list[str] = field(default_factory=list)

    def run_ended(self, rates: str, number: int) -> None:
        self.heard.append(f"{number}: {rates}")

    def run_failed(self, why: str) -> None:
        self.heard.append(why)


def workload(*overrides: str) -> RouterConvergence:
    found = load_study(STUDY, [*SHORT, *overrides]).points[0].workload
    assert isinstance(found, RouterConvergence)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """Return a run of the shipped study, read back from a real store."""

    @contextmanager
    def open_own(spec: Workload, _plan: Plan, _name: str) -> Iterator[RepeatedEvents]:
        assert isinstance(spec, RouterConvergence)
        yield RepeatedEvents(spec.convergence, FakeBench())

    rig = replace(FakeHost().rig, open_own=open_own)
    study = load_study(STUDY, SHORT)
    with Store(str(tmp_path_factory.mktemp("run") / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin(["wirespeed"], {"wirespeed": "0"}, FACTS))
        run_study(study, writer, rig, Nobody())
        found = headline(store, writer.run_id)
        assert found is not None
        assert (found.figure, found.value, found.unit) == ("blackout p99, worst event", 87, "ms")
        return read_run(store, writer.run_id)


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["routing.backup=false"], "set routing.backup = true"),
        (["routing.destinations=flows"], 'must be "prefixes" with [convergence]'),
        (["topology.bidirectional=true"], "events concern one direction"),
        (["routing.churn_per_s=100"], "must be 0 with [convergence]"),
        (["routing.bfd=false"], "needs routing.bfd = true"),
        (["convergence.events=[]"], "must name an event"),
        (["convergence.events=['earthquake']"], "earthquake"),
        (["convergence.rate_fps=0"], "convergence.rate_fps = 0"),
        (["convergence.rate_fps=399"], "must offer each of 200 prefixes a frame in 0.5 s"),
        (["search.kind=mlr"], 'search = "(set)"'),
        (["tcp.path=ovs"], 'tcp = "(set)": does not go with [convergence]'),
        (["sessions.opening=8"], 'sessions = "(set)": does not go with [convergence]'),
        (["routing.daemon=bird"], 'needs routing.daemon = "frr"'),
        (["routing.daemon=static"], 'needs routing.daemon = "frr" or "bird"'),
        (["routing.ecmp=2", "routing.next_hops=2"], "routing.ecmp = 1"),
    ],
)
def test_convergence_bad_input_is_named(overrides: list[str], says: str) -> None:
    with pytest.raises(StudyError) as refused:
        load_study(STUDY, overrides)
    assert says in str(refused.value.what)


def test_convergence_one_frame_a_prefix_before_the_event_is_enough() -> None:
    assert workload("convergence.rate_fps=400").convergence.rate_fps == 400


def test_convergence_workload_survives_the_store() -> None:
    found = workload()
    assert decode_workload(encode(found)) == found


def test_convergence_points_have_tables_of_their_own() -> None:
    points = load_study(STUDY).points
    assert len({point.id for point in points}) == 2
    assert points[0].parameters["convergence"]["repeats"] == 3
    assert "search" not in points[0].parameters


def test_convergence_failed_event_keeps_those_before() -> None:
    reports = Reports()
    wanted = workload().convergence
    found = RepeatedEvents(wanted, FakeBench(EventKind.NEIGHBOUR)).measure(reports)
    assert found.convergence is not None
    assert [run.event for run in found.convergence.runs] == ["withdrawal", "better-path"]
    assert reports.heard[-1] == "neighbour: the router waits for the first paths"
    assert found.notes == (reports.heard[-1],)


def test_convergence_without_any_event_is_not_measurable() -> None:
    found = RepeatedEvents(workload().convergence, FakeBench(EventKind.WITHDRAWAL)).measure(
        Nobody()
    )
    assert found.convergence is None
    assert found.not_measurable == "withdrawal: the router waits for the first paths"


def test_convergence_of_several_runs_keeps_the_worst_of_maxima_and_counts() -> None:
    runs = [happened(EventKind.WITHDRAWAL, ms, ms) for ms in (10, 30, 20)]
    runs = [replace(run, unreachable=number) for number, run in enumerate(runs)]
    (found,) = summarise([runs[0], runs[2], runs[1]], 1000).figures
    assert found.reroute is not None
    assert (found.unreachable, found.reroute.p50_ms, found.reroute.max_ms) == (2, 40, 60)


def test_convergence_names_the_longer_phase(run: RunRecord) -> None:
    words = [found.sentence for found in explanations(run.points[0])]
    assert (
        words[0] == "After withdrawal, most of the time passes until the kernel has the new route."
    )
    assert any("After link-down" in each and "first frame by it" in each for each in words)


def test_convergence_in_every_report(run: RunRecord) -> None:
    assert not problems(document(run))
    [first, _] = csv.DictReader(io.StringIO(csv_text(run)))
    assert float(first["convergence_blackout_p99_ms"]) == 87
    assert "withdrawal: blackout p50 / p99 82.0 / 87.0 ms" in point_sentence(run.points[0])
    page = html_report(run)
    assert "10.9.8.0/24" in page
    assert 'class="protocol"' in page
    console = Console(record=True, width=250, file=io.StringIO())
    print_results(run, console)
    assert "82.0 / 87.0" in console.export_text()
