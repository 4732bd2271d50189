# SPDX-License-Identifier: Apache-2.0
"""Fit parameters to the rates of each CPU placement, and check them where they were not fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

from wirespeed.cli.console import print_line
from wirespeed.cli.input.predict_input import choice
from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.errors import BadInput
from wirespeed.model.words import percent
from wirespeed.predict.check import FEWEST_CURVES, leave_curves_out, left_when_out
from wirespeed.predict.fit import fit
from wirespeed.predict.observation import Observation, split_by_placement
from wirespeed.predict.parameters import Parameters

Split = Mapping[PlacementKind | None, tuple[Observation, ...]]


@dataclass(frozen=True, slots=True)
class Fit:
    """Parameters with the rates that they were fitted to."""

    parameters: Parameters
    observations: tuple[Observation, ...]
    known: Mapping[str, float]
    """Parameters that were given, not fitted."""


def chosen(observations: Sequence[Observation], placement: str | None) -> Split:
    """Return the rates by placement: all, or of the one named. Raises BadInput without any."""
    found = split_by_placement(observations)
    if placement is None:
        return found
    kind = choice(PlacementKind, placement, "--placement")
    if kind not in found:
        met = ", ".join(str(each or "not known") for each in found)
        raise BadInput(
            f"--placement {placement}: no rate was measured there",
            f"Placements of the rates: {met}.",
        )
    return {kind: found[kind]}


def fit_each(
    split: Split, source: str, known: Mapping[str, float], clock_hz: float | None
) -> tuple[Fit, ...]:
    """Fit each placement separately; warn on stderr about one with too few rates.

    Raises BadInput where no placement has as many rates as parameters.
    """
    found: list[Fit] = []
    faults: list[BadInput] = []
    for kind, observations in split.items():
        name = source if kind is None else f"{source}, {placement_words(kind)}"
        try:
            parameters = fit(observations, name, known=known, clock_hz=clock_hz)
        except BadInput as error:
            faults.append(error)
            continue
        found.append(Fit(parameters, observations, known))
    if not found:
        raise faults[0]
    for fault in faults:
        print_line(f"not fitted: {fault.what}", stderr=True)
    return tuple(found)


def print_check(found: Fit, console: Console) -> None:
    """Print the errors of curves that were excluded from the fit."""
    names = [name for name in found.parameters.values if name not in found.known]
    curves, rest = left_when_out(found.observations)
    if curves < FEWEST_CURVES or rest < len(names):
        console.print(f"Not checked: {curves} curves leave {rest} points for "
                      f"{len(names)} parameters.", soft_wrap=True)  # fmt: skip
        return
    missed = leave_curves_out(found.observations, names, found.known)
    for curve, errors in missed.items():
        worst = errors[np.argmax(np.abs(errors))]
        console.print(f"Held out: {curve}: {100 * worst:+.1f}% at most", soft_wrap=True)
    middle = float(np.median(np.abs(np.concatenate(list(missed.values())))))
    console.print(f"Median error of the held-out points: {percent(middle, 1)}.", soft_wrap=True)
