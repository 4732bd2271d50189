# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from wirespeed import explain
from wirespeed.cli.show.detail import Detail
from wirespeed.cli.show.show import print_results
from wirespeed.explain.resources import LIMITS
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.explanation import ExpectedGain, GainKind
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.result import AsIs, Bound, Bracket, Grade, Interval, SearchResult
from wirespeed.report.text.limit_words import LIMIT_WORDS, limited_by
from wirespeed.report.text.sentence import result_sentences, short_sentence
from wirespeed.report.text.summary import meaning, summary_lines
from wirespeed.report.text.things_to_change import Change, change_line, things_to_change
from wirespeed.store.records import PointRecord, PointState, RunRecord


def with_result(run: RunRecord, index: int, result: SearchResult) -> RunRecord:
    points = list(run.points)
    points[index] = replace(points[index], result=result)
    return replace(run, points=tuple(points))


@pytest.fixture
def moved(run: RunRecord) -> RunRecord:
    """Return a run whose first point met both placements."""
    first = run.points[0].result
    assert first is not None
    other = SearchResult(
        "quick", False, (), grade=Grade.D, bracket=Bracket(1.1e6, 1.18e6), mrr_fps=1.18e6,
        placement=PlacementKind.ACROSS_CACHES,
    )  # fmt: skip
    near = replace(first, placement=PlacementKind.ONE_CACHE, by_placement=(other,))
    return with_result(run, 0, near)


@pytest.mark.parametrize(
    ("error", "shown"), [(0.18, "2.463 \N{PLUS-MINUS SIGN} 18%"), (0.0, "2.463")]
)
def test_summary_mrr_below_the_end_of_its_bracket_has_its_error(
    run: RunRecord, error: float, shown: str
) -> None:
    found = SearchResult(
        "quick", False, (), grade=Grade.D, bracket=Bracket(None, 2.463e6 * (1 + error)),
        mrr_fps=2.463e6, mrr_half_interval=error,
    )  # fmt: skip
    row = summary_lines(with_result(run, 0, found), 120)[1]
    assert f"  {shown}  " in row
    assert f"MRR {shown} Mpps" in short_sentence(found)


def test_summary_mrr_below_the_ndr_has_its_error(run: RunRecord) -> None:
    ndr = Interval(Bound(2.5e6, 2.5e6, 0.0), Bound(2.51e6, 2.5e6, 0.01))
    found = SearchResult(
        "quick", False, (), grade=Grade.B, ndr=ndr, mrr_fps=2.4e6, mrr_half_interval=0.05
    )
    assert "  2.400 \N{PLUS-MINUS SIGN} 5%  " in summary_lines(with_result(run, 0, found), 120)[1]


def test_sentence_loss_at_a_load_that_is_no_ndr_names_the_load() -> None:
    found = SearchResult(
        "quick", False, (), grade=Grade.D, bracket=Bracket(None, 3e6), mrr_fps=3e6,
        as_is=AsIs(3e6, 2.829e6, 0.01, 0.024),
    )  # fmt: skip
    assert "1.0 to 2.4% lost at 2.829 Mpps" in " ".join(result_sentences(found))


@pytest.mark.parametrize("width", [40, 80, 100, 120, 200])
def test_summary_at_any_width_fits_and_has_every_point(moved: RunRecord, width: int) -> None:
    lines = summary_lines(moved, width)
    assert max(len(line) for line in lines) <= width
    shown = "\n".join(lines)
    assert all(point.label in shown for point in moved.points)


def test_summary_of_100_columns_has_all_that_a_reader_needs(moved: RunRecord) -> None:
    heading, *_ = summary_lines(moved, 100)
    assert heading.split() == [
        "point", "NDR,", "Mpps", "PDR", "MRR", "p50", "/", "p99", "\N{MICRO SIGN}s", "CPUs",
        "grade", "limited", "by",
    ]  # fmt: skip


def test_summary_too_narrow_for_all_columns_names_what_it_hides(run: RunRecord) -> None:
    assert summary_lines(run, 64)[-1] == "Hidden, as the terminal is narrow: latency, PDR, MRR."


def test_summary_grade_d_says_at_least_and_at_most(run: RunRecord) -> None:
    (bracketed,) = [line for line in summary_lines(run, 100) if line.startswith("pvp, 64 B")]
    assert "at least 1.905, at most 4.002" in bracketed
    assert " D  " in bracketed


def test_summary_ndr_without_upper_end_says_at_least(run: RunRecord) -> None:
    found = run.points[1].result
    assert found is not None
    passed = Interval(Bound(4e6, 4e6, 0.0), None)
    lines = summary_lines(with_result(run, 1, replace(found, ndr=passed, pdr=passed)), 120)
    (row,) = [line for line in lines if line.startswith("p2p, 512 B")]
    assert row.count("at least 4.000") == 2


def test_summary_point_of_two_placements_has_a_row_for_each(moved: RunRecord) -> None:
    lines = summary_lines(moved, 120)
    near, far = lines[1:3]
    assert near.startswith("p2p, 64 B")
    assert "one cache" in near
    assert far.startswith(" " * len("p2p, 64 B"))
    assert "at least 1.100, at most 1.180" in far
    assert "across" in far
    assert "CPUs:" in meaning(moved)


