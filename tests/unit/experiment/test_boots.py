# SPDX-License-Identifier: Apache-2.0
"""Check searches over boots on a simulated host whose boots differ and whose CPUs move."""

from __future__ import annotations

import math
import random

import pytest

from tests.support.tuned_host import TunedHost
from wirespeed.experiment.boots import most_over_boots, tune_over_boots
from wirespeed.experiment.tuning import Asked, Stage
from wirespeed.experiment.turns import Answer, Rates, Stop

STOP, PAIRS = Stop(0.02, 5), 12
# Standard deviation of the logarithm of a boot's rate.
OF_BOOT = 0.01


class BootedHost:
    """A host whose rate also depends on the boot and on the words that it has booted with."""

    def __init__(self, words_gain: float, gains: tuple[float, ...], seed: int) -> None:
        self.host = TunedHost(gains, seed)
        self.words = math.log1p(words_gain)
        self.draw = random.Random(seed)
        self.booted: list[tuple[bool, int]] = []
        self.rate = 0.0

    def measure(self, asked: Asked, *, words: bool) -> tuple[Rates, int]:
        if not self.booted or (words, asked.block) != self.booted[-1]:
            self.booted.append((words, asked.block))
            self.rate = self.draw.gauss(0, OF_BOOT) + self.words * words
        rates = {
            kind: fps * math.exp(self.rate) for kind, fps in self.host.measure(asked.on).items()
        }
        return rates, len(self.booted)


def test_boots_words_and_settings_that_gain_are_both_proven() -> None:
    both = 0
    for seed in range(20):
        host = BootedHost(0.1, (0.08, -0.05, 0.0), seed)
        found = tune_over_boots(3, host.measure, STOP, PAIRS, seed)
        assert found.settings is not None
        assert host.host.measured <= most_over_boots(3, STOP, PAIRS)
        both += found.words.answer is Answer.MORE and found.settings.claimed == {0}
    assert both >= 17


def test_boots_without_any_gain_claim_nothing() -> None:
    wrong = 0
    for seed in range(40):
        host = BootedHost(0.0, (0.0, -0.05), seed)
        found = tune_over_boots(2, host.measure, STOP, PAIRS, seed)
        assert found.settings is not None
        wrong += found.words.answer is not Answer.SAME and found.words.ratio.low > 0
        wrong += bool(found.settings.claimed)
    assert wrong <= 2


def test_boots_words_that_gain_much_are_no_drift_of_the_host() -> None:
    host = BootedHost(0.5, (0.1,), 1)
    found = tune_over_boots(1, host.measure, STOP, PAIRS)
    assert found.settings is not None
    assert found.settings.void is None
    assert found.settings.claimed == {0}
    assert found.settings.mains[0].gain == pytest.approx(0.1, abs=0.03)


def test_boots_confirm_settings_with_the_words_only_where_these_are_proven() -> None:
    for gain in (0.3, 0.0):
        host, levels = BootedHost(gain, (0.2,), 2), set()

        def measure(asked: Asked, *, words: bool) -> tuple[Rates, int]:
            if asked.stage is Stage.CONFIRMATION:
                levels.add(words)  # noqa: B023
            return host.measure(asked, words=words)  # noqa: B023

        tune_over_boots(1, measure, STOP, PAIRS)
        assert levels == {gain > 0}


def test_boots_without_settings_take_one_measurement_each() -> None:
    host = BootedHost(0.3, (), 3)
    found = tune_over_boots(0, host.measure, STOP, PAIRS)
    assert (found.words.answer, found.settings) == (Answer.MORE, None)
    assert host.host.measured == len(host.booted) <= most_over_boots(0, STOP, PAIRS) == STOP.most
