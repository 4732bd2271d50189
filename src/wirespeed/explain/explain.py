# SPDX-License-Identifier: Apache-2.0
"""Explain a measured point with all explainers, the most important explanation first."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.blame import Blame
from wirespeed.explain.blame_host import neighbours
from wirespeed.explain.ceiling import ceiling
from wirespeed.explain.changes import with_values
from wirespeed.explain.cores import balance, contention, placement
from wirespeed.explain.emulated import emulated
from wirespeed.explain.expected import expected
from wirespeed.explain.gains import with_gain
from wirespeed.explain.interface import Explainer, Measured
from wirespeed.explain.loss import loss, not_reached
from wirespeed.explain.saturation import frame_cost, overload, pauses
from wirespeed.explain.verdicts import verdicts
from wirespeed.model.result.explanation import Explanation

# Explainers between the suspects and the harmless findings.
_OF_FRAMES: tuple[Explainer, ...] = (
    ceiling, not_reached, pauses, overload, placement, contention, neighbours, frame_cost, balance,
    expected,
)  # fmt: skip
# Emulated points say nothing about speed.
OF_EMULATED: tuple[Explainer, ...] = (emulated, loss)
_OF_OUTCOMES: tuple[Explainer, ...] = (verdicts,)


def explain(point: Measured) -> tuple[Explanation, ...]:
    """Return the explanations of a point with values and gains.

    The function is pure: a stored point and a new point get the same explanations.
    """
    return tuple(
        with_gain(point, with_values(point, found))
        for explainer in _explainers(point)
        for found in explainer(point)
    )


def _explainers(point: Measured) -> tuple[Explainer, ...]:
    if point.result.emulated is not None:
        return OF_EMULATED
    return (_of_frames,) if point.result.searched else _OF_OUTCOMES


def _of_frames(point: Measured) -> Iterator[Explanation]:
    blame = Blame.of(point)
    yield from blame.not_found()
    yield from blame.foremost()
    yield from loss(point)
    yield from blame.lesser()
    for explainer in _OF_FRAMES:
        yield from explainer(point)
    yield from blame.harmless()
