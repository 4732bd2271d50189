# SPDX-License-Identifier: Apache-2.0
"""Find the values of parameters that explain measured rates best.

The method is least squares on the logarithm of the rate with a soft-L1 loss, within the physical
bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from wirespeed.model.errors import WirespeedError
from wirespeed.model.host.installed import install_extra
from wirespeed.predict.demands import Cases
from wirespeed.predict.observation import Observation
from wirespeed.predict.parameters import BY_NAME, complete
from wirespeed.predict.pcie import Floats
from wirespeed.predict.solve import counted_ns

# Relative errors above this count less and less: some published points are damaged or noisy.
SOFT_ABOVE = 0.015


@dataclass(frozen=True, slots=True)
class Fitted:
    """Values of the free parameters, and the Jacobian of the log rate there."""

    names: tuple[str, ...]
    values: dict[str, float]
    jacobian: Floats
    residuals: Floats


def columns(observations: Sequence[Observation]) -> tuple[Cases, Floats]:
    """Return the cases, and the rates in frames/s."""
    rates = np.array([observation.rate_fps for observation in observations], dtype=float)
    return Cases.of([observation.case for observation in observations]), rates


def solve(
    cases: Cases, rates_fps: Floats, names: Sequence[str], known: Mapping[str, float]
) -> Fitted:
    """Return the values of `names` that explain the rates best, with the others from `known`."""
    least_squares = _least_squares()
    fixed = complete(known)
    measured = np.log(1e9 / rates_fps)
    quantities = [BY_NAME[name] for name in names]
    lower, upper = (np.array([getattr(q, end) for q in quantities]) for end in ("lower", "upper"))
    start = np.array([q.start for q in quantities])

    def residuals(values: Floats) -> Floats:
        return np.log(counted_ns(cases, fixed | dict(zip(names, values, strict=True)))) - measured

    found = least_squares(
        residuals, start, bounds=(lower, upper), loss="soft_l1", f_scale=SOFT_ABOVE, x_scale=start
    )
    values = dict(zip(names, map(float, found.x), strict=True))
    return Fitted(tuple(names), values, found.jac, residuals(found.x))


def check_solver() -> None:
    """Raise WirespeedError where scipy, which only a fit needs, is not installed."""
    if find_spec("scipy") is None:
        raise WirespeedError(
            "fitting needs scipy, which is not installed", f"Install it: {install_extra('fit')}"
        )


def _least_squares() -> Callable[..., Any]:
    """Import scipy's solver, which only a fit needs."""
    check_solver()
    from scipy.optimize import least_squares

    solver: Callable[..., Any] = least_squares
    return solver
