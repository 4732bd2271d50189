# SPDX-License-Identifier: Apache-2.0
"""Detect stops of the SUT's CPU, unknown to the scheduler, by periods without arrivals.

A silence alone is no excuse, because the SUT may have stalled by itself. It counts only if the
contention probe on a forwarding CPU was stopped as well. That probe has priority over everything
else there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wirespeed.bench.noise.contention import ProbeStop
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source

SILENCE_NS = 100_000


def silences(
    sent_ns: NDArray[np.float64], latency_ns: NDArray[np.float64]
) -> tuple[tuple[int, int], ...]:
    """Return (begin, end) of the periods without arrivals, in ns.

    sent_ns, latency_ns: send times and latencies, in the order of sending, without lost frames.
    """
    arrived = np.maximum.accumulate(sent_ns + latency_ns)
    late = np.flatnonzero(np.diff(arrived) > SILENCE_NS)
    return tuple((int(arrived[i]), int(arrived[i + 1])) for i in late)


def corroborated(
    quiet: Sequence[tuple[int, int]], stopped: Sequence[ProbeStop]
) -> Iterator[Disturbance]:
    """Yield the part of each silence that a stop of the probe confirms.

    The rest of a silence is the SUT's own. quiet: in order of time, as `silences` returns them.
    """
    begins, ends = [begin for begin, _ in quiet], [end for _, end in quiet]
    for stop in stopped:
        meanwhile = slice(bisect_left(ends, stop.begin_ns), bisect_left(begins, stop.end_ns))
        for begin, end in quiet[meanwhile]:
            first, last = max(begin, stop.begin_ns), min(end, stop.end_ns)
            if last - first > SILENCE_NS:
                yield Disturbance(
                    stop.cpu, first, last - first, DisturbanceKind.STOPPED, Source.SINK_SILENCE,
                    "sut",
                )  # fmt: skip
