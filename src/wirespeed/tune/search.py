# SPDX-License-Identifier: Apache-2.0
"""Tune a point on a bench: measure what the search asks for, and say what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.fractions import screening_fraction
from wirespeed.experiment.screening import NotSeparable
from wirespeed.experiment.tuned import Tuned
from wirespeed.experiment.tuning import Asked, Effort, TooFewTrials, effort_for, most_trials, tune
from wirespeed.experiment.turns import Rates
from wirespeed.experiment.wide import (
    is_wide,
    most_wide_trials,
    wide_blocks,
    wide_effort,
    wide_tune,
)
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.study.spec import Workload
from wirespeed.model.words import counted, seconds
from wirespeed.tune.factor import Factor, groups_of
from wirespeed.tune.trials import Setting, Trials, workload_with

# More than any design takes.
UNLIMITED = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One measurement of a search."""

    asked: Asked
    value: float | None
    """None where the measurement has none."""
    placement: PlacementKind | None


@dataclass(frozen=True, slots=True)
class Found:
    """Outcome of a search, with its measurements in order."""

    tuned: Tuned
    steps: tuple[Step, ...]


def effort_within(factors: Sequence[Factor], minutes: float | None, trial_s: float) -> Effort:
    """Return the design that fits into the time; trial_s: time of a measurement.

    Raises BadInput with the time that the smallest design takes.
    """
    trials = UNLIMITED if minutes is None else int(60 * minutes / trial_s)
    groups = groups_of(factors)
    try:
        return wide_effort(groups, trials) if is_wide(groups) else effort_for(len(groups), trials)
    except TooFewTrials as error:
        needed_s = error.least * trial_s
        raise BadInput(
            f"--minutes {minutes:g}: {_counted(factors)} take at least {error.least} measurements, "
            f"about {seconds(needed_s)}",
            f"Give --minutes {needed_s / 60 + 1:.0f}, or fewer factors with --only.",
        ) from error


def most_measurements(factors: Sequence[Factor], effort: Effort) -> int:
    """Return the most measurements that this effort takes."""
    groups = groups_of(factors)
    if is_wide(groups):
        return most_wide_trials(groups, effort)
    return most_trials(len(groups), effort)


def _counted(factors: Sequence[Factor]) -> str:
    groups = groups_of(factors)
    levels = f" of {len(factors)} levels" if len(factors) > len(groups) else ""
    return f"{counted(len(groups), 'factor')}{levels}"


def check_combinations(
    factors: Sequence[Factor], base: Mapping[str, Any], plan: Callable[[Workload], object],
    effort: Effort, seed: int,
) -> None:  # fmt: skip
    """Raise BadInput where two levels do not go together at the point, or on the host."""
    groups = groups_of(factors)
    cells = (
        {cell for block in wide_blocks(groups, effort.blocks, seed) for cell in block}
        if is_wide(groups) else screening_fraction(len(groups))
    )  # fmt: skip
    for cell in cells:
        names = ", ".join(factors[at].name for at in sorted(cell))
        try:
            plan(setting_of(cell, factors, base).workload)
        except WirespeedError as error:
            raise BadInput(
                f"factors {names} do not go together: {error.what}", "Exclude one with --never."
            ) from error


def setting_of(
    on: Combination, factors: Sequence[Factor], base: Mapping[str, Any], stage: str = ""
) -> Setting:
    """Return the point with these factors at their other level."""
    changed = [factors[at] for at in sorted(on)]
    sets = {key: value for factor in changed for key, value in factor.sets.items()}
    host = {path: value for factor in changed for path, value in factor.host.items()}
    names = tuple(factor.name for factor in changed)
    label = f"{stage}, {' + '.join(names) or 'start'}" if stage else " + ".join(names) or "start"
    return Setting(label, workload_with(base, sets, "factors"), names, host)


def search(
    trials: Trials, factors: Sequence[Factor], base: Mapping[str, Any], worth: float,
    effort: Effort, *, seed: int,
) -> Found:  # fmt: skip
    """Run the search. Raises WirespeedError where too few measurements have a value."""
    steps: list[Step] = []

    def measure(asked: Asked) -> Rates:
        rates = trials.measure(setting_of(asked.on, factors, base, asked.stage))
        kind, value = next(iter(rates.items()), (None, None))
        steps.append(Step(asked, value, kind))
        return rates

    try:
        groups = groups_of(factors)
        if is_wide(groups):
            tuned = wide_tune(groups, measure, worth, effort, seed)
        else:
            tuned = tune(len(groups), measure, worth, effort, seed)
    except NotSeparable as error:
        raise WirespeedError(
            f"run {trials.writer.run_id}: {error}",
            "Its report says why measurements have no value; a quieter host has more of them.",
        ) from error
    return Found(tuned, tuple(steps))
