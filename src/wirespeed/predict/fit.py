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

# Parameters with a higher correlation are not distinguished; one of higher relative error is not
# known.
SAME, UNSURE = 0.95, 0.5
# The rates do not depend on a parameter if doubling it changes them by less. The derivatives are
# differences, whose own error is 1e-7: what it says of a parameter differs between CPUs.
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
    reach = 1e-3 * (quantity.upper - quantity.lower)
    at_bound = value - quantity.lower < reach or quantity.upper - value < reach
    determined = not at_bound and unsure <= UNSURE * value and not any(name in g for g in groups)
    return Estimate(value, float(low), float(high), bool(determined))


@dataclass(frozen=True, slots=True)
class _Heard:
    """The parameters that the rates depend on, with what the rates say of them."""

    at: Indices
    """Their positions among the free parameters."""
    covariance: Floats
    """Of their relative values, without the factor of the residuals' variance."""

    @classmethod
    def of(cls, found: Fitted) -> Self:
        # Per relative change: parameters in ns and in ns/octet differ by 10^4, too much to invert.
        change = found.jacobian * np.array(list(found.values.values()))
        at = np.flatnonzero(np.linalg.norm(change, axis=0) > SILENT)
        square = change[:, at].T @ change[:, at]
        inverse = np.linalg.pinv(square, hermitian=True)
        return cls(at, np.asarray(inverse, dtype=np.float64))


def _spread(found: Fitted, heard: _Heard) -> Floats:
    """Return half the 90% interval of each value; infinite if the rates do not depend on it."""
    freedom = max(1, len(found.residuals) - len(found.names))
    # Robust against the points that the loss discounts, as the fit is.
    variance = float(np.sum(np.minimum(np.abs(found.residuals), 3 * SOFT_ABOVE) ** 2)) / freedom
    values = np.array(list(found.values.values()))
    unsure: Floats = np.full(len(values), np.inf)
    unsure[heard.at] = _NINETY * values[heard.at] * np.sqrt(np.diag(heard.covariance) * variance)
    return unsure


def _together(found: Fitted, heard: _Heard) -> tuple[tuple[str, ...], ...]:
    """Return groups of parameters of which only a combination is known."""
    names = [found.names[at] for at in heard.at]
    deviation = np.sqrt(np.maximum(np.diag(heard.covariance), 1e-300))
    alike = np.abs(heard.covariance / np.outer(deviation, deviation)) > SAME
    groups: list[set[str]] = []
    for row, name in enumerate(names):
        same = {names[col] for col in np.flatnonzero(alike[row])} | {name}
        touching = [group for group in groups if group & same]
        groups = [group for group in groups if group not in touching]
        groups.append(same.union(*touching))
    order = names.index
    return tuple(tuple(sorted(group, key=order)) for group in groups if len(group) > 1)
