# SPDX-License-Identifier: Apache-2.0
"""What does a search need from its caller? Something to measure with, and someone to tell.

A search never touches a host: the bench hands it a `Measurer`, and a `Listener` (store, progress
display) hears of every trial as it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.trial import Observation, Stage, Trial

UNLIMITED: Final = math.inf
"""The load that means "as fast as the generator can"."""

Measurer = Callable[[float, float], Observation]
"""measure(load_fps, duration_s): offer that load, summed over all directions, for that long.

load_fps may be UNLIMITED. duration_s may be far below a second (a burst of N frames is N / load
seconds). The counters are read after traffic stopped and the path drained. The observation states
what happened, good or bad: a trial that went wrong is an observation too. The measurer raises only
when the bench itself is broken (a process died), and the search passes that on."""


class MeasureError(WirespeedError):
    """The base of what `measure` raises."""


class BadSearch(BadInput, MeasureError):
    """A search was asked for with values that contradict each other."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What the search is about to do. left_s is an estimate, None where nobody can know."""

    stage: Stage
    load_fps: float
    duration_s: float
    attempt: int
    left_s: float | None


class Listener(Protocol):
    """Hears of a search while it runs. Whatever it raises ends the search."""

    def progress(self, progress: Progress) -> None:
        """A trial is about to start."""
        ...

    def trial(self, trial: Trial) -> None:
        """A trial ended and was judged; called once for each, invalid ones included."""
        ...
