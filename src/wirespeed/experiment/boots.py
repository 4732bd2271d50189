# SPDX-License-Identifier: Apache-2.0
"""Compare boots with and without kernel words, and screen settings within each boot. Pure.

A split-plot design: the words are the factor of whole boots, settings those within a boot (Box,
Hunter and Hunter, Statistics for Experimenters, chapter 9). Boots take turns. Each has one block of
the screening of the settings, in random order. The words are judged by pairs of boots, each by its
measurement of the start: the addresses and the memory that a boot happens to get count as noise.
Effects of settings are judged within boots. The best settings are confirmed in a boot with the
words if these are proven, otherwise in one without.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Protocol

from wirespeed.experiment.fractions import screening_fraction
from wirespeed.experiment.screening import START, Fit, Screened
from wirespeed.experiment.tuned import Tuned
from wirespeed.experiment.tuning import Asked, Effort, Stage, concluded, fitted
from wirespeed.experiment.turns import Answer, Compared, Rates, Stop, compare_in_turns


class Measure(Protocol):
    """Measures a combination of the settings in a boot with the words or without."""

    def __call__(self, asked: Asked, *, words: bool) -> tuple[Rates, int]:
        """Return the rates by placement, and the number of the boot, from 1."""
        ...


@dataclass(frozen=True, slots=True)
class OverBoots:
    """Outcome."""

    words: Compared
    settings: Tuned | None
    """None where there were no settings to screen."""


@dataclass(slots=True)
class _Search:
    factors: int
    measure: Measure
    draw: random.Random
    runs: list[Screened] = field(default_factory=list)
    levels: dict[int, bool] = field(default_factory=dict)
    """Boots with their level, by number."""
    blocks: int = 0

    def boot(self, words: bool) -> Rates:
        """Measure one block in a boot of its own, and return the rates of the start."""
        self.blocks += 1
        order = list(screening_fraction(self.factors)) if self.factors else [START]
        self.draw.shuffle(order)
        start: Rates = {}
        for cell in order:
            rates, boot = self.measure(Asked(Stage.SCREENING, cell, self.blocks), words=words)
            self.levels[boot] = words
            self.runs += [Screened(cell, fps, kind, boot) for kind, fps in list(rates.items())[:1]]
            if cell == START:
                start = rates
        return start


def tune_over_boots(
    factors: int, measure: Measure, stop: Stop, pairs: int, seed: int = 1
) -> OverBoots:
    """Compare the words in pairs of boots, and tune that many settings of two levels within them.

    stop: of the pairs of boots. pairs: most pairs of the settings' confirmation. Raises
    NotSeparable.
    """
    search = _Search(factors, measure, random.Random(seed))  # noqa: S311  an order
    compared = compare_in_turns(search.boot, stop)
    if not factors:
        return OverBoots(compared, None)
    proven = compared.answer is Answer.MORE
    tuned = concluded(
        _of_one_level(fitted(factors, search.runs), search.levels), factors,
        lambda asked: measure(asked, words=proven)[0], stop.worth, Effort(search.blocks, pairs),
    )  # fmt: skip
    return OverBoots(compared, tuned)


def most_over_boots(factors: int, stop: Stop, pairs: int) -> int:
    """Return the most measurements of such a search."""
    if not factors:
        return stop.most
    return stop.most * len(screening_fraction(factors)) + Stop(stop.worth, pairs).most


def _of_one_level(found: Fit, levels: Mapping[int, bool]) -> Fit:
    """Return the fit with each boot's rate next to those of its level: words are no drift."""
    logs = {boot: math.log(ratio) for boot, ratio in found.blocks.items()}
    middle = {
        level: fmean(logs[boot] for boot in logs if levels[boot] is level)
        for level in {levels[boot] for boot in logs}
    }
    return replace(
        found, blocks={boot: math.exp(log - middle[levels[boot]]) for boot, log in logs.items()}
    )
