# SPDX-License-Identifier: Apache-2.0
"""Define what a search needs from its caller: a function that measures, and a listener.

A search never touches a host. The bench provides the `Measurer`; a `Listener` (store, progress
display) is called with every trial as it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.trial import Stage, Trial

UNLIMITED: Final = math.inf
"""Load that means "as fast as the generator can"."""

Measurer = Callable[[float, float], Observation]
"""measure(load_fps, duration_s): offer that load, summed over all directions, for that long.

load_fps may be UNLIMITED. duration_s may be far below a second (a burst of N frames is N / load
seconds). The counters are read after traffic stopped and the path drained. A trial with noise or a
failed trial is an observation, too. The measurer raises only when the bench itself is broken (a
process died); the search lets that pass.
"""


Placer = Callable[[float], CpuPlacement | None]
"""place(after_s): where the polling CPUs are after_s seconds from now; None if unknown."""


class MeasureError(WirespeedError):
    """Base of what `measure` raises."""


class BadSearch(BadInput, MeasureError):
    """The settings of a search contradict each other."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Next step of the search. left_s is an estimate, None where there is none."""

    stage: Stage
    load_fps: float
    duration_s: float
    attempt: int
    left_s: float | None


class Listener(Protocol):
    """Called while a search runs. Whatever it raises ends the search."""

    def progress(self, progress: Progress) -> None:
        """Note that a trial is about to start."""
        ...

    def trial(self, trial: Trial) -> None:
        """Note that a trial ended and was judged; called once for each, invalid ones included."""
        ...
