# SPDX-License-Identifier: Apache-2.0
"""Compare measured points with their predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wirespeed.model.plan.prediction import Prediction
from wirespeed.store.records import PointRecord


@dataclass(frozen=True, slots=True)
class BesidePrediction:
    """One point and its prediction. Rates in frames/s, latency in µs at half of what is carried.

    None where there is no such value.
    """

    label: str
    predicted: Prediction
    mrr_fps: float | None
    miss: float | None
    """Predicted over measured rate, minus 1."""
    ndr_share: float | None
    latency_us: float | None


def beside_predictions(points: Iterable[PointRecord]) -> Iterator[BesidePrediction]:
    """Yield every point that has a prediction."""
    for point in points:
        found, result = point.predicted, point.result
        if found is None or result is None:
            continue
        ndr = result.ndr.lower if result.ndr is not None else None
        mrr, latency = result.mrr_fps or None, result.half_load_latency
        yield BesidePrediction(
            point.caption,
            found,
            mrr,
            None if mrr is None else found.rate_fps / mrr - 1,
            None if mrr is None or ndr is None else ndr.load_fps / mrr,
            None if latency is None or latency.p50_ns is None else latency.p50_ns / 1e3,
        )
