# SPDX-License-Identifier: Apache-2.0
"""Check the highest load that a search tries: of study, line rate, generator and SUT."""

from __future__ import annotations

import pytest

from tests.support.simulated import Collapsing, Fraying, Rig, Sharp
from tests.unit.measure.test_run import loads, lower_fps, run
from wirespeed.explain.ceiling import ceiling
from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import loss
from wirespeed.measure.interface import UNLIMITED, BadSearch
from wirespeed.measure.run import HEADROOM
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import Grade
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind
from wirespeed.model.study.sut import SutDescription


def test_a_search_stays_near_the_mrr() -> None:
    result = run(Rig(Sharp(4e6), generator_fps=50e6))
    assert result.max_load_fps == 50e6
    assert loads(result, Stage.MRR) == [6e6] * 3
    assert max(loads(result, Stage.SEARCH)) <= HEADROOM * 4e6


def test_an_unlimited_search_ends_at_what_the_generator_offers() -> None:
    result = run(Rig(Sharp(4e6), generator_fps=5e6))
    assert result.max_load_fps == 5e6
    assert max(loads(result, Stage.SEARCH)) == 5e6


def test_search_of_a_sut_that_overload_slows_down_goes_above_its_mrr() -> None:
    """The SUT forwards 8 Mpps, but only 2 when offered more than 9: twice its MRR is too much."""
    result = run(Rig(Collapsing(8e6, 9e6, 2e6), generator_fps=50e6))
    assert lower_fps(result.ndr) == pytest.approx(8e6, rel=0.005)
    assert lower_fps(result.ndr) <= lower_fps(result.pdr)


def test_a_sut_that_carries_much_more_than_its_mrr_is_followed_upwards() -> None:
    """Twice what the SUT received was still offered with ease."""
    result = run(Rig(Collapsing(8e6, 8.2e6, 0.5e6), generator_fps=8.3e6))
    assert lower_fps(result.ndr) == pytest.approx(8e6, rel=0.005)
    assert result.limited_by is None


def test_a_line_rate_is_never_exceeded() -> None:
    rig = Rig(Sharp(30e6))
    result = run(rig, max_load_fps=14.88e6)
    assert max(load for load, _ in rig.calls) == 14.88e6
    assert result.ndr is not None
    assert result.ndr.upper is None
    assert result.limited_by == "link"


def test_a_generator_that_falters_at_line_rate_is_never_asked_for_more() -> None:
    """In the warm-up the generator offers less than the links carry; later it could offer more."""

    class Faltering(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps = 50e6 if self.calls else 14e6
            return super().measure(load_fps, duration_s)

    for capacity_fps in (13e6, 30e6):
        rig = Faltering(Sharp(capacity_fps))
        result = run(rig, max_load_fps=14.88e6)
        assert max(load for load, _ in rig.calls) <= 14.88e6
        assert result.mrr_fps is not None
        assert result.mrr_fps <= 14.88e6


def test_a_pdr_without_upper_bound_is_not_the_ceilings_fault() -> None:
    """The search ended at the MRR, which the PDR reaches."""
    result = run(Rig(Fraying(4e6, 3.5e6)))
    assert result.pdr is not None
    assert result.pdr.upper is None
    assert result.limited_by is None


def test_the_lower_of_study_and_line_rate_is_the_ceiling() -> None:
    search = Search(SearchKind.QUICK, max_load_fps=2e6)
    assert run(Rig(Sharp(4e6)), search, max_load_fps=14.88e6).max_load_fps == 2e6
    assert run(Rig(Sharp(4e6)), search).max_load_fps == 2e6


def test_a_generator_below_line_rate_sets_the_ceiling() -> None:
    result = run(Rig(Sharp(30e6), generator_fps=9e6), max_load_fps=14.88e6)
    assert result.max_load_fps == 9e6
    assert result.limited_by == "generator"


def test_a_generator_that_paces_slower_than_it_floods_lowers_the_ceiling() -> None:
    """The generator offers 12 Mpps unlimited, 8 paced: the search has to end below 8."""

    class Uneven(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps = 12e6 if load_fps == UNLIMITED else 8e6
            return super().measure(load_fps, duration_s)

    result = run(Uneven(Sharp(30e6)))
    assert result.max_load_fps == 8e6
    assert lower_fps(result.ndr) == 8e6
    assert result.limited_by == "generator"
    assert result.not_measurable is None


def test_limited_by_of_an_ndr_below_a_load_that_lost_frames_is_not_the_generator() -> None:
    """The generator floods at 12 Mpps, of which the SUT loses 2, and paces at 8 at most."""

    class Uneven(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps = 12e6 if load_fps == UNLIMITED else 8e6
            return super().measure(load_fps, duration_s)

    result = run(Uneven(Sharp(10e6)))
    assert result.ndr is not None
    assert (lower_fps(result.ndr), result.ndr.upper) == (8e6, None)
    point = Measured(SutDescription("ovs-dpdk", "Open vSwitch", "its first ring"), result)
    assert [found.limit for found in loss(point)] == [DropCause.RX_RING_FULL]
    assert result.limited_by is None
    assert list(ceiling(point)) == []


def test_a_generator_that_follows_no_load_leaves_the_mrr() -> None:
    class Lame(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps = 12e6 if load_fps == UNLIMITED else load_fps * 0.9
            return super().measure(load_fps, duration_s)

    rig = Lame(Sharp(30e6))
    result = run(rig)
    assert result.mrr_fps == 12e6
    assert result.grade is Grade.D
    assert result.not_measurable is None
    assert any("the generator offered" in note for note in result.notes)
    assert len(rig.calls) < 20


def test_a_generator_slower_than_the_minimum_leaves_the_mrr() -> None:
    result = run(Rig(Sharp(4e6), generator_fps=9e3))
    assert result.not_measurable is None
    assert result.grade is Grade.D
    assert result.mrr_fps == 9e3
    assert any("9,000 frames/s at most" in note for note in result.notes)


def test_limits_that_cross_are_refused_before_the_first_trial() -> None:
    rig = Rig(Sharp(4e6))
    with pytest.raises(BadSearch, match="10,000 is not below the highest load, 5,000"):
        run(rig, max_load_fps=5e3)
    assert rig.calls == []
