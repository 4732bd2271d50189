# SPDX-License-Identifier: Apache-2.0
"""Check that bounds are loads that were judged, by the median verdict of each."""

from __future__ import annotations

from dataclasses import replace

from tests.support.simulated import Rig, Sharp, prober_of
from wirespeed.measure.bounds import known_interval, without_unjudged
from wirespeed.measure.operating_point import OperatingPoint
from wirespeed.measure.search.interface import Figures
from wirespeed.model.result.result import Bound, Interval


def point(load_fps: float, *, passes: bool, decided: bool = True) -> OperatingPoint:
    sut = Sharp(load_fps if passes else load_fps / 2)
    found = prober_of(Rig(sut).measure).at(load_fps, 1.0)
    return replace(found, verdict=replace(found.verdict, decided=decided))


def loads(interval: Interval | None) -> tuple[float | None, float | None]:
    assert interval is not None
    lower, upper = interval.lower, interval.upper
    return (lower.load_fps if lower else None, upper.load_fps if upper else None)


def test_points_that_were_not_judged_give_no_interval() -> None:
    assert known_interval([], 0.0) is None
    assert known_interval([point(1e6, passes=True, decided=False)], 0.0) is None


def test_a_load_that_could_not_be_judged_is_no_bound() -> None:
    known = [
        point(1e6, passes=True),
        point(2e6, passes=False, decided=False),
        point(3e6, passes=False),
    ]
    assert loads(known_interval(known, 0.0)) == (1e6, 3e6)


def test_half_of_a_loads_verdicts_decide() -> None:
    yes, no = point(2e6, passes=True), point(2e6, passes=False)
    below, above = point(1e6, passes=True), point(3e6, passes=False)
    assert loads(known_interval([below, yes, yes, no, above], 0.0)) == (2e6, 3e6)
    assert loads(known_interval([below, yes, no, above], 0.0)) == (1e6, 2e6)


def test_a_load_that_passed_above_one_that_failed_is_no_bound() -> None:
    known = [point(1e6, passes=True), point(2e6, passes=False), point(3e6, passes=True)]
    assert loads(known_interval(known, 0.0)) == (1e6, 2e6)


def test_an_upper_bound_that_was_not_judged_gives_way_to_one_that_was() -> None:
    prober = prober_of(Rig(Sharp(1e6)).measure)
    unjudged = point(2e6, passes=False, decided=False)
    prober.points = [point(1e6, passes=True), unjudged]
    searched = Figures(ndr=Interval(Bound(1e6, 1e6, 0.0), unjudged.bound))
    figures = without_unjudged(searched, prober)
    assert loads(figures.ndr) == (1e6, None)
    assert figures.notes == ("too little of the time was clean to judge 2,000,000 frames/s",)
    prober.points.append(point(3e6, passes=False))
    assert loads(without_unjudged(searched, prober).ndr) == (1e6, 3e6)
    prober.points.append(point(2e6, passes=False))
    assert without_unjudged(searched, prober) == searched
