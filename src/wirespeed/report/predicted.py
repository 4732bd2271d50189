# SPDX-License-Identifier: Apache-2.0
"""How do measured points stand beside their predictions?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wirespeed.model.prediction import Prediction
from wirespeed.store.records import PointRecord


@dataclass(frozen=True, slots=True)
class BesidePrediction:
    """One point. Rates in frames/s, latencies in us at half of what is carried; None: no such.

    miss: the predicted rate over the measured one, less 1.
    """

    label: str
    predicted: Prediction
    mrr_fps: float | None
    miss: float | None
    ndr_share: float | None
    latency_us: float | None


def beside_predictions(points: Iterable[PointRecord]) -> Iterator[BesidePrediction]:
    """Every point that has a prediction."""
    for point in points:
        found, result = point.predicted, point.result
        if found is None or result is None:
            continue
        ndr = result.ndr.lower if result.ndr is not None else None
        mrr, at = result.mrr_fps or None, result.latency_at(0.5)
        latency = None if at is None else at.undisturbed or at.latency
        yield BesidePrediction(
            point.caption,
            found,
            mrr,
            None if mrr is None else found.rate_fps / mrr - 1,
            None if mrr is None or ndr is None else ndr.load_fps / mrr,
            None if latency is None or latency.p50_ns is None else latency.p50_ns / 1e3,
        )
