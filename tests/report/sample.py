# SPDX-License-Identifier: Apache-2.0
"""A stored run with everything a report can show: loss at several hops, latency, invalid trials.

The SUT is simulated; nothing here is ever shown as a measurement.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fake_rig import FACTS, PLAN, FakeHost
from tests.measure import simulated
from wirespeed.model.plan import Plan
from wirespeed.model.result import SearchResult
from wirespeed.model.spec import PointSpec, TopologyKind
from wirespeed.model.study import Point
from wirespeed.model.tcp import TcpRun
from wirespeed.model.trial import Drop, DropCause, Latency, Observation, Trial
from wirespeed.store.read import read_run
from wirespeed.store.recording import Origin, Recording
from wirespeed.store.records import RunRecord
from wirespeed.store.store import Store
from wirespeed.study.interface import Rig
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study

COPY_NS_PER_OCTET = 0.35


def capacity_fps(spec: PointSpec) -> float:
    """A cost per frame and one per octet, more with a VNF: the shape that real switches show."""
    base_ns = 105.0 if spec.topology.kind is TopologyKind.P2P else 240.0
    return 1e9 / (base_ns + COPY_NS_PER_OCTET * spec.traffic.frame.mean_bytes)


@dataclass
class SampleBench:
    spec: PointSpec
    simulation: simulated.Rig = field(init=False)

    def __post_init__(self) -> None:
        seed = round(self.spec.traffic.frame.mean_bytes) + len(self.spec.topology.kind)
        self.simulation = simulated.Rig(
            simulated.Noisy(capacity_fps(self.spec), 0.004),
            generator_fps=18e6,
            invalid_share=0.15,
            pause_ns=3_400_000,
            rng=random.Random(seed),
            limited_by=None if self.spec.topology.kind is TopologyKind.P2P else "shared_lcore",
        )

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        seen = self.simulation.measure(load_fps, duration_s)
        offered, lost = seen.total("offered"), seen.total("offered") - seen.total("received")
        load = offered / duration_s / capacity_fps(self.spec)
        return replace(
            seen,
            intended_load_fps=offered / duration_s if math.isinf(load_fps) else load_fps,
            drops=self._drops(lost),
            latency=latency_at(load),
        )

    def _drops(self, lost: int) -> tuple[Drop, ...]:
        if not lost:
            return ()
        first = Drop("sut-ingress", DropCause.RX_RING_FULL, lost - lost // 5)
        if self.spec.topology.kind is TopologyKind.P2P:
            return (replace(first, frames=lost),)
        return (first, Drop("ovs:vnf0.a", DropCause.VHOST_TX_RING_FULL, lost // 5))

    def describe(self) -> Mapping[str, object]:
        return {
            "Open vSwitch": {
                "version": "ovs-vswitchd 3.1.0",
                "dpdk_version": "DPDK 22.11.7",
                "flows": ["in_port=1,dl_dst=02:01:00:00:00:00,actions=output:3"],
            },
            "generator": {"version": "0.1.0", "config": "[eal]\nmain_lcore = 0\n"},
        }


def latency_at(load: float) -> Latency:
    """Grows as a queue does; the tail is what pauses of the host leave."""
    typical_ns = 1400.0 + 900.0 / max(0.04, 1.0 - min(load, 0.99))
    return Latency(
        count=100_000, min_ns=900.0, avg_ns=typical_ns * 1.2, p50_ns=typical_ns,
        p90_ns=typical_ns * 1.9, p99_ns=typical_ns * 4, p999_ns=typical_ns * 30,
        max_ns=typical_ns * 210, jitter_ns=240.0, hdrh="",
    )  # fmt: skip


class Nobody:
    """Watches nothing."""

    def point_skipped(self, point: Point) -> None: ...
    def point_started(self, point: Point) -> None: ...
    def point_complete(self, point: Point, result: SearchResult) -> None: ...
    def progress(self, progress: object) -> None: ...
    def trial(self, trial: Trial) -> None: ...
    def tcp_run(self, run: TcpRun, number: int) -> None: ...
    def tcp_discarded(self, why: str) -> None: ...


@contextmanager
def _open(spec: PointSpec, _plan: Plan, _name: str) -> Iterator[SampleBench]:
    yield SampleBench(spec)


def sample_run(directory: Path, *overrides: str, study: str = "quickstart") -> RunRecord:
    """Run a study on the simulated SUT, through the real store."""
    origin = Origin(
        ["wirespeed", "run", study],
        {"wirespeed": "0.1.0", "python": "3.11.2", "kernel": "6.1.0-28-amd64"},
        FACTS,
    )
    rig = Rig(FACTS, lambda _spec: PLAN, _open, FakeHost().open_tcp)
    loaded = load_study(study, overrides)
    with Store(str(directory / "sample.sqlite")) as store:
        recording = Recording.start(store, loaded, origin)
        run_study(loaded, recording, rig, Nobody())
        return read_run(store, recording.run_id)
