# SPDX-License-Identifier: Apache-2.0
"""Find the largest load at which no resource is over 1.

Resources that saturate at nearly the same load hinder each other: bursts and finite rings make one
wait while the other is idle. The utilisations of cores and of the NIC's parts therefore combine as
a norm of order `sharpness`; the plain bottleneck law is its limit. PCIe and the largest offered
load are computed, not fitted; they bound the rate directly.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wirespeed.model.plan.prediction import Resource
from wirespeed.predict.demands import Cases, demands
from wirespeed.predict.parameters import QUANTITIES
from wirespeed.predict.pcie import Floats

BOUNDS = (Resource.PCIE_IN, Resource.PCIE_OUT, Resource.OFFERED)


def delivered_ns(times: Mapping[Resource, Floats], sharpness: float) -> Floats:
    """Return the time between delivered frames at the largest load, in ns.

    times: time of each resource in ns.
    """
    varying = np.array([time for resource, time in times.items() if resource not in BOUNDS])
    bounds = np.max([time for resource, time in times.items() if resource in BOUNDS], axis=0)
    most = np.max(varying, axis=0)
    scaled = varying / np.where(most > 0, most, 1.0)
    together: Floats = most * np.sum(scaled**sharpness, axis=0) ** (1 / sharpness)
    slowest: Floats = np.maximum(together, bounds)
    return slowest


def counted_ns(cases: Cases, value: Mapping[str, float]) -> Floats:
    """Return the time between counted frames in ns; NaN if a parameter is missing.

    It is 1e9 / the predicted rate.
    """
    return delivered_ns(demands(cases, value), value["sharpness"]) / sends(cases)


def sends(cases: Cases) -> Floats:
    """Return the counted frames per delivered frame.

    S2 counts a frame at every function of a chain.
    """
    return np.where((cases.transmitted > 0) & (cases.chain > 0), cases.functions, 1.0)


def needed(cases: Cases) -> tuple[str, ...]:
    """Return the quantities that the rate of a case depends on, without the given ones."""
    start = {q.name: q.start for q in QUANTITIES}
    demanded = counted_ns(cases, start)
    found = []
    for quantity in QUANTITIES:
        unknown = counted_ns(cases, start | {quantity.name: np.nan})
        if not quantity.given and bool(np.any(np.isnan(unknown) | (unknown != demanded))):
            found.append(quantity.name)
    return tuple(found)
