# SPDX-License-Identifier: Apache-2.0
"""What does an explainer see, and what does it answer?

An explainer is a pure function: a measured point in, the explanations that it can give out. It
reads what a run stores, so that a stored point is explained as one that has just been measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.prediction import Prediction
from wirespeed.model.result.explanation import Explanation
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.spec import Frames, Workload
from wirespeed.model.study.sut import SutDescription


@dataclass(frozen=True, slots=True)
class Measured:
    """A point that is complete. result: with all its trials. predicted: None where nothing is.

    workload, plan, host: what was measured, with which CPUs, of which host; None where that is not
    known, and then no change has values. tsc_hz: cycles per second of the host's time stamp
    counter; None where it was not stored. other_sizes: (octets of a frame, frames/s at best) of the
    points that differ from this one in the size of frames alone.
    """

    sut: SutDescription
    result: SearchResult
    predicted: Prediction | None = None
    workload: Workload | None = None
    plan: Plan | None = None
    host: HostFacts | None = None
    tsc_hz: float | None = None
    other_sizes: tuple[tuple[float, float], ...] = ()

    @property
    def frames(self) -> Frames | None:
        """The workload of a point that offers frames. Nobody is told of a fault that it causes on
        purpose."""
        if not isinstance(self.workload, Frames):
            return None
        return replace(self.workload, fault=None)


def tsc_hz(bench: Mapping[str, object]) -> float | None:
    """What a bench's description says of the time stamp counter; None where it says nothing."""
    for part in bench.values():
        if isinstance(part, Mapping) and isinstance(hz := part.get("tsc_hz"), int | float):
            return float(hz)
    return None


Explainer = Callable[[Measured], Iterable[Explanation]]
