# SPDX-License-Identifier: Apache-2.0
"""Check that the reported rate passed a full-length trial."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.simulated import Rig, Sharp, Sut, prober_of
from wirespeed.measure.search.interface import Limits
from wirespeed.measure.search.rfc2544 import Rfc2544
from wirespeed.model.result.result import Interval
from wirespeed.model.result.trial import Stage, Trial

SEARCH = Rfc2544(narrow_trial_s=2.0, trial_s=60.0, width=0.005)


@dataclass(frozen=True)
class Tiring:
    """Passes fast_fps in trials below 60 s, and slow_fps in longer ones (a slow memory leak)."""

    fast_fps: float
    slow_fps: float

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        capacity_fps = self.fast_fps if duration_s < 60 else self.slow_fps
        return Sharp(capacity_fps).forwards(load_fps, duration_s, rng)


def run(sut: Sut, search: Rfc2544 = SEARCH, max_fps: float = 10e6) -> tuple[Interval, list[Trial]]:
    prober = prober_of(Rig(sut).measure)
    figures = search.find(prober, Limits(10e3, max_fps, None))
    found = figures.pdr if search.loss else figures.ndr
    assert found is not None
    return found, prober.trials


def test_the_lower_bound_passed_a_full_trial() -> None:
    found, trials = run(Sharp(3e6))
    assert found.lower is not None
    confirmed = [t for t in trials if t.stage is Stage.CONFIRM]
    assert [t.duration_s for t in confirmed] == [60.0]
    assert confirmed[0].intended_load_fps == found.lower.load_fps
    assert confirmed[0].lost == 0


@given(fast=st.floats(1e6, 9e6), share=st.floats(0.01, 1.0))
@settings(deadline=None)
def test_a_sut_that_tires_is_reported_at_its_long_term_rate(fast: float, share: float) -> None:
    slow = fast * share
    found, trials = run(Tiring(fast, slow))
    if found.lower is None:
        assert slow < 10e3 * 1.01
        return
    assert found.upper is not None
    assert found.lower.load_fps <= slow * 1.0001
    assert found.upper.load_fps >= slow * 0.9999
    assert found.upper.load_fps - found.lower.load_fps <= 0.005 * found.upper.load_fps * 1.0001
    assert any(
        t.duration_s >= 60 and t.lost == 0 and t.intended_load_fps == found.lower.load_fps
        for t in trials
    )


def test_a_passing_maximum_is_confirmed_too() -> None:
    found, trials = run(Sharp(20e6))
    assert found.upper is None
    assert found.lower is not None
    assert found.lower.load_fps == 10e6
    assert [t.duration_s for t in trials] == [2.0, 60.0]


def test_the_minimum_is_tried_only_when_all_else_failed() -> None:
    _, trials = run(Sharp(3e6))
    assert min(t.intended_load_fps for t in trials) > 10e3
    found, trials = run(Sharp(5e3))
    assert found.lower is None
    assert trials[-1].intended_load_fps == 10e3


def test_full_trials_only_need_no_confirmation() -> None:
    _, trials = run(Sharp(3e6), Rfc2544(60.0, 60.0, 0.005))
    loads = [t.intended_load_fps for t in trials]
    assert len(loads) == len(set(loads))


def test_with_a_loss_goal_it_finds_a_pdr() -> None:
    found, _ = run(Sharp(3e6), Rfc2544(2.0, 60.0, 0.005, loss=0.1))
    assert found.lower is not None
    assert found.lower.load_fps == pytest.approx(3e6 / 0.9, rel=0.006)


@pytest.mark.parametrize(
    ("search", "conformant"),
    [
        (SEARCH, True),
        (Rfc2544(2.0, 59.0, 0.005), False),
        (Rfc2544(2.0, 60.0, 0.005, loss=0.005), False),
    ],
)
def test_conformance_is_60_seconds_without_loss(search: Rfc2544, conformant: bool) -> None:
    assert search.conformant is conformant
