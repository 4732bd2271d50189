# SPDX-License-Identifier: Apache-2.0
"""Define the fault that a point injects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from wirespeed.model.input.text import Word

NO_FAULT = "none"


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """A fault to inject, to see its effect on the results and whether it is found.

    The explanation of the point does not read this table.
    """

    kind: Word = NO_FAULT
    """Type of the fault."""
    strength: Annotated[float, Ge(0)] | None = None
    """Strength, in the unit of the fault type (docs/howto/cause-a-fault.md). Default: that of the
    fault type."""
    at: Word | None = None
    """Switch port or network function to inject it at. Default: one of the possible places, chosen
    by seed."""
    seed: Annotated[int, Ge(0)] = 1
    """Seed for the choices that the fault type leaves open: place, and time within a trial."""
