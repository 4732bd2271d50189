# SPDX-License-Identifier: Apache-2.0
"""Does MLRsearch get what it needs, and do its bounds mean what we say they mean?"""

from __future__ import annotations

import pytest

from tests.measure.simulated import Recorder, Rig, Sharp
from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.measure.search.mlr import Mlr
from wirespeed.measure.validity import USUAL, ValidityRules
from wirespeed.model.trial import Trial

SEARCH = Mlr(1.0, 1.0, 21.0, exceed_ratio=0.5, width=0.005, pdr_loss=0.005)


def run(
    rig: Rig, search: Mlr = SEARCH, rules: ValidityRules = USUAL
) -> tuple[Figures, list[Trial]]:
    prober = Prober(rig.measure, Recorder(), rules, 0, 0.0)
    return search.find(prober, Limits(10e3, 10e6, None)), prober.trials


def lower_fps(figures: Figures) -> tuple[float, float]:
    assert figures.ndr is not None
    assert figures.pdr is not None
    assert figures.ndr.lower is not None
    assert figures.pdr.lower is not None
    return figures.ndr.lower.load_fps, figures.pdr.lower.load_fps


def test_ndr_and_pdr_of_a_sharp_sut() -> None:
    ndr, pdr = lower_fps(run(Rig(Sharp(4e6)))[0])
    assert ndr == pytest.approx(4e6, rel=0.0051)
    assert pdr == pytest.approx(4e6 / 0.995, rel=0.0051)


def test_a_larger_loss_goal_raises_the_pdr() -> None:
    search = Mlr(1.0, 1.0, 21.0, exceed_ratio=0.5, width=0.005, pdr_loss=0.1)
    _, pdr = lower_fps(run(Rig(Sharp(4e6)), search)[0])
    assert pdr == pytest.approx(4e6 / 0.9, rel=0.0051)


def test_a_bound_rests_on_more_than_half_of_the_duration_sum() -> None:
    figures, trials = run(Rig(Sharp(4e6)))
    for interval in (figures.ndr, figures.pdr):
        assert interval is not None
        for end in (interval.lower, interval.upper):
            assert end is not None
            at_load = [t for t in trials if t.intended_load_fps == end.load_fps]
            assert sum(t.duration_s for t in at_load) >= 21.0 / 2


def test_frames_that_were_not_offered_are_not_loss() -> None:
    """A generator 1% short, allowed by lax rules, in front of a SUT that keeps up with all."""

    class Lagging(Rig):
        def measure(self, load_fps: float, duration_s: float):  # type: ignore[no-untyped-def]
            self.generator_fps = load_fps * 0.99
            return super().measure(load_fps, duration_s)

    figures, trials = run(Lagging(Sharp(50e6)), rules=ValidityRules(max_unsent_ratio=0.02))
    assert trials[0].seen.total("unsent") > 0
    assert lower_fps(figures) == (10e6, 10e6)


def test_a_bound_says_what_was_forwarded_and_lost() -> None:
    figures, _ = run(Rig(Sharp(4e6)))
    assert figures.ndr is not None
    assert figures.ndr.lower is not None
    assert figures.ndr.lower.loss_ratio == 0
    assert figures.ndr.lower.forwarding_fps == figures.ndr.lower.load_fps
    assert figures.pdr is not None
    assert figures.pdr.upper is not None
    assert figures.pdr.upper.loss_ratio == pytest.approx(
        1 - 4e6 / figures.pdr.upper.load_fps, rel=1e-4
    )
    assert figures.pdr.upper.forwarding_fps == pytest.approx(4e6, rel=1e-6)


def test_long_trials_come_only_near_the_end() -> None:
    search = Mlr(1.0, 60.0, 60.0, exceed_ratio=0.5, width=0.005, pdr_loss=0.005)
    _, trials = run(Rig(Sharp(4e6)), search)
    full = [t for t in trials if t.duration_s == 60.0]
    assert 2 <= len(full) <= 4
    assert all(t.intended_load_fps == pytest.approx(4e6, rel=0.02) for t in full)


def test_conformance_needs_60_seconds_and_no_exceptions() -> None:
    assert not SEARCH.conformant
    assert not Mlr(1.0, 60.0, 60.0, 0.5, 0.005, 0.005).conformant
    assert Mlr(1.0, 60.0, 60.0, 0.0, 0.005, 0.005).conformant
