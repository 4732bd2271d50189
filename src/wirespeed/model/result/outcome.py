# SPDX-License-Identifier: Apache-2.0
"""Define what all results of a workload without a search answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from wirespeed.model.result.explanation import EvidenceFigure


@dataclass(frozen=True, slots=True)
class Quantity:
    """The rate that stands for a point."""

    name: str
    """Name in a list of rates, e.g. "TCP"."""
    value: float
    unit: str
    """"bit/s", or what else is counted."""
    error: float | None = None
    """Half of its 95% interval, relative; None if unknown."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Limit of a rate, as it was judged when it was measured."""

    limited_by: str
    """Name of the limit, e.g. "server_cpu"; "unknown"."""
    sentence: str
    evidence: tuple[EvidenceFigure, ...]


class Outcome(Protocol):
    """Result of a point without a search, over all its runs.

    It also has `stored_total`, which reads its total from its stored figures.
    """

    @property
    def total(self) -> Quantity:
        """Return the rate over all time that stands for the point."""
        ...

    @property
    def clean(self) -> Quantity | None:
        """Return the same over clean time, which runs are compared by; None if unknown."""
        ...

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return what limited it, once for each figure."""
        ...
