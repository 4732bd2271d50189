# SPDX-License-Identifier: Apache-2.0
"""Fit a machine's parameters, with intervals and groups that cannot be distinguished.

The intervals follow from the Jacobian of the regression at its end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wirespeed.model.errors import BadInput
from wirespeed.predict.check import left_out_errors
from wirespeed.predict.observation import Observation, one_kind
from wirespeed.predict.parameters import BY_NAME, Estimate, Parameters
from wirespeed.predict.pcie import Floats
from wirespeed.predict.regression import SOFT_ABOVE, Fitted, columns, solve
from wirespeed.predict.solve import needed

Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]

# Parameters with a higher correlation are not distinguished; one of higher relative error is not
# known.
SAME, UNSURE = 0.95, 0.5
# Effects on all rates together, relative, that are below this are none. Derivatives are differences
# with an error of 1e-7 for each rate: what it says of a parameter differs between CPUs.
SILENT = 1e-5
# 95% point of the normal distribution: half the width of a 90% interval.
_NINETY = 1.645


def fit(
    observations: Sequence[Observation],
    source: str,
    *,
    known: Mapping[str, float] | None = None,
    clock_hz: float | None = None,
) -> Parameters:
    """Return the parameters of the observed machine; those in `known` stay as they are.

    Raises BadInput for rates of several kinds, and for fewer points than parameters.
    """
    kind = one_kind(observations, source)
    cases, rates = columns(observations)
    given = dict(known or {})
    names = [name for name in needed(cases) if name not in given]
    check_enough(len(observations), names, source)
    found = solve(cases, rates, names, given)
    error, checked = left_out_errors(observations, names, given)
    if error is None:
        errors = np.abs(np.expm1(found.residuals))
        error = float(np.percentile(errors, 90))
    heard = _Heard.of(found)
    unsure = _spread(found, heard)
    groups = _together(found, heard)
    estimates = {
        name: Estimate(value, value, value, determined=False) for name, value in given.items()
    }
    for index, name in enumerate(names):
        estimates[name] = _estimate(name, found.values[name], unsure[index], groups)
    return Parameters(source, estimates, error, checked, len(rates), kind, clock_hz, groups)


def check_enough(points: int, names: Collection[str], source: str) -> None:
    if points < len(names):
        raise BadInput(
            f"{source}: {points} points for {len(names)} parameters: {', '.join(names)}",
            "Measure more sizes or numbers of functions, or leave some as they are: --keep NAME.",
        )


def _estimate(
    name: str, value: float, unsure: float, groups: Sequence[Collection[str]]
) -> Estimate:
    """Return the value with its interval, cut at the bounds.

    It is not determined if it is in a group, at a bound, or too uncertain.
    """
    quantity = BY_NAME[name]
    low, high = max(quantity.lower, value - unsure), min(quantity.upper, value + unsure)
    [reach] = _reaches([name])
    at_bound = value - quantity.lower < reach or quantity.upper - value < reach
    determined = not at_bound and unsure <= UNSURE * value and not any(name in g for g in groups)
    return Estimate(value, float(low), float(high), bool(determined))


@dataclass(frozen=True, slots=True)
class _Heard:
    """The parameters that the rates depend on, with what the rates say of them."""

    at: Indices
    """Their positions among the free parameters."""
    deviation: Floats
    """Standard deviation of each value at an error of 1 of each rate; infinite where others can
    take its place in full."""
    alike: Bools
    """Pairs of which the rates give a combination at best. Shape (len(at), len(at))."""

    @classmethod
    def of(cls, found: Fitted) -> Self:
        # Per considerable change: an ns and an ns/octet differ by 10^4, and a value may be 0.
        change = found.jacobian * np.maximum(list(found.values.values()), _reaches(found.names))
        effects = np.linalg.norm(change, axis=0)
        at = np.flatnonzero(effects > SILENT)
        return cls(at, *_known(found.jacobian[:, at]))


def _known(jacobian: Floats) -> tuple[Floats, Bools]:
    """Return the deviations and the pairs alike of `_Heard`."""
    effects = np.linalg.norm(jacobian, axis=0)
    _, strengths, directions = np.linalg.svd(jacobian / effects, full_matrices=False)
    seen = strengths > SILENT * strengths.max(initial=0)
    weights = directions[seen] / strengths[seen, None]
    covariance = weights.T @ weights
    deviation = np.sqrt(np.diag(covariance))
    unseen = np.abs(directions[~seen].T @ directions[~seen])
    # Rounding gives each parameter a share of 1e-5 in others' directions; these are products.
    lost = np.diag(unseen) > SILENT
    alike = np.abs(covariance / np.outer(deviation, deviation)) > SAME
    alike |= (unseen > np.sqrt(SILENT)) & np.outer(lost, lost)
    return np.where(lost, np.inf, deviation / effects), alike


def _spread(found: Fitted, heard: _Heard) -> Floats:
    """Return half the 90% interval of each value; infinite if the rates do not tell it."""
    freedom = max(1, len(found.residuals) - len(heard.at))
    # Robust against the points that the loss discounts, as the fit is.
    variance = float(np.sum(np.minimum(np.abs(found.residuals), 3 * SOFT_ABOVE) ** 2)) / freedom
    unsure: Floats = np.full(len(found.names), np.inf)
    finite = np.isfinite(heard.deviation)
    unsure[heard.at[finite]] = _NINETY * heard.deviation[finite] * np.sqrt(variance)
    return unsure


def _together(found: Fitted, heard: _Heard) -> tuple[tuple[str, ...], ...]:
    """Return groups of parameters of which only a combination is known."""
    names = [found.names[at] for at in heard.at]
    groups: list[set[str]] = []
    for row, name in enumerate(names):
        same = {names[col] for col in np.flatnonzero(heard.alike[row])} | {name}
        touching = [group for group in groups if group & same]
        groups = [group for group in groups if group not in touching]
        groups.append(same.union(*touching))
    order = names.index
    return tuple(tuple(sorted(group, key=order)) for group in groups if len(group) > 1)


def _reaches(names: Sequence[str]) -> Floats:
    """Return the least change of each parameter that counts: 1/1000 of its range."""
    return np.array([1e-3 * (BY_NAME[name].upper - BY_NAME[name].lower) for name in names])
