# SPDX-License-Identifier: Apache-2.0
"""Estimate the time to measure points, before any is measured.

The estimate is rough: the number of extended trials depends on the host's noise. A search with a
time limit is likely to use all of it. The module is pure.
"""

from __future__ import annotations

from wirespeed.measure.latency import SHARES
from wirespeed.measure.presets import resolve
from wirespeed.model.study.spec import Routing, Search

# Time to bring a bench up and down, in seconds, measured on a virtual machine with two CPUs: for a
# switch, and for each function attached to it.
BENCH_S, FUNCTION_S = 8.0, 0.6
# Routes that a router learns in a second on the same machine, and that its end takes back.
_ROUTES_A_SECOND = 25_000
# Overhead of a trial as a factor of its time; time of the trials over all time, in seconds.
_OVERHEAD = 1.6
_AS_IS_S = 4.0


def routing_s(routing: Routing | None) -> float:
    """Return the estimated time to load a routing table, in seconds."""
    return 0.0 if routing is None else (routing.ipv4 + routing.ipv6) / _ROUTES_A_SECOND


def search_s(search: Search) -> float:
    """Return the estimated time of a search, in seconds."""
    preset = resolve(search)
    found = min(_OVERHEAD * preset.expected_s, preset.time_limit_s)
    as_is = 0.0 if preset.as_is_trial_s is None else _AS_IS_S
    latency = _OVERHEAD * len(SHARES) * preset.latency_trial_s if search.latency else 0.0
    return found + as_is + latency
