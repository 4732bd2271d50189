# SPDX-License-Identifier: Apache-2.0
"""Define the input and the output of explainers.

An explainer is a pure function from a measured point to its explanations. It reads only what a run
stores, so stored points and new points get the same explanations.
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
    """A complete point."""

    sut: SutDescription
    result: SearchResult
    """Result with all trials."""
    predicted: Prediction | None = None
    """Predicted rate; None without a prediction."""
    workload: Workload | None = None
    """Workload of the point; None if unknown, and then changes have no values."""
    plan: Plan | None = None
    """Plan of the bench; None if unknown."""
    host: HostFacts | None = None
    """Facts of the host; None if unknown."""
    tsc_hz: float | None = None
    """Rate of the host's TSC in cycles/s; None if it was not stored."""
    other_sizes: tuple[tuple[float, float], ...] = ()
    """(frame size in octets, highest rate in frames/s) of points that differ only in frame size."""

    @property
    def frames(self) -> Frames | None:
        """Workload of a point that offers frames, without its injected fault.

        Explainers must not know of the fault.
        """
        frames = None if self.workload is None else self.workload.frames
        return None if frames is None else replace(frames, fault=None)


def tsc_hz(bench: Mapping[str, object]) -> float | None:
    """Return the TSC rate in a bench's description, in cycles/s; None if it has none."""
    for part in bench.values():
        if isinstance(part, Mapping) and isinstance(hz := part.get("tsc_hz"), int | float):
            return float(hz)
    return None


Explainer = Callable[[Measured], Iterable[Explanation]]
