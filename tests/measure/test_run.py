# SPDX-License-Identifier: Apache-2.0
"""Does a whole run go warm-up, MRR, search, latency, and say what limited it?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import pytest

from tests.measure.simulated import Recorder, Rig, Sharp
from wirespeed.measure.interface import UNLIMITED, BadSearch, Progress
from wirespeed.measure.run import FRESH_STARTS, HEADROOM, run_search
from wirespeed.measure.validity import ValidityRules
from wirespeed.model.cpus import CpuPulse, Proximity
from wirespeed.model.result import SearchResult
from wirespeed.model.spec import Search, SearchKind
from wirespeed.model.trial import Observation, Stage, Trial

QUICK = Search(SearchKind.QUICK)


def run(rig: Rig, search: Search = QUICK, max_load_fps: float = UNLIMITED) -> SearchResult:
    return run_search(search, rig.measure, max_load_fps, Recorder())


def test_the_stages_come_in_order() -> None:
    result = run(Rig(Sharp(4e6)))
    stages = [stage for stage, _ in groupby(t.stage for t in result.trials)]
    assert stages == [Stage.WARM_UP, Stage.MRR, Stage.SEARCH, Stage.LATENCY]
    assert result.search == "quick"
    assert not result.conformant
    assert result.mrr_fps == 4e6
    assert result.limited_by is None
    assert result.not_measurable is None
    assert [x.share for x in result.latency] == [0.1, 0.5, 0.9]


def test_the_listener_hears_of_every_trial_as_it_is_stored() -> None:
    recorder = Recorder()
    rig = Rig(Sharp(4e6), invalid_share=0.2)
    result = run_search(QUICK, rig.measure, UNLIMITED, recorder)
    assert tuple(recorder.trials) == result.trials
    assert len(recorder.announced) == len(rig.calls) == len(result.trials)


def test_the_warm_up_decides_nothing() -> None:
    """Its loss and its validity are ignored: the tables of the SUT still fill."""
    rig = Rig(Sharp(4e6))
    first = True

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal first
        cold, first = first, False
        return (Rig(Sharp(1.0), invalid_share=1.0) if cold else rig).measure(load_fps, duration_s)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert not result.trials[0].valid
    assert result.ndr == run(Rig(Sharp(4e6))).ndr


def test_the_mrr_alone() -> None:
    result = run(Rig(Sharp(4e6)), Search(SearchKind.MRR))
    assert result.mrr_fps == 4e6
    assert (result.ndr, result.pdr, result.latency) == (None, None, ())
    assert len(result.trials) == 1 + 10


def searched_loads(result: SearchResult) -> list[float]:
    return [t.intended_load_fps for t in result.trials if t.stage is Stage.SEARCH]


def test_a_search_stays_near_the_mrr() -> None:
    result = run(Rig(Sharp(4e6), generator_fps=50e6))
    assert result.max_load_fps == 50e6
    assert max(searched_loads(result)) == searched_loads(result)[0] == HEADROOM * 4e6


def test_an_unlimited_search_ends_at_what_the_generator_offers() -> None:
    result = run(Rig(Sharp(4e6), generator_fps=5e6))
    assert result.max_load_fps == 5e6
    assert max(searched_loads(result)) == 5e6


def test_a_sut_that_overload_slows_down_is_searched_beyond_its_mrr() -> None:
    """It forwards 8 Mpps, but only 2 when offered more than 20: the MRR says little of it."""

    @dataclass(frozen=True)
    class Collapses:
        def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
            return Sharp(2e6 if load_fps > 20e6 else 8e6).forwards(load_fps, duration_s, rng)

    result = run(Rig(Collapses(), generator_fps=50e6))
    assert result.mrr_fps == 2e6
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == pytest.approx(8e6, rel=0.005)


def test_a_line_rate_is_never_exceeded() -> None:
    rig = Rig(Sharp(30e6))
    result = run(rig, max_load_fps=14.88e6)
    assert max(load for load, _ in rig.calls) == 14.88e6
    assert result.ndr is not None
    assert result.ndr.upper is None
    assert result.limited_by == "max_load"


def test_the_lower_of_study_and_line_rate_is_the_ceiling() -> None:
    asked = Search(SearchKind.QUICK, max_load_fps=2e6)
    assert run(Rig(Sharp(4e6)), asked, max_load_fps=14.88e6).max_load_fps == 2e6
    assert run(Rig(Sharp(4e6)), asked).max_load_fps == 2e6


def test_a_generator_below_line_rate_sets_the_ceiling() -> None:
    result = run(Rig(Sharp(30e6), generator_fps=9e6), max_load_fps=14.88e6)
    assert result.max_load_fps == 9e6
    assert result.limited_by == "generator"


def test_a_generator_that_paces_slower_than_it_floods_lowers_the_ceiling() -> None:
    """Unlimited it offers 12 Mpps, paced only 8: the search has to end below 8."""

    class Uneven(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps = 12e6 if load_fps == UNLIMITED else 8e6
            return super().measure(load_fps, duration_s)

    result = run(Uneven(Sharp(30e6)))
    assert result.max_load_fps == 8e6
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == 8e6
    assert result.limited_by == "generator"
    assert result.not_measurable is None


def test_a_generator_that_follows_no_load_is_not_measurable() -> None:
    class Lame(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps = 12e6 if load_fps == UNLIMITED else load_fps * 0.9
            return super().measure(load_fps, duration_s)

    rig = Lame(Sharp(30e6))
    result = run(rig)
    assert result.not_measurable is not None
    assert "generator short" in result.not_measurable
    assert len(rig.calls) < 20


def test_a_flooding_generator_needs_no_quieter_machine() -> None:
    """Pauses of 200 us: fine at 4 Mpps (256 us), and then at the 40 Mpps offered first as well."""
    rig = Rig(Sharp(4e6), generator_fps=40e6, invalid_share=0.0, usual_gap_ns=200_000)
    result = run(rig, Search(SearchKind.QUICK, repeats_invalid=0))
    assert result.not_measurable is None
    assert result.ndr is not None


def test_a_shared_lcore_labels_the_result() -> None:
    assert run(Rig(Sharp(4e6), limited_by="shared_lcore")).limited_by == "shared_lcore"


def test_latency_can_be_left_out() -> None:
    result = run(Rig(Sharp(4e6)), Search(SearchKind.QUICK, latency=False))
    assert result.latency == ()
    assert Stage.LATENCY not in {t.stage for t in result.trials}


def test_no_pdr_no_latency() -> None:
    result = run(Rig(Sharp(1.0)))
    assert result.pdr is not None
    assert result.pdr.lower is None
    assert result.latency == ()


def test_latency_is_taken_at_shares_of_the_pdr_not_the_ndr() -> None:
    result = run(Rig(Sharp(4e6)), Search(SearchKind.QUICK, pdr_loss=0.2))
    assert result.pdr is not None
    assert result.pdr.lower is not None
    assert result.latency[2].load_fps == 0.9 * result.pdr.lower.load_fps


def test_latency_after_a_search_without_pdr_uses_the_ndr() -> None:
    result = run(Rig(Sharp(4e6)), Search(SearchKind.RFC2544))
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.latency[1].load_fps == 0.5 * result.ndr.lower.load_fps


def test_what_was_measured_before_the_machine_got_noisy_is_kept() -> None:
    rig = Rig(Sharp(4e6))

    def measure(load_fps: float, duration_s: float) -> Observation:
        rig.invalid_share = 1.0 if len(rig.calls) >= 6 else 0.0
        return rig.measure(load_fps, duration_s)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.mrr_fps == 4e6
    assert result.ndr is None
    assert result.not_measurable is not None
    assert len(result.trials) == 6 + 51


def always_paused(capacity_fps: float) -> SearchResult:
    """A pause in each trial that no ring bears, and yet nothing but the capacity counts."""
    rig = Rig(Sharp(capacity_fps))
    paused = Rig(Sharp(capacity_fps), invalid_share=1.0, generator_fps=1e6)

    def measure(load_fps: float, duration_s: float) -> Observation:
        threads = paused.measure(load_fps, duration_s).threads
        return replace(rig.measure(load_fps, duration_s), threads=threads)

    return run_search(Search(SearchKind.RFC2544), measure, 8e6, Recorder())


def test_what_was_carried_in_spite_of_disturbances_is_told() -> None:
    result = always_paused(9e6)
    assert result.ndr is None
    assert result.not_measurable is not None
    assert "at 8,000,000 frames/s lost nothing, disturbed as it was" in result.not_measurable
    lossy = always_paused(7e6)
    assert lossy.not_measurable is not None
    assert "lost nothing" not in lossy.not_measurable


def test_counters_that_raced_tell_nothing_that_was_carried() -> None:
    def measure(load_fps: float, duration_s: float) -> Observation:
        seen = Rig(Sharp(9e6)).measure(load_fps, duration_s)
        [east] = seen.directions
        return replace(seen, directions=(replace(east, received=east.offered + 1),))

    result = run_search(Search(SearchKind.RFC2544), measure, 8e6, Recorder())
    assert result.not_measurable is not None
    assert "lost nothing" not in result.not_measurable


NEAR, FAR = Proximity(45, 1.0), Proximity(210, 1.0)


@dataclass
class Moving:
    """A SUT whose machine is moved apart after `calls` trials, to another pace; and ever again."""

    calls: int
    ever_again: bool = False
    near: bool = True
    made: int = 0

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        self.made += 1
        if self.made == self.calls or (self.ever_again and self.made % self.calls == 0):
            self.near = not self.near
        seen = Rig(Sharp(4e6 if self.near else 3e6)).measure(load_fps, duration_s)
        where = NEAR if self.near else FAR
        return replace(seen, proximity=(where, where))


def test_a_search_begins_again_where_the_cpus_moved_for_good() -> None:
    result = run_search(QUICK, Moving(8).measure, UNLIMITED, Recorder())
    assert result.mrr_fps == 3e6
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == pytest.approx(3e6, rel=0.006)
    assert sum("moved" in (t.invalid_reason or "") for t in result.trials) == 3
    assert [t.stage for t in result.trials].count(Stage.WARM_UP) == 2


def test_a_search_with_time_enough_begins_again_where_the_cpus_moved() -> None:
    limited = replace(QUICK, time_limit_s=60.0)
    result = run_search(limited, Moving(12).measure, UNLIMITED, Recorder())
    assert result.mrr_fps == 3e6
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == pytest.approx(3e6, rel=0.006)


def test_a_search_short_of_time_keeps_what_it_knew_when_the_cpus_moved() -> None:
    limited = replace(QUICK, time_limit_s=10.0)
    result = run_search(limited, Moving(12).measure, UNLIMITED, Recorder())
    assert result.mrr_fps == 4e6
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert 3e6 < result.ndr.lower.load_fps <= 4e6
    assert any("moved the CPUs" in note for note in result.notes)
    assert [t.stage for t in result.trials].count(Stage.WARM_UP) == 1


def test_cpus_that_come_back_at_once_cost_a_repeat_only() -> None:
    rig = Moving(8)

    def measure(load_fps: float, duration_s: float) -> Observation:
        rig.near = rig.made != 8
        return rig.measure(load_fps, duration_s)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.mrr_fps == 4e6
    assert [t.stage for t in result.trials].count(Stage.WARM_UP) == 1


def test_cpus_that_never_stay_are_not_measurable() -> None:
    result = run_search(QUICK, Moving(8, ever_again=True).measure, UNLIMITED, Recorder())
    assert result.not_measurable is not None
    assert f"began {1 + FRESH_STARTS} times" in result.not_measurable
    assert "210 ns apart" in result.not_measurable
    assert result.mrr_fps in {3e6, 4e6}, "that of one placement, measured whole"
    assert result.ndr is None


@dataclass
class Neighbour:
    """A SUT whose core something else uses; the more of the time, the less it forwards."""

    slow_beats: Sequence[int]
    made: int = 0

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        slow = self.slow_beats[self.made % len(self.slow_beats)]
        self.made += 1
        seen = Rig(Sharp(4e6 * (1 - slow / 200))).measure(load_fps, duration_s)
        threads = tuple(replace(thread, cpu=1) for thread in seen.threads)
        return replace(seen, threads=threads, pulses=(CpuPulse(1, 100, slow, 700, 0),))


def slow_ratio(trial: Trial) -> float:
    pulse = trial.seen.slowest
    return 0.0 if pulse is None else pulse.slow_ratio


def test_a_neighbour_that_comes_and_goes_moves_no_figure() -> None:
    result = run_search(QUICK, Neighbour([0, 90, 5, 2, 50]).measure, UNLIMITED, Recorder())
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == pytest.approx(4e6, rel=0.04)
    assert all(t.valid == (slow_ratio(t) <= 0.1) for t in result.trials[8:])


def test_where_the_core_is_always_shared_the_quieter_half_counts() -> None:
    result = run_search(QUICK, Neighbour([60, 90, 70, 80]).measure, UNLIMITED, Recorder())
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert 4e6 * 0.6 < result.ndr.lower.load_fps < 4e6 * 0.71
    later = result.trials[8:]
    assert sum(t.valid for t in later) > len(later) / 3
    assert not any(t.valid and slow_ratio(t) == 0.9 for t in later)


def test_a_generator_slower_than_the_minimum_is_not_measurable() -> None:
    result = run(Rig(Sharp(4e6), generator_fps=9e3))
    assert result.not_measurable is not None
    assert "9,000 frames/s at most" in result.not_measurable


def test_limits_that_cross_are_refused_before_the_first_trial() -> None:
    rig = Rig(Sharp(4e6))
    with pytest.raises(BadSearch, match="10,000 is not below the highest load, 5,000"):
        run(rig, max_load_fps=5e3)
    assert rig.calls == []


def test_rules_can_be_relaxed() -> None:
    rig = Rig(Sharp(4e6), invalid_share=1.0, pause_ns=1_000_000)
    lax = ValidityRules(max_stopped_ratio_of_rate=1.0)
    result = run_search(QUICK, rig.measure, UNLIMITED, Recorder(), lax)
    assert result.mrr_fps is not None, "rates bear it"
    assert result.not_measurable is not None, "losslessness does not"


def test_a_listener_that_raises_ends_the_search() -> None:
    class Stopped(Exception):
        pass

    class Stopping(Recorder):
        def trial(self, trial: Trial) -> None:
            super().trial(trial)
            if len(self.trials) == 3:
                raise Stopped

        def progress(self, progress: Progress) -> None:
            super().progress(progress)
            assert len(self.trials) < 3

    with pytest.raises(Stopped):
        run_search(QUICK, Rig(Sharp(4e6)).measure, UNLIMITED, Stopping())
