# SPDX-License-Identifier: Apache-2.0
"""How long will points take, before any is measured? Pure.

Rough: how often a search has to extend its trials depends on how noisy the host is. Where a search
has a time limit, it is likely to take all of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.bench.assembly.kinds import topology_of
from wirespeed.measure.latency import SHARES
from wirespeed.measure.presets import resolve
from wirespeed.model.spec import Frames, Search, Workload
from wirespeed.model.study import Point

# A bench comes up and goes down, in seconds, as measured on a virtual machine with two CPUs: a
# switch, and each function that is plugged into it.
BENCH_S, FUNCTION_S = 8.0, 0.6
# A trial's own overhead, as a factor of its time, and the trials of the host as it is.
_OVERHEAD = 1.6
_AS_IS_S = 4.0


def estimate_s(points: Iterable[Point]) -> float:
    """Seconds for all of these points."""
    return sum(_point_s(point.workload) for point in points)


def _point_s(workload: Workload) -> float:
    if not isinstance(workload, Frames):
        tcp = workload.tcp
        return BENCH_S + tcp.repeats * (tcp.seconds + tcp.omit_s + 1)
    functions = len(topology_of(workload).functions(workload))
    return BENCH_S + FUNCTION_S * functions + _search_s(workload.search)


def _search_s(search: Search) -> float:
    preset = resolve(search)
    found = min(_OVERHEAD * preset.expected_s, preset.time_limit_s)
    as_is = 0.0 if preset.as_is_trial_s is None else _AS_IS_S
    latency = _OVERHEAD * len(SHARES) * preset.latency_trial_s if search.latency else 0.0
    return found + as_is + latency
