# SPDX-License-Identifier: Apache-2.0
"""What is a search method? A frozen set of parameters with `find`, which runs trials by a prober.

Implementations, one a file: rfc2544, tst009, mlr, mrr, fixed, soak, b2b. They never import each
other, except that `b2b` uses `mlr`; presets.py holds the parameters in use.
"""

from __future__ import annotations

from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol

from wirespeed.measure.prober import Prober
from wirespeed.model.result import BackToBack, Bound, Interval


@dataclass(frozen=True, slots=True)
class Limits:
    """Between which loads to search, in frames/s over all directions.

    mrr_fps: what was received under overload, None where the preset does not measure it.
    """

    min_fps: float
    max_fps: float
    mrr_fps: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """What a search found; None for figures that it does not look for.

    notes: for the report. unconfirmed: why the NDR found is not sure: the search ended early, or no
    fresh trial confirmed it; None where it came to its end.
    """

    ndr: Interval | None = None
    pdr: Interval | None = None
    constant: Bound | None = None
    back_to_back: BackToBack | None = None
    notes: tuple[str, ...] = ()
    unconfirmed: str | None = None


class Parameters(Protocol):
    """A frozen dataclass: presets.py fills in what a study sets, by field name."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class SearchMethod(Parameters, Protocol):
    @property
    def conformant(self) -> bool:
        """Whether trials follow RFC 2544 section 24 (60 s, not one frame lost)."""
        ...

    @property
    def expected_s(self) -> float:
        """Roughly how long its trials take together, without overheads and extensions."""
        ...

    def find(self, prober: Prober, limits: Limits) -> Figures:
        """Run the search. Whatever the prober raises passes through."""
        ...
