# SPDX-License-Identifier: Apache-2.0
"""Check how often collectors read, and that a slow one lowers its own rate."""

from __future__ import annotations

import pytest

from wirespeed.kpi.collectors.registry import collectors
from wirespeed.kpi.pace import Pace, Traffic, checked_rate
from wirespeed.model.errors import BadInput

CHEAP, DEAR = collectors(["cpu", "ovs-pmd"])


def test_sparse_host_reads_cheap_sources_once_a_second_while_frames_flow() -> None:
    traffic = Traffic(sparse=True, running=True)
    assert Pace(CHEAP, traffic, 10).period_s() == 1
    assert Pace(DEAR, traffic, 10).period_s() is None
    traffic.running = False
    assert Pace(DEAR, traffic, 10).period_s() == 0.1
    assert Pace(DEAR, Traffic(sparse=False, running=True), 10).period_s() == 0.1


def test_slow_collector_lowers_its_rate_and_says_so() -> None:
    pace = Pace(DEAR, Traffic(sparse=False), 10)
    said = [pace.note(late_s=0, took_s=0.06) for _ in range(5)]
    assert said[:4] == [None] * 4
    assert said[4] == (
        "ovs-pmd: cannot keep up (read 60.0 ms, begun 0.0 ms late); rate lowered from 10 to 5 Hz"
    )
    assert pace.period_s() == 0.2


def test_late_reads_count_and_a_good_one_forgets_them() -> None:
    pace = Pace(CHEAP, Traffic(sparse=False), 10)
    lates = [0.2, 0.0, 0.2, 0.2, 0.2, 0.2]
    assert [pace.note(late_s, 0) for late_s in lates] == [None] * 6
    assert pace.note(0.2, 0) is not None


@pytest.mark.parametrize("rate", [0.5, 51, float("nan")])
def test_rate_outside_its_bounds_is_refused(rate: float) -> None:
    with pytest.raises(BadInput, match="not within 1 and 50"):
        checked_rate(rate)


def test_unknown_collector_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(BadInput) as refused:
        collectors(["ovs-pdm"])
    assert refused.value.next_step == "Did you mean ovs-pmd?"
