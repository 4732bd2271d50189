# SPDX-License-Identifier: Apache-2.0
"""Check the steps of a whole search: warm-up, MRR, search, all time, latency, and its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

import pytest

from tests.support.simulated import Fraying, RareLoss, Recorder, Rig, Sharp
from wirespeed.measure.as_is import SHARES
from wirespeed.measure.interface import UNLIMITED, Progress
from wirespeed.measure.run import run_search
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import Grade, Interval, SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Search, SearchKind

QUICK = Search(SearchKind.QUICK)


def run(rig: Rig, search: Search = QUICK, max_load_fps: float = UNLIMITED) -> SearchResult:
    return run_search(search, rig.measure, max_load_fps, Recorder())


def lower_fps(interval: Interval | None) -> float:
    assert interval is not None
    assert interval.lower is not None
    return interval.lower.load_fps


def loads(result: SearchResult, *stages: Stage) -> list[float]:
    return [t.intended_load_fps for t in result.trials if t.stage in stages]


def test_the_stages_come_in_order() -> None:
    result = run(Rig(Fraying(4e6, 3.5e6)), replace(QUICK, time_limit_s=3.5))
    stages = [stage for stage, _ in groupby(t.stage for t in result.trials)]
    assert stages == [Stage.WARM_UP, Stage.MRR, Stage.SEARCH, Stage.AS_IS, Stage.LATENCY]
    result = run(Rig(Fraying(4e6, 3.5e6)))
    stages = [stage for stage, _ in groupby(t.stage for t in result.trials)]
    assert stages == [Stage.WARM_UP, Stage.MRR, Stage.SEARCH, Stage.CONFIRM, Stage.LATENCY]


def test_a_search_without_noise_gives_grade_a_and_all_rates() -> None:
    result = run(Rig(Sharp(4e6)))
    assert result.search == "quick"
    assert not result.conformant
    assert result.grade is Grade.A
    assert result.because == ()
    assert result.mrr_fps == 4e6
    assert result.limited_by is None
    assert result.not_measurable is None
    assert result.bracket is None
    assert [x.share for x in result.latency] == [0.1, 0.5, 0.9]
    assert result.as_is is not None
    assert result.as_is.mrr_fps == 4e6
    assert result.as_is.load_fps == lower_fps(result.ndr)
    assert result.as_is.lossless_fps == pytest.approx(lower_fps(result.ndr), rel=0.005)
    assert (result.as_is.loss_low, result.as_is.loss_high) == (0.0, 0.0)


def test_the_listener_hears_of_every_trial_as_it_is_stored() -> None:
    recorder = Recorder()
    rig = Rig(Sharp(4e6), disturbed_share=0.2)
    result = run_search(QUICK, rig.measure, UNLIMITED, recorder)
    assert tuple(recorder.trials) == result.trials
    assert len(recorder.announced) == len(rig.calls) == len(result.trials)


def test_the_warm_up_decides_nothing() -> None:
    """The SUT's tables still fill: loss and noise of the warm-up are ignored."""
    rig = Rig(Sharp(4e6))
    first = True

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal first
        cold, first = first, False
        if cold:
            return Rig(Sharp(1.0), disturbed_share=1.0).measure(load_fps, duration_s)
        return rig.measure(load_fps, duration_s)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert not result.trials[0].quiet
    assert lower_fps(result.ndr) == pytest.approx(4e6, rel=0.005)
    assert result.grade is Grade.A


def test_the_mrr_alone() -> None:
    result = run(Rig(Sharp(4e6)), Search(SearchKind.MRR))
    assert result.mrr_fps == 4e6
    assert result.grade is Grade.A
    assert result.undisturbed is not None
    assert result.undisturbed.load_fps == 4e6
    assert result.as_is is not None
    assert (result.as_is.mrr_fps, result.as_is.load_fps) == (4e6, None)
    assert (result.ndr, result.pdr, result.latency, result.bracket) == (None, None, (), None)
    assert len(result.trials) == 1 + 10


def test_an_mrr_without_a_clean_trial_has_rates_over_all_time() -> None:
    result = run(Rig(Sharp(4e6), disturbed_share=1.0), Search(SearchKind.MRR))
    assert result.grade is Grade.D
    assert result.mrr_fps is None
    assert result.as_is is not None
    assert result.as_is.mrr_fps is not None


def test_a_shared_lcore_labels_the_result() -> None:
    assert run(Rig(Sharp(4e6), limited_by="shared_lcore")).limited_by == "shared_lcore"


def test_latency_can_be_omitted() -> None:
    result = run(Rig(Sharp(4e6)), Search(SearchKind.QUICK, latency=False))
    assert result.latency == ()
    assert Stage.LATENCY not in {t.stage for t in result.trials}


def test_no_pdr_no_latency() -> None:
    result = run(Rig(Sharp(1.0)))
    assert result.pdr is not None
    assert result.pdr.lower is None
    assert result.latency == ()


def test_latency_is_taken_at_shares_of_the_pdr_not_the_ndr() -> None:
    result = run(Rig(Fraying(4e6, 2e6)))
    assert lower_fps(result.pdr) > 1.5 * lower_fps(result.ndr)
    assert result.latency[2].load_fps == pytest.approx(0.9 * lower_fps(result.pdr))


