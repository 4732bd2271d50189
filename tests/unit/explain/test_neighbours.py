# SPDX-License-Identifier: Apache-2.0
"""Check what a run's trials show of a host's neighbours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.moving_host import MovingHost
from tests.support.noisy_host import LOUD, NoisyHost
from tests.support.simulated import SUT_CPU, Recorder
from wirespeed.explain.neighbours import neighbours
from wirespeed.measure.interface import UNLIMITED, Measurer
from wirespeed.measure.run import run_search
from wirespeed.model.result.observation import Competitor
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.spec import Search, SearchKind

QUICK = Search(SearchKind.QUICK, latency=False)


def trials(measure: Measurer) -> tuple[Trial, ...]:
    return run_search(QUICK, measure, UNLIMITED, Recorder()).trials


def test_neighbours_of_a_quiet_host_take_nothing() -> None:
    found = neighbours("wire-1", trials(NoisyHost(4e6).measure))
    assert found is not None
    assert (found.run, found.moved, found.taken, found.stolen) == ("wire-1", 0, 0.0, 0.0)


def test_neighbours_of_a_noisy_host_are_named_with_their_share() -> None:
    cc1 = Competitor("cc1", SUT_CPU, 0.4)
    elsewhere = Competitor("sshd", 99, 0.9)

    def crowded(trial: Trial) -> Trial:
        seen = replace(
            trial.observation,
            competitors=(cc1, elsewhere),
            steal_ns=round(0.2e9 * trial.duration_s),
        )
        return replace(trial, observation=seen)

    found = neighbours("wire-1", [crowded(trial) for trial in trials(NoisyHost(4e6, LOUD).measure)])
    assert found is not None
    assert found.taken > 0.5
    assert found.stolen == pytest.approx(0.1), "of two polling CPUs"
    assert found.takers == ("cc1 40.00%",)


def test_neighbours_of_a_moving_host_count_the_trials_that_moved() -> None:
    ran = trials(MovingHost(4e6, 0.35, seed=3, stay_s=(1.0, 2.0)).measure)
    found = neighbours("wire-1", ran)
    assert found is not None
    assert found.moved == sum(trial.moved for trial in ran) > 0


def test_neighbours_of_a_run_without_trials_are_unknown() -> None:
    assert neighbours("wire-1", ()) is None
