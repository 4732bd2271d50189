# SPDX-License-Identifier: Apache-2.0
"""Check that a study's factors are separated, with effects and intervals, in charts and text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.sample import sample_run
from wirespeed.experiment.effects import Verdict
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import SearchResult
from wirespeed.report.charts.effects import effect_drawings, interaction_charts
from wirespeed.report.charts.throughput import throughput_chart
from wirespeed.report.compare.effects import effect_words, factor_groups
from wirespeed.report.page.html import html_report
from wirespeed.store.records import PointRecord, RunRecord

STUDY = """
title = "Two factors"
{needs}
[[factor]]
name = "no cache"
"sut.vswitch.ovs.emc" = false

[[factor]]
name = "two bridges"
"sut.vswitch.ovs.bridges" = 2

[design]
combine = {combine}
{design}
"""


def run_of(directory: Path, combine: str, design: str, needs: str = "") -> RunRecord:
    path = directory / "mine.toml"
    path.write_text(STUDY.format(combine=combine, design=design, needs=needs), encoding="utf-8")
    return sample_run(directory, "search.kind=mrr", study=str(path))


def with_rates(run: RunRecord, rates: dict[tuple[str, ...], float]) -> RunRecord:
    """Return the run as if each combination had forwarded this many Mpps.

    Each further repeat has a percent more.
    """

    def changed(point: PointRecord) -> PointRecord:
        fps = 1e6 * rates[point.factors] * (1 + point.repeat / 100)
        result = SearchResult("mrr", False, (), mrr_fps=fps)
        return replace(point, result=result)

    return replace(run, points=tuple(map(changed, run.points)))


NONE, CACHE, TWO = (), ("no cache",), ("two bridges",)
BOTH = ("no cache", "two bridges")


def test_steps_and_each_alone(tmp_path: Path) -> None:
    run = run_of(tmp_path, '["cumulative", "one-at-a-time"]', 'repeats = 3\norder = "blocks"')
    rates = {NONE: 4.0, CACHE: 2.0, BOTH: 1.0, TWO: 4.0}
    [group] = factor_groups(with_rates(run, rates))
    assert group.name == "p2p, 64 B"
    assert group.quantity == "MRR"
    assert [effect_words(named) for named in group.named] == [
        "no cache, on top of the base: loses, 0.50x (95%: 0.50x to 0.50x, 3 repeats)",
        "two bridges, on top of no cache: loses, 0.50x (95%: 0.50x to 0.50x, 3 repeats)",
        "all of them together: loses, 0.25x (95%: 0.25x to 0.25x, 3 repeats)",
        "no cache alone: loses, 0.50x (95%: 0.50x to 0.50x, 3 repeats)",
        "two bridges alone: no gain or loss that is sure, 1.00x (95%: 1.00x to 1.00x, 3 repeats; "
        "more than 100 to be sure)",
    ]
    keys = [key for key, _, _ in effect_drawings([group])]
    assert keys == ["waterfall-1", "effects-alone-1"]
    drawn = {key: svg for key, _, svg in effect_drawings([group])}
    assert drawn["waterfall-1"].count("<rect") == 3
    assert "+ two bridges: 1.020 Mpps" in drawn["waterfall-1"]


def test_a_factorial_has_main_effects_and_an_interaction_plot(tmp_path: Path) -> None:
    run = run_of(tmp_path, '["factorial"]', "repeats = 2")
    rates = {NONE: 1.0, CACHE: 2.0, TWO: 3.0, BOTH: 9.0}
    [group] = factor_groups(with_rates(run, rates))
    assert [named.what for named in group.named] == [
        "no cache", "two bridges", "no cache with two bridges",
    ]  # fmt: skip
    assert group.interactions[0].effect.ratio == pytest.approx(1.5)
    [chart] = interaction_charts(group, 1)
    assert [curve.name for curve in chart.curves] == ["two bridges off", "two bridges on"]
    off, on = ([y for _, y in curve.points] for curve in chart.curves)
    assert off[1] / off[0] == pytest.approx(2.0)
    assert on[1] / on[0] == pytest.approx(3.0)


def test_one_measurement_each_has_effects_without_intervals(tmp_path: Path) -> None:
    run = run_of(tmp_path, '["one-at-a-time"]', "")
    [group] = factor_groups(with_rates(run, {NONE: 1.0, CACHE: 2.0, TWO: 3.0}))
    assert effect_words(group.alone[1]) == (
        "two bridges alone: 3.00x, measured once: no interval"
    )  # fmt: skip


def test_a_block_counts_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    run = run_of(tmp_path, '["one-at-a-time"]', 'repeats = 3\norder = "blocks"')
    run = with_rates(run, {NONE: 1.0, CACHE: 2.0, TWO: 3.0})
    points = tuple(
        replace(p, result=None) if p.repeat == 2 and p.factors == CACHE else p for p in run.points
    )
    [group] = factor_groups(replace(run, points=points))
    assert {len(rates) for rates in group.cells.values()} == {2}
    assert group.missing == 3


def test_the_report_and_a_run_without_factors(tmp_path: Path, run: RunRecord) -> None:
    found = run_of(tmp_path, '["cumulative"]', 'repeats = 2\norder = "random"\nseed = 5')
    html = html_report(found)
    assert "What each factor changes" in html
    assert "Points are measured at random (seed 5)." in html
    assert "no cache, on top of the base" in html
    assert factor_groups(run) == ()
    assert "What each factor changes" not in html_report(run)


def test_charts_show_of_each_point_the_repeat_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "sizes.toml"
    path.write_text("[vary]\ntraffic.frame = [64, 128]\n[design]\nrepeats = 3\n", encoding="utf-8")
    run = sample_run(tmp_path, "search.kind=mrr", study=str(path))
    found = with_rates(run, {NONE: 1.0})
    chart = throughput_chart(found)
    assert chart is not None
    assert [y for _, y in chart.curves[0].points] == [pytest.approx(1.02)] * 2


def test_effects_of_a_host_that_moved_are_adjusted_to_one_placement(tmp_path: Path) -> None:
    """Far forwards 0.6 of near; the factor halves the rate in both, and met far more often."""
    run = run_of(tmp_path, '["one-at-a-time"]', 'repeats = 3\norder = "blocks"')
    rates = {NONE: 4.0, CACHE: 2.0, TWO: 4.4}
    run = with_rates(run, rates)
    far = {(CACHE, 1), (CACHE, 2), (NONE, 1), (TWO, 3)}

    def placed(point: PointRecord) -> PointRecord:
        assert point.result is not None
        assert point.result.mrr_fps is not None
        away = (point.factors, point.repeat) in far
        result = replace(
            point.result,
            placement=PlacementKind.ACROSS_CACHES if away else PlacementKind.ONE_CACHE,
            mrr_fps=point.result.mrr_fps * (0.6 if away else 1.0),
        )
        return replace(point, result=result)

    moved = replace(run, points=tuple(map(placed, run.points)))
    [group] = factor_groups(moved)
    assert group.quantity == "MRR, adjusted to polling CPUs within one cache"
    assert group.missing == 0
    assert [named.effect.ratio for named in group.alone] == [
        pytest.approx(0.5, rel=1e-3), pytest.approx(1.1, rel=1e-3),
    ]  # fmt: skip
    assert [named.effect.verdict for named in group.alone] == [Verdict.LOSS, Verdict.GAIN]
    assert group.mean_fps(frozenset({0})) == pytest.approx(2.04e6, rel=1e-3)


def test_effects_of_one_placement_are_as_without_placements(tmp_path: Path) -> None:
    run = run_of(tmp_path, '["one-at-a-time"]', 'repeats = 3\norder = "blocks"')
    plain = with_rates(run, {NONE: 4.0, CACHE: 2.0, TWO: 4.4})
    points = tuple(
        replace(p, result=replace(p.result, placement=PlacementKind.ACROSS_CACHES))
        for p in plain.points
        if p.result is not None
    )
    assert factor_groups(replace(plain, points=points)) == factor_groups(plain)


def test_effects_without_a_common_placement_name_what_is_apart(tmp_path: Path) -> None:
    run = run_of(tmp_path, '["one-at-a-time"]', "repeats = 2")
    plain = with_rates(run, {NONE: 4.0, CACHE: 2.0, TWO: 4.4})
    points = tuple(
        replace(
            p,
            result=replace(
                p.result,
                placement=PlacementKind.ACROSS_CACHES
                if p.factors == TWO
                else PlacementKind.ONE_CACHE,
            ),
        )
        for p in plain.points
        if p.result is not None
    )
    [group] = factor_groups(replace(plain, points=points))
    assert group.quantity.endswith("no placement in common: two bridges")
    assert [named.what for named in group.alone] == ["no cache alone"]
