# SPDX-License-Identifier: Apache-2.0
"""What does an explainer see, and what does it answer?

An explainer is a pure function: a measured point in, the explanations that it can give out. It
reads what a run stores, so that a stored point is explained as one that has just been measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wirespeed.model.explanation import Explanation
from wirespeed.model.prediction import Prediction
from wirespeed.model.result import SearchResult
from wirespeed.model.sut import SutDescription


@dataclass(frozen=True, slots=True)
class Measured:
    """A point that is complete. result: with all its trials. predicted: None where nothing is."""

    sut: SutDescription
    result: SearchResult
    predicted: Prediction | None = None


Explainer = Callable[[Measured], Iterable[Explanation]]
