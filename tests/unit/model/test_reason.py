# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import product

import pytest

from wirespeed.explain.resources import LIMITS
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.model.result.reason import BLAMES, NEIGHBOURS, Blame, Reason, reason_of
from wirespeed.report.base.theme import DARK, LIGHT
from wirespeed.report.charts.canvas import CHART_CSS, reason_class
from wirespeed.report.text.limit_words import LIMIT_WORDS


def disturbance(kind: DisturbanceKind, role: str) -> Disturbance:
    return Disturbance(1, 0, 1, kind, Source.SCHEDULE, role)


@pytest.mark.parametrize(("kind", "role"), list(product(DisturbanceKind, ("generator", "sut"))))
def test_reason_of_any_disturbance_is_the_only_one_that_it_shows(
    kind: DisturbanceKind, role: str
) -> None:
    found = reason_of(disturbance(kind, role))
    shown = [each.about.shown for each in Reason]
    matching = [s for s in shown if s and s.kind is kind and s.role in (None, role)]
    assert matching == [found.about.shown]


def test_reason_of_a_stop_depends_on_the_role() -> None:
    stopped = DisturbanceKind.STOPPED
    assert reason_of(disturbance(stopped, "sut")) is Reason.SUT_STOPPED
    assert reason_of(disturbance(stopped, "generator")) is Reason.GENERATOR_STOPPED


def test_reason_colours_are_distinct_names_of_both_themes() -> None:
    colours = [reason.about.colour for reason in Reason]
    assert len(set(colours)) == len(colours)
    assert set(colours) <= set(LIGHT) & set(DARK)


@pytest.mark.parametrize("reason", list(Reason))
def test_reason_has_a_rule_with_its_colour_in_the_style_of_charts(reason: Reason) -> None:
    rule = f"path.{reason_class(reason)}{{fill:var(--{reason.about.colour})}}"
    assert rule in CHART_CSS


@pytest.mark.parametrize("blame", BLAMES, ids=lambda blame: blame.limit)
def test_blame_names_its_limit_and_resource_in_tables(blame: Blame) -> None:
    assert LIMIT_WORDS[blame.limit] == blame.words
    assert LIMITS[blame.limit] is blame.resource
    assert len(blame.words) <= 16


def test_neighbours_took_the_time_of_stops_and_shared_cores_alone() -> None:
    assert {Reason.CORE_SHARED, Reason.SUT_STOPPED, Reason.GENERATOR_STOPPED} == NEIGHBOURS
