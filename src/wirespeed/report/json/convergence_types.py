# SPDX-License-Identifier: Apache-2.0
"""Define the result of a router's convergence as the result document has it."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from wirespeed.model.result.convergence import ConvergenceFigure, ConvergenceRun


class Convergence(TypedDict):
    """Times after events, by prefix."""

    figures: list[ConvergenceFigure]
    """One for each type of event."""
    runs: list[ConvergenceRun]
    """Every event, in order."""
    rate_fps: float
    """Offered load in frames/s."""


class ConvergenceResult(TypedDict):
    """Result of a point whose router converged."""

    type: Literal["convergence"]
    search: Literal["convergence"]
    rfc2544_conformant: Literal[False]
    not_measurable: str | None
    """Reason why no event was measured."""
    grade: None
    """Events have no grade."""
    because: list[str]
    notes: list[str]
    """Sentences for the reader of the times."""
    convergence: Convergence | None
    """Null if no event was measured."""
