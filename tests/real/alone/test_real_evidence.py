# SPDX-License-Identifier: Apache-2.0
"""Check that real noise is found, and that a SUT that stalls by itself is not excused."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.shared.disturbances import taking_cpu

from tests.support.real_bench import opened, point
from wirespeed.measure.prober import judged
from wirespeed.model.result.evidence import DisturbanceKind, Source
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Frames, Impair, Sut, Topology

STALL_EVERY_NS, STALL_NS = 50_000_000, 5_000_000
RATE_FPS, LOAD_FPS = 1e6, 800_000.0
# Number of trials, of one second each.
TRIALS = 15


@pytest.mark.usefixtures("needs_root")
def test_stops_of_a_pmd_thread_are_recorded_with_time_and_length(tmp_path: Path) -> None:
    with opened(point("p2p"), tmp_path) as bench:
        [pmd] = [p for part in bench.rig.parts for p in part.pollers() if not p.timed]
        [cpu] = {t.cpu for t in bench.measure(20_000.0, 0.2).threads if t.name == pmd.name}
        with taking_cpu(cpu, every_s=0.02, length_s=0.003):
            seen = bench.measure(20_000.0, 0.4)
    stops = [
        d
        for d in seen.evidence.disturbances
        if d.source is Source.CONTEXT_SWITCH and d.length_ns > 2_500_000
    ]
    assert len(stops) > 8
    assert {(d.kind, d.role, d.cpu) for d in stops} == {(DisturbanceKind.STOPPED, "sut", cpu)}


@pytest.mark.usefixtures("needs_root")
def test_a_sut_that_stalls_by_itself_is_not_excused(tmp_path: Path) -> None:
    impair = Impair(rate_fps=RATE_FPS, stall_every_ns=STALL_EVERY_NS, stall_ns=STALL_NS)
    spec = Frames(Topology("wire"), sut=Sut(impair=impair))
    with opened(spec, tmp_path) as bench:
        # In some of the stalls the host stops the CPU, too, which excuses that part. This seldom
        # happens in all trials, unless every stall is excused.
        trials = (judged(bench.measure(LOAD_FPS, 1.0), Stage.CONSTANT, 0.005, LOAD_FPS)
                  for _ in range(TRIALS))  # fmt: skip
        trial = next((t for t in trials if excused_ns(t) < 0.2 * 20 * STALL_NS), None)
    assert trial is not None, "what the SUT did itself was excused in every trial"
    # Frames that its queue does not hold while it serves nothing are lost, 19 or 20 times.
    assert trial.lost > 15 * (LOAD_FPS * STALL_NS / 1e9 - impair.queue_frames)


def excused_ns(trial: Trial) -> int:
    """Return silences of the SUT that count as stops of its CPU, in ns."""
    found = trial.observation.evidence.disturbances
    return sum(d.length_ns for d in found if d.source is Source.SINK_SILENCE)
