# SPDX-License-Identifier: Apache-2.0
"""Check where a router's control plane runs, and that its time is no noise."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.bench.test_kernel_router import routed
from tests.unit.bench.test_wsdp_router import ROUTED, point
from tests.unit.plan.test_bench import host as server
from wirespeed.bench.assembly.kinds import needs_of
from wirespeed.bench.assembly.layout import control_cpu, control_plane_cpu
from wirespeed.bench.noise.switches import CpuRun, CpuTime, without_runs
from wirespeed.bench.trial_setup import _limited_by
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.model.study.spec import Frames, Routing, RoutingDaemon
from wirespeed.plan.testbed.bench import plan_bench

CHANGING = Routing(RoutingDaemon.BIRD, ipv4=500, ipv6=200, next_hops=2)


@pytest.mark.parametrize(
    "frames", [replace(each, routing=CHANGING) for each in (point(), routed())]
)
def test_control_plane_shares_the_routers_cpu_on_two_cpus_alone(frames: Frames) -> None:
    crowded = plan_bench(server(cores=2), frames, needs_of(frames)).hosts[0]
    assert crowded.generator is not None
    assert control_plane_cpu(frames, crowded) not in crowded.generator.cpus.value
    assert _limited_by(frames, crowded) == "shared_control"
    idle = replace(frames, routing=ROUTED)
    assert _limited_by(idle, crowded) is None
    bare = replace(frames, routing=None)
    assert control_plane_cpu(bare, crowded) == control_cpu(crowded)
    assert _limited_by(bare, crowded) is None
    wide = plan_bench(server(cores=8), frames, needs_of(frames)).hosts[0]
    assert control_plane_cpu(frames, wide) == control_cpu(wide)
    assert _limited_by(frames, wide) is None


def stop(cpu: int, begin_ns: int, length_ns: int) -> Disturbance:
    return Disturbance(
        cpu, begin_ns, length_ns, DisturbanceKind.STOPPED, Source.POLL_GAP, "sut"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cpu", "begin_ns", "left_ns"),
    [
        (1, 100, 20),  # threads 7 and 8 had its begin and its end
        (1, 300, 60),  # a run of thread 9, which is another program
        (0, 100, 60),  # another CPU
    ],
)
def test_gap_is_shortened_by_runs_of_the_control_plane(
    cpu: int, begin_ns: int, left_ns: int
) -> None:
    runs = [CpuRun(1, 90, 30, 7), CpuRun(1, 140, 90, 8), CpuRun(1, 300, 60, 9)]
    [found] = without_runs([stop(cpu, begin_ns, 60)], runs, {7, 8})
    assert found.length_ns == left_ns


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=20),
    st.integers(-30, 500),
    st.integers(0, 500),
)
def test_time_of_a_cpu_is_the_sum_of_the_parts_of_runs(
    gaps_and_lengths: list[tuple[int, int]], begin_ns: int, length_ns: int
) -> None:
    runs, at_ns = [], 0
    for gap, length in gaps_and_lengths:
        runs.append(CpuRun(0, at_ns + gap, length, 7))
        at_ns += gap + length
    end_ns = begin_ns + length_ns
    parts = sum(begin_ns <= at < end_ns for run in runs
                for at in range(run.begin_ns, run.begin_ns + run.length_ns))  # fmt: skip
    assert CpuTime(reversed(runs)).between(begin_ns, end_ns) == parts
