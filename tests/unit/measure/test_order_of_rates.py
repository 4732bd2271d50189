# SPDX-License-Identifier: Apache-2.0
"""Check that the rates of a point stand in their order: lower ends, upper ends, PDR and MRR."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.moving_host import FAR, NEAR, placed
from tests.support.noisy_host import NoisyHost
from tests.support.simulated import Recorder, Rig, Sharp
from wirespeed.measure.bounds import in_order
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import Prober
from wirespeed.measure.remarks import remarks
from wirespeed.measure.run import run_search
from wirespeed.measure.search.interface import Figures
from wirespeed.model.cpus import CpuPair, CpuPlacement, PlacementKind
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import AsIs, Bound, Interval, lower_fps
from wirespeed.model.study.spec import Search, SearchKind

QUICK = Search(SearchKind.QUICK, latency=False)


def interval(lower_fps: float, upper_fps: float | None) -> Interval:
    upper = None if upper_fps is None else Bound(upper_fps, lower_fps, 0.05)
    return Interval(Bound(lower_fps, lower_fps, 0.0), upper)


def judged(*loads_fps: float) -> Prober:
    """Return a prober with verdicts on these loads of a SUT that forwards 4 Mpps."""
    prober = Prober(Rig(Sharp(4e6)).measure, Recorder(), 0.005, 0.005, 5.0, 1.0)
    for load_fps in loads_fps:
        prober.at(load_fps, 0.3)
    return prober


def test_in_order_ndr_raised_above_the_pdr_raises_it_too() -> None:
    found = in_order(
        Figures(ndr=interval(3e6, 5e6), pdr=interval(2e6, 2.1e6)), judged(3e6, 4.5e6, 5e6)
    )
    assert found.pdr is not None
    assert found.pdr.lower == interval(3e6, None).lower
    assert found.pdr.upper is not None
    assert found.pdr.upper.load_fps == 4.5e6
    assert found.ndr == Interval(found.pdr.lower, found.pdr.upper)


def test_in_order_ndr_without_an_end_has_that_of_the_pdr() -> None:
    found = in_order(Figures(ndr=interval(3e6, None), pdr=interval(3e6, 4.5e6)), judged(3e6, 4.5e6))
    assert found.ndr == found.pdr == interval(3e6, 4.5e6)


def test_in_order_rates_in_their_order_stay() -> None:
    figures = Figures(ndr=interval(3e6, 3.1e6), pdr=interval(3.2e6, 3.3e6))
    assert in_order(figures, judged(3e6)) == figures


def test_bracket_mrr_of_all_that_the_generator_offers_is_no_upper_end() -> None:
    host = NoisyHost(4.0137e6, generator_fps=2.8096e6)
    search = Search(SearchKind.QUICK, latency=False, time_limit_s=3.0)
    result = run_search(search, host.measure, UNLIMITED, Recorder())
    assert result.bracket is not None
    assert result.bracket.overloads_fps is None


def test_search_ended_above_the_mrr_has_no_end_below_its_rate() -> None:
    """No probe sees that the CPUs move after ten trials, and the SUT slows down."""
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        capacity_fps = 1e6 if made <= 10 else 0.4e6
        host = NoisyHost(capacity_fps, generator_fps=8e6, seed=made)
        return host.measure(load_fps, duration_s)

    search = Search(SearchKind.QUICK, latency=False, time_limit_s=12.0)
    result = run_search(search, measure, UNLIMITED, Recorder())
    for found in (result.ndr, result.pdr):
        assert found is not None
        assert found.lower is not None
        assert found.upper is None or found.lower.load_fps < found.upper.load_fps


def at(*ns: float) -> CpuPlacement:
    found = CpuPlacement.of(tuple(CpuPair("", (i, i + 1), each, 1.0) for i, each in enumerate(ns)))
    assert found is not None
    return found


def test_merged_placements_of_one_name_are_reported_once() -> None:
    """Three sets of pairs, all named by a pair across caches, forward the same."""
    places, made = (at(40, 40, 210), at(210, 40, 40), at(40, 210, 40)), 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        where = places[min(made // 6, 2)]
        made += 1
        host = NoisyHost(4e6, generator_fps=32e6, seed=made)
        return placed(host.measure(load_fps, duration_s), where, where)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.by_placement == ()
    assert sum("the placements are merged" in note for note in result.notes) == 1
    assert result.merged == (), "no other placement by name"


def test_here_lacks_the_trials_during_which_the_cpus_moved() -> None:
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        host = NoisyHost(4e6, generator_fps=32e6, seed=made)
        return placed(host.measure(load_fps, duration_s), NEAR, FAR if made % 3 == 0 else NEAR)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.placement is PlacementKind.ONE_CACHE
    assert any(trial.moved for trial in result.trials)
    assert result.here
    assert not any(trial.moved for trial in result.here)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (0.02, ["an overload slows the SUT down"]),
        (None, ["an overload may slow the SUT"]),
        (0.3, []),
    ],
)
def test_remarks_mrr_below_the_rate(error: float | None, said: list[str]) -> None:
    found = list(remarks(2e6, 0.005, 1.7e6, error, AsIs()))
    assert [one for one, start in zip(found, said, strict=True) if one.startswith(start)] == found


def test_remarks_lossless_load_above_a_bracket_is_named() -> None:
    """One whole trial passed above the lower end; all trials at that load together failed."""
    [said] = remarks(1.49e6, 0.005, None, None, AsIs(lossless_fps=1.82e6, lossless_s=0.3))
    assert said.startswith("one trial of 0.3 s at 1.820 Mpps lost nothing, but")


def test_lossless_load_of_another_placement_is_named() -> None:
    """The CPUs move for good before the all-time trials, to a placement twice as fast."""
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        near = made <= 4
        host = NoisyHost(4e6 if near else 2e6, generator_fps=32e6, seed=made)
        where = NEAR if near else FAR
        if load_fps == 4e6 and made <= 5:
            host, where = NoisyHost(4e6, generator_fps=32e6, seed=made), NEAR
        return placed(host.measure(load_fps, duration_s), where, where)

    search = replace(QUICK, placement=PlacementKind.ACROSS_CACHES)
    result = run_search(search, measure, UNLIMITED, Recorder())
    assert result.placement is PlacementKind.ACROSS_CACHES
    assert result.as_is is not None
    assert result.as_is.lossless_fps == 4e6
    [said] = [note for note in result.notes if "rate without loss" in note]
    assert said.endswith("4.000 Mpps, was found with polling CPUs within one cache")


def test_mrr_of_a_few_windows_of_one_trial_is_none() -> None:
    """Something else uses the core in all of the overload but 20 ms."""
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        quiet = NoisyHost(4e6, generator_fps=32e6, seed=made).measure(load_fps, duration_s)
        if made not in (2, 3, 4):
            return quiet
        [samples] = quiet.evidence.contention
        last_ns = round(duration_s * 1e9)
        clear = range(last_ns - 20_000_000, last_ns) if made == 4 else range(0)
        slow = tuple(1.0 if at in clear else 2.0 for at in samples.at_ns)
        shared = replace(samples, slowness=slow)
        return replace(quiet, evidence=replace(quiet.evidence, contention=(shared,)))

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.mrr_fps is None
    assert result.mrr_half_interval is None
    assert any("no MRR of clean time: it would rest on" in note for note in result.notes)
    assert lower_fps(result.ndr) == pytest.approx(4e6, rel=0.01)
