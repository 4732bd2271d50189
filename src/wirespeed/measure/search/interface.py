# SPDX-License-Identifier: Apache-2.0
"""Define a search method: a frozen set of parameters with `find`, which runs trials.

Implementations, one a file: rfc2544, tst009, mlr, mrr, fixed, soak, b2b. They never import each
other, except that `b2b` uses `mlr`; presets.py holds the parameters in use.
"""

from __future__ import annotations

from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol

from wirespeed.measure.prober import Prober
from wirespeed.model.result.result import BackToBack, Bound, Interval


@dataclass(frozen=True, slots=True)
class Limits:
    """Range of loads to search, in frames/s over all directions."""

    min_fps: float
    max_fps: float
    mrr_fps: float | None
    """Rate received under overload; None where the preset does not measure it."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Results of a search; None for values that it does not look for."""

    ndr: Interval | None = None
    pdr: Interval | None = None
    constant: Bound | None = None
    back_to_back: BackToBack | None = None
    notes: tuple[str, ...] = ()
    """Notes for the report."""
    unconfirmed: str | None = None
    """Reason why the NDR is not sure: the search ended early, or no fresh trial confirmed it. None
    if it is sure.
    """
    ended: str | None = None
    """Reason for which the search ended before the PDR, with a sure NDR; else None."""


class Parameters(Protocol):
    """A frozen dataclass: presets.py fills in what a study sets, by field name."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class SearchMethod(Parameters, Protocol):
    @property
    def conformant(self) -> bool:
        """Return whether trials follow RFC 2544 section 24 (60 s, not one frame lost)."""
        ...

    @property
    def expected_s(self) -> float:
        """Rough time of its trials together, in s, without overheads and extensions."""
        ...

    def find(self, prober: Prober, limits: Limits) -> Figures:
        """Run the search. Whatever the prober raises passes through."""
        ...
