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
    """A fault caused on purpose, to see what it does to the figures and whether it is found. What
    explains a point is not told of it."""

    kind: Word = NO_FAULT
    """Which fault; none: the point is as healthy as its host."""
    strength: Annotated[float, Ge(0)] | None = None
    """How much of it, in the unit that the kind has (docs/howto/cause-a-fault.md). Left out: the
    kind's default."""
    at: Word | None = None
    """The port of the switch, or the network function, where it is caused. Left out: one of those
    where the kind can be caused, chosen by seed."""
    seed: Annotated[int, Ge(0)] = 1
    """Decides what the kind leaves to chance: where, and when in a trial."""
