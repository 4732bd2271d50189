# SPDX-License-Identifier: Apache-2.0
"""When did nothing arrive because the SUT's CPU stood still? (a stop that no scheduler knows of)

A silence alone excuses nothing: the SUT may have stalled by itself. It counts where the contention
probe on a forwarding CPU, which runs before everything else there, was stopped in it as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wirespeed.bench.noise.contention import ProbeStop
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source

SILENCE_NS = 100_000


def silences(
    sent_ns: NDArray[np.float64], latency_ns: NDArray[np.float64]
) -> tuple[tuple[int, int], ...]:
    """(begin, end) of the times in which nothing arrived, from when frames were sent and how long
    they took; both in the order of sending, frames that did not arrive left out."""
    arrived = np.maximum.accumulate(sent_ns + latency_ns)
    late = np.flatnonzero(np.diff(arrived) > SILENCE_NS)
    return tuple((int(arrived[i]), int(arrived[i + 1])) for i in late)


def corroborated(
    quiet: Sequence[tuple[int, int]], stopped: Sequence[ProbeStop]
) -> Iterator[Disturbance]:
    """What of the silences the probe confirms, as stops of its CPU: no longer than it was stopped
    itself, as what lies beyond is the SUT's own."""
    for begin, end in quiet:
        for stop in stopped:
            first, last = max(begin, stop.begin_ns), min(end, stop.end_ns)
            if last - first > SILENCE_NS:
                yield Disturbance(
                    stop.cpu, first, last - first, DisturbanceKind.STOPPED, Source.SINK_SILENCE,
                    "sut",
                )  # fmt: skip