def test_latency_after_a_search_without_pdr_uses_the_ndr() -> None:
    result = run(Rig(Sharp(4e6)), Search(SearchKind.RFC2544))
    assert result.latency[1].load_fps == 0.5 * lower_fps(result.ndr)


def test_a_sut_that_loses_at_any_load_is_an_answer_not_a_bracket() -> None:
    """Every load loses a few frames: certainly no NDR; the PDR is as sure as any."""
    result = run(Rig(RareLoss(4e6, 1.0, frames=1)))
    assert result.ndr is not None
    assert result.ndr.lower is None
    assert result.grade is Grade.A
    assert result.bracket is None
    assert lower_fps(result.pdr) == pytest.approx(4e6, rel=0.01)
    assert result.undisturbed is not None
    assert result.undisturbed.load_fps == lower_fps(result.pdr)
    assert result.as_is is not None
    assert result.as_is.load_fps is None


def test_rates_measured_before_the_noise_began_are_kept() -> None:
    rig = Rig(Fraying(4e6, 3.5e6))

    def measure(load_fps: float, duration_s: float) -> Observation:
        rig.disturbed_share = 1.0 if len(rig.calls) >= 10 else 0.0
        return rig.measure(load_fps, duration_s)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.mrr_fps is not None
    assert result.ndr is None, "no fresh trial confirmed it"
    assert result.bracket is not None
    assert result.bracket.carried_fps is not None
    assert result.bracket.carried_fps <= 3.5e6
    assert result.not_measurable is None
    assert any("too few to judge it" in note for note in result.notes)


@dataclass
class Paused:
    """A stop in each trial overflows every ring, and yet only the capacity counts."""

    capacity_fps: float

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        stopped = Rig(Sharp(1e6), disturbed_share=1.0).measure(1e6, duration_s)
        observation = Rig(Sharp(self.capacity_fps)).measure(load_fps, duration_s)
        return replace(observation, evidence=stopped.evidence)


def test_a_load_carried_during_noise_is_the_bracket() -> None:
    result = run_search(QUICK, Paused(4e6).measure, 20e6, Recorder())
    assert result.ndr is None
    assert result.grade is Grade.D
    assert result.bracket is not None
    assert result.bracket.carried_fps == pytest.approx(4e6, rel=0.011)
    assert result.bracket.overloads_fps is None, "a third is lost, as a shared core might"
    assert result.as_is is not None
    assert result.as_is.lossless_fps == result.bracket.carried_fps
    assert result.as_is.load_fps is None


def test_a_bracket_is_never_upside_down() -> None:
    """A load that passes half a second fails each confirmation of a second."""

    def measure(load_fps: float, duration_s: float) -> Observation:
        sut = RareLoss(4e6, 1.0) if duration_s == 1.0 else Sharp(4e6)
        return Rig(sut).measure(load_fps, duration_s)

    result = run_search(replace(QUICK, latency=False), measure, UNLIMITED, Recorder())
    assert result.grade is Grade.D
    assert result.bracket is not None
    assert min(loads(result, Stage.CONFIRM)) < 3.9e6
    assert result.bracket.carried_fps == pytest.approx(4e6, rel=0.005)
    assert result.mrr_fps is not None
    assert result.mrr_fps <= result.bracket.carried_fps
    assert result.bracket.overloads_fps is None, "an end above the MRR would contradict it"


def test_counters_that_contradict_each_other_are_no_figure() -> None:
    result = run(Rig(Sharp(9e6), misread_share=1.0), Search(SearchKind.RFC2544), 8e6)
    assert result.not_measurable is not None
    assert "received 8000001 of 8000000 offered frames" in result.not_measurable
    assert (result.grade, result.ndr, result.latency) == (None, None, ())
    assert result.as_is is not None
    assert result.as_is.lossless_fps is None


def test_as_is_tries_lower_loads_until_one_passes() -> None:
    rig = Rig(Fraying(4e6, 2.5e6))
    search = replace(QUICK, time_limit_s=5.0, latency=False)
    result = run(rig, search)
    tried = loads(result, Stage.AS_IS)
    assert tried == pytest.approx([share * result.mrr_fps for share in SHARES[: len(tried)]])
    assert [t.lost == 0 for t in result.trials if t.stage is Stage.AS_IS] == [
        *([False] * (len(tried) - 1)),
        True,
    ]
    assert result.as_is is not None
    assert result.as_is.lossless_fps == tried[-1] <= 2.5e6


NEAR, FAR = CpuPlacement(45, 1.0), CpuPlacement(210, 1.0)


@dataclass
class Moving:
    """A host whose CPUs are moved apart after some trials."""

    calls: int
    made: int = 0

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        self.made += 1
        where = NEAR if self.made < self.calls else FAR
        observation = Rig(Sharp(4e6)).measure(load_fps, duration_s)
        return replace(observation, placement=(where, where))


def test_search_whose_cpus_moved_answers_for_each_placement() -> None:
    result = run_search(QUICK, Moving(8).measure, UNLIMITED, Recorder())
    assert result.by_placement == ()
    assert any("the placements are merged" in note for note in result.notes), "both carry 4 Mpps"
    assert sum(trial.placement is NEAR.kind for trial in result.trials) == 7
    still = run_search(QUICK, Moving(1000).measure, UNLIMITED, Recorder())
    assert still.because == ()


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
