# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.sample import sample_run
from wirespeed.model.result.result import Bound, Bracket, Interval
from wirespeed.report.page.html import html_report
from wirespeed.report.text.answer import answers_of
from wirespeed.report.text.tiles import MAX_TILES, tiles
from wirespeed.report.views.figures import point_figures
from wirespeed.report.views.time_shares import OTHER, time_shares
from wirespeed.store.headlines import Measure, result_headline, strictest
from wirespeed.store.records import PointRecord, RunRecord


def test_answer_names_rate_limit_and_change_for_each_topology(run: RunRecord) -> None:
    p2p, pvp = answers_of(run)
    assert (p2p.topology, pvp.topology) == ("p2p", "pvp")
    assert p2p.rate.endswith("Mpps (64 B) without loss")
    assert "(1518 B) to" in p2p.rate
    assert p2p.limit == "limited by switch CPU"
    assert p2p.change.startswith("isolate the forwarding CPUs")
    assert "(up to +" in p2p.change
    assert "vnf0" in pvp.path


def test_answer_bracket_is_named_as_a_bound(run: RunRecord) -> None:
    (only,) = answers_of(replace(run, points=run.points[3:4]))
    assert only.rate.startswith("at least ")


def test_answer_point_with_an_upper_bound_alone_follows_the_others(run: RunRecord) -> None:
    first = run.points[0]
    assert first.result is not None
    above = replace(first.result, ndr=None, pdr=None, bracket=Bracket(None, 7e6))
    points = (replace(first, result=above), *run.points[1:3])
    (p2p,) = answers_of(replace(run, points=points))
    assert p2p.rate.endswith("without loss; 64 B at most 7.000 Mpps")


def test_answer_unmeasured_run_has_none(run: RunRecord) -> None:
    bare = tuple(replace(point, result=None, trials=()) for point in run.points)
    assert answers_of(replace(run, points=bare)) == ()
    assert 'class="answers"' not in html_report(replace(run, points=bare))


def test_tile_holds_values_of_one_point_with_error(run: RunRecord) -> None:
    first, *_ = found = tiles(run)
    assert [tile.label for tile in found] == [point.label for point in run.points]
    figures = point_figures(run.points[0])
    assert figures.ndr is not None
    assert (first.value, first.unit) == (f"{figures.ndr.mpps:.3f}", "Mpps")
    assert first.measure.startswith("NDR, \N{PLUS-MINUS SIGN}")
    assert "limited by switch CPU" in first.facts
    bracket = found[3]
    assert bracket.value.startswith("\N{GREATER-THAN OR EQUAL TO}")
    assert "at most" in bracket.measure


@pytest.mark.parametrize(
    ("ndr", "bracket", "value"),
    [
        (None, Bracket(None, 7e6), "\N{LESS-THAN OR EQUAL TO}\N{NARROW NO-BREAK SPACE}7.000"),
        (Interval(None, Bound(7e6, 7e6, 0.1)), None, "<\N{NARROW NO-BREAK SPACE}7.000"),
    ],
)
def test_tile_of_an_upper_bound_shows_it_and_not_the_mrr(
    run: RunRecord, ndr: Interval | None, bracket: Bracket | None, value: str
) -> None:
    point = run.points[0]
    assert point.result is not None
    above = replace(point.result, ndr=ndr, pdr=None, bracket=bracket)
    (tile,) = tiles(replace(run, points=(replace(point, result=above),)))
    assert tile.value == value
    assert tile.measure.startswith("NDR; MRR ")


def test_tiles_of_many_points_are_the_fastest_and_widest_of_each_topology(tmp_path: Path) -> None:
    run = sample_run(tmp_path, "vary.traffic.frame=[64, 256, 512, 1024, 1518]")
    found = [tile.label for tile in tiles(run)]
    assert len(found) <= MAX_TILES
    assert {"p2p, 64 B", "p2p, 1518 B"} <= set(found)


def test_time_shares_begin_with_what_counted_and_add_up(run: RunRecord) -> None:
    shares = time_shares(run)
    assert shares[0].counted
    assert sum(one.share for one in shares) == pytest.approx(1)
    assert shares[-1].why == OTHER or len(shares) <= 7
    bare = tuple(replace(point, result=None) for point in run.points)
    assert time_shares(replace(run, points=bare)) == ()


def _weaker(point: PointRecord, measure: Measure) -> PointRecord:
    """Return the point with nothing stricter than the measure."""
    assert point.result is not None
    none: dict[Measure, dict[str, Interval | None]] = {
        Measure.NDR: {}, Measure.PDR: {"ndr": None}, Measure.MRR: {"ndr": None, "pdr": None},
    }  # fmt: skip
    return replace(point, result=replace(point.result, **none[measure]))


@pytest.mark.parametrize("measure", [Measure.NDR, Measure.PDR, Measure.MRR])
def test_headline_of_a_point_is_its_best_rate_everywhere(run: RunRecord, measure: Measure) -> None:
    point = _weaker(run.points[0], measure)
    assert point.result is not None
    found = result_headline(point.label, point.result)
    assert found is not None
    assert found.figure is measure
    best = point_figures(point).best
    assert best is not None
    assert best.fps == found.value


def test_headline_of_a_run_is_the_highest_of_the_strictest_measure(run: RunRecord) -> None:
    weaker = _weaker(run.points[0], Measure.MRR)
    points = [weaker, *run.points[1:3]]
    each = [result_headline(p.label, p.result) for p in points if p.result is not None]
    found = strictest(one for one in each if one is not None)
    assert found is not None
    assert (found.label, found.figure) == ("p2p, 512 B", Measure.NDR)
