# SPDX-License-Identifier: Apache-2.0
"""Predict the rate of a deployment, the resource that limits it, and the next one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from wirespeed.model.errors import BadInput
from wirespeed.model.plan.prediction import Case, Load, Prediction, Resource
from wirespeed.predict.demands import Cases, demands
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.pcie import BURST_FRAMES, Floats
from wirespeed.predict.solve import delivered_ns, needed, sends

# A search that offers 1 / LOSS_FOUND frames finds a loss of one frame.
LOSS_FOUND = 1e-6
# Latency is predicted at this share of the rate.
LATENCY_SHARE = 0.5


def rates(cases: Sequence[Case], parameters: Parameters) -> Floats:
    """Return the rates alone, in frames/s; NaN if a parameter is unknown."""
    columns, value = Cases.of(cases), parameters.plain()
    found: Floats = 1e9 / delivered_ns(demands(columns, value), value["sharpness"])
    return found * sends(columns)


def predict(cases: Sequence[Case], parameters: Parameters) -> tuple[Prediction, ...]:
    """Return the prediction of each case. Raises BadInput if a case needs a missing parameter."""
    if not cases:
        return ()
    columns, value = Cases.of(cases), parameters.plain()
    times = demands(columns, value)
    limit = delivered_ns(times, value["sharpness"])
    _check_known(cases, limit, parameters)
    counted = sends(columns)
    table = np.array(list(times.values()))
    busiest = np.argmax(table, axis=0)
    relieved = {
        resource: np.where(busiest == row, 0.0, time)
        for row, (resource, time) in enumerate(times.items())
    }
    others = delivered_ns(relieved, value["sharpness"])
    return tuple(
        _prediction(
            case,
            {resource: float(time[number]) for resource, time in times.items()},
            float(limit[number]),
            float(counted[number]),
            others_ns=float(others[number]),
            parameters=parameters,
        )
        for number, case in enumerate(cases)
    )


def _prediction(
    case: Case,
    times: Mapping[Resource, float],
    limit_ns: float,
    counted: float,
    *,
    others_ns: float,
    parameters: Parameters,
) -> Prediction:
    rate = 1e9 / limit_ns * counted
    used = [(time, resource) for resource, time in times.items() if time > 0]
    loads = tuple(
        Load(resource, time / counted, time / limit_ns)
        for time, resource in sorted(used, key=lambda pair: -pair[0])
    )
    return Prediction(
        rate_fps=rate,
        low_fps=rate / (1 + parameters.error),
        high_fps=min(rate * (1 + parameters.error), _most_fps(case, counted)),
        loads=loads,
        next_gain=limit_ns / others_ns - 1 if others_ns > 0 else None,
        ndr_share=ndr_share(case.ring_frames),
        latency_us=_latency_us([time for time, _ in used]),
        source=parameters.source,
    )


def _most_fps(case: Case, counted: float) -> float:
    """Return the largest offered load, in frames counted as for the rate."""
    return math.inf if case.offered_fps is None else case.offered_fps * counted


def ndr_share(ring_frames: int) -> float:
    """Return the ratio of the lossless rate to the rate under overload.

    Only bursts fill the rings; pauses of the SUT's cores are not modelled. Bursts of b frames
    arrive independently at a server of constant time, at a load u. The probability that the queue
    exceeds K frames then falls as exp(-2 (1 - u) K / (u b)).
    """
    return 1 / (1 + BURST_FRAMES * math.log(1 / LOSS_FOUND) / (2 * ring_frames))


def _latency_us(times_ns: Sequence[float]) -> float:
    """Return the median latency in µs.

    It is the work for the frame, for half of its burst in front of it, and for waiting bursts. The
    wait is Kingman's for bursts at the busiest resource; the others are taken as idle.
    """
    load = LATENCY_SHARE
    waiting = BURST_FRAMES * max(times_ns) * (0.5 + load / (2 * (1 - load)))
    return (sum(times_ns) + waiting) / 1e3


def _check_known(cases: Sequence[Case], limit: Floats, parameters: Parameters) -> None:
    if not np.any(np.isnan(limit)):
        return
    case = cases[int(np.argmax(np.isnan(limit)))]
    lacking = [name for name in needed(Cases.of([case])) if name not in parameters.values]
    raise BadInput(
        f"parameters of {parameters.source}: no {', '.join(lacking)}, which {describe(case)} needs",
        "Fit parameters to a run that has such points: wirespeed predict fit RUN -o FILE.",
    )


def describe(case: Case) -> str:
    """Return a case in words."""
    if case.functions == 0:
        return f"a switch between two {case.edge} ports with {case.frame_bytes:g}-octet frames"
    count = "1 function" if case.functions == 1 else f"{case.functions} functions"
    return f"{case.attachment} {case.arrangement}, {count}, {case.frame_bytes:g} octets"