def test_summary_of_one_placement_does_not_mention_it(run: RunRecord) -> None:
    assert "CPUs" not in summary_lines(run, 120)[0]
    assert "CPUs" not in meaning(run)


def test_summary_label_wider_than_the_terminal_stands_above_its_rates(run: RunRecord) -> None:
    long = "p2p, 64 B, pmd_cpus [2, 3], rx_queues 4, rxq_assign roundrobin"
    first = replace(run.points[0], label=long)
    lines = summary_lines(replace(run, points=(first, *run.points[1:])), 80)
    assert lines[1] == long
    assert lines[2].startswith("  ")
    assert lines[3] == run.points[1].label


@pytest.mark.parametrize(
    ("state", "error", "said"),
    [
        (PointState.PENDING, None, "not measured yet"),
        (PointState.FAILED, "it broke", "not measured: it broke"),
        (PointState.NOT_RUN, "it needs 8 cores", "not run: it needs 8 cores"),
    ],
)
def test_summary_point_without_result_says_why(
    run: RunRecord, state: PointState, error: str | None, said: str
) -> None:
    point = replace(run.points[0], result=None, state=state, error=error)
    assert summary_lines(replace(run, points=(point,)), 100)[1] == f"p2p, 64 B  {said}"


def _emitted() -> set[str]:
    """Return the limits that the explainers' source names."""
    found = set()
    for file in Path(explain.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Explanation":
                found |= set(_outcomes(node.args[0])) if node.args else set()
    return found


def _outcomes(first: ast.expr) -> Iterator[str]:
    """Yield the texts that a constant or a conditional expression can have."""
    if isinstance(first, ast.IfExp):
        yield from _outcomes(first.body)
        yield from _outcomes(first.orelse)
    elif isinstance(first, ast.Constant):
        yield str(first.value)


# Explanations that name no limit, but what was measured or expected.
NO_LIMITS = {
    "frame_cost", "worker_balance", "memory_contention", "below_prediction", "above_prediction",
    "as_predicted",
}  # fmt: skip


def test_limit_words_name_every_limit_in_few_characters() -> None:
    causes = {str(cause) for cause in DropCause} - {str(DropCause.VNF_HANDLED)}
    emitted = _emitted()
    assert {"pauses", "cause_not_found", "poller_asleep"} <= emitted
    assert (emitted | causes | set(LIMITS)) - NO_LIMITS <= {str(key) for key in LIMIT_WORDS}
    assert max(map(len, LIMIT_WORDS.values())) <= 16


def test_limited_by_a_full_ring_is_the_resource_behind_it(run: RunRecord) -> None:
    assert limited_by(run.points[0]) == "switch CPU"
    bare: PointRecord = replace(run.points[0], explanations=())
    assert limited_by(bare) == "\N{EN DASH}"


def test_things_to_change_names_each_change_once_the_largest_gain_first(run: RunRecord) -> None:
    changes = things_to_change(run)
    assert len({change.change for change in changes}) == len(changes) > 0
    known = [change.relative for change in changes if change.relative]
    assert known == sorted(known, reverse=True)
    line = change_line(changes[0], run)
    assert f" of {len(run.points)} points)" in line
    assert "\n" not in line


def test_change_line_calls_only_a_bound_up_to(run: RunRecord) -> None:
    def line(kind: GainKind) -> str:
        gain = ExpectedGain(1e6, "frames/s", "x", kind)
        return change_line(Change("Pin it", None, gain, "p2p", 1, 0.25), run)

    assert "Pin it: up to +25%, +1.000 Mpps" in line(GainKind.BOUND)
    assert "Pin it: about +25%, +1.000 Mpps" in line(GainKind.MEASURED)


def test_change_line_gain_that_rounds_to_nothing_is_none(run: RunRecord) -> None:
    first = things_to_change(run)[0]
    why = "the MRR of clean time minus that of all time"
    gain = ExpectedGain(2000.0, "frames/s", why, GainKind.MEASURED)
    assert ": no gain expected (" in change_line(replace(first, gain=gain, relative=0.0), run)
    assert f": about +1%, +0.002 Mpps at {first.label} (" in change_line(
        replace(first, gain=gain, relative=0.01), run
    )


def printed(run: RunRecord, detail: Detail) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=100)
    print_results(run, console, Path("report.html"), detail=detail)
    return out.getvalue().splitlines()


def test_results_of_six_points_in_two_placements_fit_25_lines(run: RunRecord) -> None:
    other = SearchResult(
        "quick", False, (), grade=Grade.D, bracket=Bracket(1.1e6, 1.18e6), mrr_fps=1.18e6,
        placement=PlacementKind.ACROSS_CACHES,
    )  # fmt: skip
    for index, point in enumerate(run.points):
        assert point.result is not None
        near = replace(point.result, placement=PlacementKind.ONE_CACHE, by_placement=(other,))
        run = with_result(run, index, near)
    assert len(things_to_change(run)) > 3
    lines = printed(run, Detail.NORMAL)
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    shown = "\n".join(lines)
    for wanted in ("in the report.", "For a better grade", "report.html", "wirespeed explain "):
        assert wanted in shown


def test_results_verbose_list_every_change_and_explain_the_table(run: RunRecord) -> None:
    shown = " ".join(" ".join(printed(run, Detail.VERBOSE)).split())
    assert all(change.change in shown for change in things_to_change(run))
    assert "NDR: highest rate without loss." in shown
