# SPDX-License-Identifier: Apache-2.0
"""Compute the model's error at points that were not fitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from wirespeed.predict.observation import Observation
from wirespeed.predict.parameters import complete
from wirespeed.predict.pcie import Floats
from wirespeed.predict.regression import columns, solve
from wirespeed.predict.solve import counted_ns

# Fewer curves do not predict the error of the next one.
FEWEST_CURVES = 3


def errors(observations: Sequence[Observation], values: Mapping[str, float]) -> Floats:
    """Return predicted over measured rate, less 1."""
    cases, rates = columns(observations)
    predicted: Floats = 1e9 / counted_ns(cases, complete(values)) / rates - 1
    return predicted


def held_out(
    observations: Sequence[Observation],
    out: Sequence[bool],
    names: Sequence[str],
    known: Mapping[str, float],
) -> Floats:
    """Return the errors at the points marked in `out`, fitted to the other points."""
    rest = [o for o, left in zip(observations, out, strict=True) if not left]
    tested = [o for o, left in zip(observations, out, strict=True) if left]
    cases, rates = columns(rest)
    return errors(tested, dict(known) | solve(cases, rates, names, known).values)


def leave_curves_out(
    observations: Sequence[Observation], names: Sequence[str], known: Mapping[str, float]
) -> dict[str, Floats]:
    """Return the errors of each curve, fitted to all other curves."""
    curves = list(dict.fromkeys(observation.curve for observation in observations))
    return {
        curve: held_out(observations, [o.curve == curve for o in observations], names, known)
        for curve in curves
    }


def left_when_out(observations: Sequence[Observation]) -> tuple[int, int]:
    """Return the number of curves, and the number of points without the largest curve."""
    sizes = Counter(observation.curve for observation in observations)
    return len(sizes), sizes.total() - max(sizes.values())


def left_out_errors(
    observations: Sequence[Observation], names: Sequence[str], known: Mapping[str, float]
) -> tuple[float | None, str]:
    """Return the 90th percentile of the error at excluded curves, and the method.

    The error is None if too few points remain.
    """
    curves, rest = left_when_out(observations)
    if curves < FEWEST_CURVES or rest < len(names):
        return None, "at the fitted points: there are too few to leave some out"
    found = np.concatenate(list(leave_curves_out(observations, names, known).values()))
    return float(np.percentile(np.abs(found), 90)), f"each of {curves} held-out curves"
